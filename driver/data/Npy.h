//===- Npy.h - arrays of numpy --------------------------------------------===//
//
// Files of one array (.npy, versions 1 to 3 of the format) and archives of them
// (.npz). What they hold beside numbers and bits, objects above all, is refused
// and never looked at.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_DATA_NPY_H
#define FOVEA_DRIVER_DATA_NPY_H

#include "runtime/data/SafeTensors.h"

#include <memory>

namespace fovea::cli {

/// Makes a tensor of the bytes of a .npy file, which messages call `name`. Half
/// precision becomes F32.
runtime::Status parseNpy(std::string_view bytes, const std::string &name,
                         runtime::Tensor &tensor);

/// The names of the arrays of a .npz file.
runtime::Status listNpz(const std::string &path,
                        std::vector<std::string> &names);

/// An array that is read a few rows at a time: places of its first axis, in
/// their order.
class NpyRows {
public:
  /// Opens a .npy file, or one array of a .npz file, and reads its header.
  static runtime::Status openFile(const std::string &path,
                                  std::unique_ptr<NpyRows> &rows);
  static runtime::Status openMember(const std::string &path,
                                    const std::string &name,
                                    std::unique_ptr<NpyRows> &rows);
  virtual ~NpyRows() = default;

  const std::vector<int64_t> &shape() const { return extents; }
  /// Whether rows are consecutive, so that not all have to be read.
  bool isByRows() const { return hasRows; }
  /// The next `count` rows; nothing is known where not so many are left.
  virtual runtime::Status read(int64_t count, runtime::Tensor &tensor) = 0;

protected:
  std::vector<int64_t> extents;
  bool hasRows = true;
};

/// All of an array of a .npz file.
runtime::Status readNpz(const std::string &path, const std::string &name,
                        runtime::Tensor &tensor);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_DATA_NPY_H
