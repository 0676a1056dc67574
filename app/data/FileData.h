//===- FileData.h - pictures, sounds and arrays as data -------------------===//
//
// Reads data values from files that are not text: PNG and JPEG, WAV, FLAC, Ogg
// and MP3, npy and npz. The spec defines the conversion (`from pixels(..)`), so
// it is stored with the weights. A file is untrusted, and must have the extents
// of the data: nothing is cropped, or resized unless the spec says so.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_DATA_FILEDATA_H
#define FOVEA_APP_DATA_FILEDATA_H

#include "app/data/TextData.h"

namespace fovea::cli {

/// Returns whether a name belongs to a picture, a sound, an array or a place in
/// an archive of features (`FILE.ark:PLACE`).
bool isDataFile(llvm::StringRef name);

/// Returns the data files of a folder, by name; for a file, the file itself.
/// Other files are an error, except hidden ones.
runtime::Status listFiles(const std::string &path,
                          std::vector<std::string> &files);

/// Reads one file of one example.
runtime::Status loadFile(const std::string &path, const DataInfo &data,
                         const runtime::DataSpec &spec, LoadedValues &result);

/// The same of a file whose content is known, such as one in an archive.
runtime::Status loadBytes(const std::string &path, const std::string &bytes,
                          const DataInfo &data, const runtime::DataSpec &spec,
                          LoadedValues &result);

/// The same of features.
runtime::Status loadFeatures(const std::string &path,
                             const std::vector<int64_t> &shape,
                             std::vector<double> values, const DataInfo &data,
                             const runtime::DataSpec &spec,
                             LoadedValues &result);

/// Converts an array to values of the data, whose axes are its last ones. Bytes
/// are pixels if the spec declares so; whole numbers stay numbers.
runtime::Status fitArray(const std::string &path, const DataInfo &data,
                         const runtime::DataSpec &spec,
                         runtime::Tensor &tensor);

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_FILEDATA_H
