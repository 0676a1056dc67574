//===- OpenFile.h - files, opened without waiting -------------*- C++ -*-===//
//
// Specs, texts, weights and batches are files. A named pipe would be waited for
// until somebody writes to it, and a device may have no end, so neither is
// read; what the shell has connected already (`<(..)`, standard input) is. A
// device may be written to, and a pipe that somebody reads.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_OPENFILE_H
#define FOVEA_RUNTIME_DATA_OPENFILE_H

#include <string>

namespace fovea::runtime {

/// A descriptor of the file at `path`, for reading, which is the caller's; -1,
/// and `why` says why, where there is none. Returns at once.
int openToRead(const std::string &path, std::string &why);

/// The same for writing into what is there and is no regular file.
int openToWriteInto(const std::string &path, std::string &why);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_OPENFILE_H
