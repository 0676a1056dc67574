//===- NewFolder.h - a folder that appears when it is whole ---------------===//
//
// Files are written to a folder beside the new one, which is then renamed. So
// nobody reads half of the files, and a failure leaves nothing.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_FOVEA_NEWFOLDER_H
#define FOVEA_TOOLS_FOVEA_NEWFOLDER_H

#include "runtime/Status.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>
#include <vector>

namespace fovea::cli {

/// A file of such a folder.
class NewFile {
public:
  explicit NewFile(std::string path) : path(std::move(path)) {}

  /// Creates the file. If it exists, a new file replaces it, and what was read
  /// of the old one stays.
  runtime::Status open();
  void write(llvm::StringRef text) { *stream << text; }
  /// Reports what any `write` failed at.
  runtime::Status close();
  /// Reads what was written.
  runtime::Status read(std::unique_ptr<llvm::MemoryBuffer> &text) const;
  runtime::Status sync() const;

private:
  std::string path;
  std::optional<llvm::raw_fd_ostream> stream;
};

class NewFolder {
public:
  ~NewFolder();

  /// An existing folder must be empty.
  runtime::Status open(const std::string &path);
  /// Creates a file; `name` may have folders.
  runtime::Status add(const std::string &name, NewFile *&file);
  /// Makes the folder appear; its files are closed.
  runtime::Status finish();

private:
  std::string path, part; // part: empty once it has the right name
  std::vector<std::unique_ptr<NewFile>> files;
};

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_NEWFOLDER_H
