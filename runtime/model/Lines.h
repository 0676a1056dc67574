//===- Lines.h - lines of a file as they come -----------------------------===//
//
// Reads lines and knows whether another line is available, so a reader of a
// pipe takes many lines at once without waiting for them.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_LINES_H
#define FOVEA_RUNTIME_MODEL_LINES_H

#include <string>

namespace fovea::runtime {

class Lines {
public:
  /// Reads a descriptor, which the caller owns.
  explicit Lines(int file) : file(file) {}

  enum Next { Line, End, TooLong, Failed };
  /// Returns the next line, without its terminator. After `Failed`, errno has
  /// the reason.
  Next next(std::string &line);
  /// Returns whether `next` returns at once.
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
