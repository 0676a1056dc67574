//===- SourceFile.cpp - the text of a spec --------------------------------===//

#include "frontends/fov/syntax/SourceFile.h"
#include "runtime/data/OpenFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"

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
    // It is there only once.
    static const Buffer input = llvm::MemoryBuffer::getSTDIN();
    return textOf(input, why);
  }
  int file = runtime::openToRead(path, why);
  if (file < 0)
    return std::nullopt;
  std::optional<std::string> text = textOf(
      llvm::MemoryBuffer::getOpenFile(
          llvm::sys::fs::convertFDToNativeFile(file), path, /*FileSize=*/-1),
      why);
  llvm::sys::Process::SafelyCloseFileDescriptor(file);
  return text;
}

llvm::StringRef fovea::sourceName(llvm::StringRef path) {
  return path == "-" ? "<stdin>" : path;
}
