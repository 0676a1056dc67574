//===- Npy.h - arrays of numpy --------------------------------------------===//
//
// Reads files of one array (.npy, format versions 1 to 3) and archives of them
// (.npz). Only numbers and bits are accepted; objects in particular are refused
// unread.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_DATA_NPY_H
#define FOVEA_APP_DATA_NPY_H

#include "runtime/data/SafeTensors.h"

#include <memory>

namespace fovea::cli {

/// Makes a tensor from the bytes of a .npy file; messages use `name` for it.
/// Half precision becomes F32.
runtime::Status parseNpy(std::string_view bytes, const std::string &name,
                         runtime::Tensor &tensor);

/// The names of the arrays of a .npz file.
runtime::Status listNpz(const std::string &path,
                        std::vector<std::string> &names);

/// Reads an array a few rows at a time, along its first
/// axis.
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
  /// Returns whether rows are consecutive, so that partial reads are possible.
  bool isByRows() const { return hasRows; }
  /// Returns the next `count` rows; undefined if fewer are left.
  virtual runtime::Status read(int64_t count, runtime::Tensor &tensor) = 0;

protected:
  std::vector<int64_t> extents;
  bool hasRows = true;
};

/// Reads a whole array of a .npz file.
runtime::Status readNpz(const std::string &path, const std::string &name,
                        runtime::Tensor &tensor);

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_NPY_H
