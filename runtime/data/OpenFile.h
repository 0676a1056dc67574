//===- OpenFile.h - files, opened without waiting -------------*- C++ -*-===//
//
// Opens specs, texts, weights and batches. Opening a named pipe would block
// until a writer appears, and a device may have no end, so neither is read.
// Inputs that the shell has already connected (`<(..)`, standard input) are
// read. A device may be written to, and so may a pipe with a reader.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_OPENFILE_H
#define FOVEA_RUNTIME_DATA_OPENFILE_H

#include <cerrno>
#include <string>
#include <string_view>

namespace fovea::runtime {

/// Opens the file at `path` for reading and returns a descriptor, which the
/// caller owns; or -1, with the reason in `why`. Never blocks.
int openToRead(const std::string &path, std::string &why);

/// The same for writing into an existing file that is not regular.
int openToWriteInto(const std::string &path, std::string &why);

/// Reads the whole file at `path`, opened as by `openToRead`.
bool readWhole(const std::string &path, std::string &bytes, std::string &why);

/// Reads the rest of an open file, or writes all of `bytes`. False, with
/// `errno`, if that fails.
bool readAll(int descriptor, std::string &bytes);
bool writeAll(int descriptor, std::string_view bytes);

/// Finds, below `folder`, a file that another file names. The author of that
/// file must not choose which other files are read. So a name must be relative,
/// without `..` and without symbolic links. False, with the violated rule in
/// `why`.
bool findBeside(const std::string &folder, const std::string &name,
                std::string &path, std::string &why);

/// Repeats a system call that signals interrupt, but not forever.
template <typename Call> auto throughSignals(Call call) {
  auto result = call();
  for (int left = 1000; result < 0 && errno == EINTR && left > 0; --left)
    result = call();
  return result;
}

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_OPENFILE_H
