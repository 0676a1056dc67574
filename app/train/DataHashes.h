//===- DataHashes.h - which data files a training read --------------------===//
//
// Records the SHA-256 of each data file, so that people can check with
// `sha256sum -c` that they train on the same files. Resuming compares the
// values themselves instead (Identity.h).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_TRAIN_DATAHASHES_H
#define FOVEA_APP_TRAIN_DATAHASHES_H

#include <map>
#include <string>
#include <vector>

namespace fovea::cli {

/// Returns the hashes, by path, of the files in texts such as
/// `src=/data/train.tsv:1`. For a folder, hashes the lines that `sha256sum`
/// prints for its files, in byte order of their names. Pipes and files that
/// cannot be read have none.
std::map<std::string, std::string>
hashesOfData(const std::vector<std::string> &texts);

} // namespace fovea::cli

#endif // FOVEA_APP_TRAIN_DATAHASHES_H
