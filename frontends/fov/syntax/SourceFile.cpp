//===- SourceFile.cpp - the text of a spec --------------------------------===//

#include "frontends/fov/syntax/SourceFile.h"
#include "runtime/data/OpenFile.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace fovea;

using Buffer = llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>;

static std::optional<std::string> textOf(const Buffer &buffer,
                                         std::string &why) {
  if (buffer)
    return (*buffer)->getBuffer().str();
  why = buffer.getError().message();
  return std::nullopt;
}

std::optional<std::string> fovea::readSource(const std::string &path,
                                             std::string &why) {
  if (path == "-") {
    // Standard input can be read only once.
    static const Buffer input = llvm::MemoryBuffer::getSTDIN();
    return textOf(input, why);
  }
  std::string text;
  if (!runtime::readWhole(path, text, why))
    return std::nullopt;
  return text;
}

llvm::StringRef fovea::sourceName(llvm::StringRef path) {
  return path == "-" ? "<stdin>" : path;
}
