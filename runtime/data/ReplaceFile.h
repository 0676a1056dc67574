//===- ReplaceFile.h - a file that appears when it is whole ---*- C++ -*-===//
//
// Writes a new file beside an old one and renames it, so that nobody ever reads
// half a file. Its name cannot be predicted, so that no link can wait there. It
// has the permissions of the old one from its first byte on.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_REPLACEFILE_H
#define FOVEA_RUNTIME_DATA_REPLACEFILE_H

#include <string>
#include <string_view>

namespace fovea::runtime {

class ReplaceFile {
public:
  /// Without `finish`, the old file stays and the new one is removed.
  ~ReplaceFile();

  /// Creates `PATH.XXXXXXXX.part`. Each of these functions sets `errno` on
  /// failure.
  bool open(const std::string &path);
  bool write(std::string_view bytes);
  /// Flushes everything to disk and renames the file to `path`.
  bool finish();

private:
  std::string path, part;
  int file = -1;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_REPLACEFILE_H
