//===- Lines.h - lines of a file as they come -----------------------------===//
//
// Knows whether another line is there already, so that whoever reads a pipe
// takes many lines at once without waiting for them.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_LINES_H
#define FOVEA_RUNTIME_MODEL_LINES_H

#include <string>

namespace fovea::runtime {

class Lines {
public:
  /// Reads a descriptor, which stays the caller's.
  explicit Lines(int file) : file(file) {}

  enum Next { Line, End, TooLong, Failed };
  /// The next line, without what ends it. After `Failed`, errno says why.
  Next next(std::string &line);
  /// Whether `next` returns at once.
  bool isReady();

private:
  Next take(std::string &line, size_t end, size_t next);
  bool fill(); // false at the end, or when reading failed

  int file;
  std::string buffer;
  size_t begin = 0, searched = 0; // of the buffer
  bool isFirst = true, isAtEnd = false, hasFailed = false;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_LINES_H
