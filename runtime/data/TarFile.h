//===- TarFile.h - the files of a tar archive ------------------*- C++ -*-===//
//
// Reads the regular files of an archive in their order: POSIX (ustar and pax)
// and GNU, packed or not (PackedFile.h). Only the content of one file is in
// memory. Folders, links and devices are left out, and nothing is written.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_TARFILE_H
#define FOVEA_RUNTIME_DATA_TARFILE_H

#include "runtime/data/PackedFile.h"

namespace fovea::runtime {

class TarFile {
public:
  explicit TarFile(std::unique_ptr<PackedFile> file) : file(std::move(file)) {}

  /// Opens the archive at `path`; null, with the reason.
  static std::unique_ptr<TarFile> open(const std::string &path,
                                       std::string &why);

  enum Found { File, End, Failed };
  /// Goes to the next file. Failed: `problem` has the reason.
  Found next(std::string &name);
  /// Reads the content of the present file.
  bool read(std::string &bytes);

  const std::string &problem() const { return why; }

private:
  bool fail(const std::string &text);
  bool take(char *bytes, size_t count);
  bool take(std::string &bytes, uint64_t count);
  bool skip(uint64_t count);
  bool isOver();

  std::unique_ptr<PackedFile> file;
  /// Of the present file: bytes that are not read, and zeros that follow.
  uint64_t rest = 0, padding = 0;
  bool isAnyRead = false;
  std::string why;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_TARFILE_H
