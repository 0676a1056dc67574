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

namespace fovea::cli {

/// Makes a tensor of the bytes of a .npy file, which messages call `name`. Half
/// precision becomes F32.
runtime::Status parseNpy(std::string_view bytes, const std::string &name,
                         runtime::Tensor &tensor);

/// The names of the arrays of a .npz file.
runtime::Status listNpz(const std::string &path,
                        std::vector<std::string> &names);

/// One array of a .npz file.
runtime::Status readNpz(const std::string &path, const std::string &name,
                        runtime::Tensor &tensor);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_DATA_NPY_H
