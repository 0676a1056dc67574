//===- FileData.h - pictures, sounds and arrays as data -------------------===//
//
// What a file that is no text holds, as the values of data: PNG and JPEG, WAV
// and FLAC, npy and npz. How is said by the spec (`from pixels(..)`), so that
// it goes with the weights. A file is taken as hostile, and has to have the
// extents that the data have: nothing is cut, and nothing is stretched.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_DATA_FILEDATA_H
#define FOVEA_DRIVER_DATA_FILEDATA_H

#include "driver/data/TextData.h"

namespace fovea::cli {

/// Whether a name ends as that of a picture, a sound or an array does.
bool isDataFile(llvm::StringRef name);

/// The files of a folder that are data, by their names; a file is itself. What
/// is something else is an error, but for what begins with a dot.
runtime::Status listFiles(const std::string &path,
                          std::vector<std::string> &files);

/// What one file holds of one example.
runtime::Status loadFile(const std::string &path, const DataInfo &data,
                         const runtime::DataSpec &spec, LoadedValues &result);

/// Makes of an array what it is to some data, whose axes are its last ones:
/// bytes are pixels where the spec says so, whole numbers are numbers.
runtime::Status fitArray(const std::string &path, const DataInfo &data,
                         const runtime::DataSpec &spec,
                         runtime::Tensor &tensor);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_DATA_FILEDATA_H
