//===- TarMembers.h - the examples of WebDataset's archives ---------------===//
//
// Files of an archive that follow each other and have one name up to the first
// dot of their last part are an example: `a/001.jpg`, `a/001.txt`. What follows
// this dot tells the files of an example apart.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_DATA_TARMEMBERS_H
#define FOVEA_APP_DATA_TARMEMBERS_H

#include "runtime/Status.h"
#include "runtime/data/TarFile.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace fovea::cli {

/// `FILE.tar:txt`, or `FILE.tar:json:caption`: a value of the object in each
/// file. `FILE` may have numbers, `train-{000..099}`.
struct TarName {
  std::string files, ending, key;
};

/// Returns whether `path` names an archive, packed or not.
bool isTar(llvm::StringRef path);
TarName splitTar(llvm::StringRef path);

/// The files with one ending in archives, an example each.
class TarMembers {
public:
  explicit TarMembers(const TarName &name);

  enum Found { Good, End, Failed };
  /// Reads the next file; `name` is its place, for messages. Failed: `problem`
  /// has a sentence.
  Found next(std::string &name, std::string &bytes);
  const std::string &problem() const { return why; }

private:
  Found fail(const std::string &text);
  bool isGroupGood();

  TarName wanted;
  std::vector<std::string> paths;
  size_t number = 0; // of the archive after the open one
  std::unique_ptr<runtime::TarFile> file;
  /// The present example: its name, its endings, and whether it has been read.
  std::string example;
  std::vector<std::string> endings;
  bool isFound = false;
  std::string why;
};

} // namespace fovea::cli

#endif // FOVEA_APP_DATA_TARMEMBERS_H
