//===- Files.cpp - the files that commands read ---------------------------===//

#include "tools/fovea/Commands.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace fovea;
using namespace llvm;

std::unique_ptr<MemoryBuffer> fovea::readInput(const std::string &path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFileOrSTDIN(path);
  if (buffer)
    return std::move(*buffer);
  errs() << "error: '" << path
         << "' cannot be read: " << buffer.getError().message() << '\n';
  return nullptr;
}
