//===- Published.h - the files of a published model -----------------------===//
//
// Weights come as one safetensors file, or as several with an index; sizes
// stand in a config.json beside them.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_DATA_PUBLISHED_H
#define FOVEA_APP_DATA_PUBLISHED_H

#include "app/open/Session.h"
#include "runtime/data/SafeTensors.h"

namespace fovea::cli {

/// Reads the tensors of a file, of all files that an index
/// (model.safetensors.index.json) lists, or of either in a folder.
runtime::Status readPublished(const std::string &path,
                              runtime::TensorFile &file);

/// Reads the sizes that lines `size L = num_hidden_layers` of a map name, from
/// the config.json beside the weights in `path`: as `--set` takes them. Without
/// such lines no file is read. Returns false on a mistake (reported).
bool readSizes(Session &session, llvm::StringRef map, const std::string &path,
               std::vector<std::pair<std::string, std::string>> &sets);

/// Splits a line `size L = num_hidden_layers`; false: it is another one.
bool splitSize(llvm::StringRef line, llvm::StringRef &size,
               llvm::StringRef &key);

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_PUBLISHED_H
