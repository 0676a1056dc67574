//===- Toolkit.cpp - what CUDA's toolkit makes of PTX ---------------------===//

#include "codegen/gpu/Toolkit.h"
#include "codegen/native/Link.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace fovea::codegen;

static std::optional<std::string> findTool(StringRef name) {
  if (auto toolkit = sys::Process::GetEnv("CUDA_PATH")) {
    SmallString<128> folder(*toolkit);
    sys::path::append(folder, "bin");
    if (auto tool = sys::findProgramByName(name, {folder.str()}))
      return *tool;
  }
  if (auto tool = sys::findProgramByName(name))
    return *tool;
  return std::nullopt;
}

namespace {
/// A folder for what tools read and write, which goes with it.
class WorkFolder {
public:
  WorkFolder() { failure = sys::fs::createUniqueDirectory("fovea", path); }
  ~WorkFolder() {
    if (!failure)
      (void)sys::fs::remove_directories(path);
  }

  std::string file(StringRef name) const {
    SmallString<128> result(path);
    sys::path::append(result, name);
    return result.str().str();
  }
  Error write(StringRef name, StringRef text) const {
    if (failure)
      return createStringError("cannot write '" + file(name) +
                               "': " + failure.message());
    return writeFile(file(name), text);
  }
  Expected<std::string> read(StringRef name) const {
    auto buffer = MemoryBuffer::getFile(file(name));
    if (!buffer)
      return createStringError("cannot read '" + file(name) +
                               "': " + buffer.getError().message());
    return (*buffer)->getBuffer().str();
  }
  Error run(const std::string &tool, ArrayRef<std::string> arguments) const {
    std::vector<StringRef> command = {tool};
    llvm::append_range(command, arguments);
    std::string log = file("log"), message;
    std::optional<StringRef> redirects[] = {"", log, log};
    int status =
        sys::ExecuteAndWait(tool, command, /*Env=*/std::nullopt, redirects,
                            /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
    if (status == 0)
      return Error::success();
    if (auto said = MemoryBuffer::getFile(log))
      message += (*said)->getBuffer().split('\n').first;
    return createStringError("'" + tool + "' fails: " + message);
  }

private:
  SmallString<128> path;
  std::error_code failure;
};
} // namespace

static Expected<std::string> assemble(const WorkFolder &folder,
                                      const std::string &ptxas,
                                      const std::string &ptx,
                                      StringRef architecture) {
  if (Error error = folder.write("kernels.ptx", ptx))
    return std::move(error);
  if (Error error = folder.run(ptxas, {("-arch=" + architecture).str(), "-o",
                                       folder.file("kernels.cubin"),
                                       folder.file("kernels.ptx")}))
    return std::move(error);
  return folder.read("kernels.cubin");
}

Expected<std::string> fovea::codegen::makeCubin(const std::string &ptx,
                                                StringRef architecture) {
  std::optional<std::string> ptxas = findTool("ptxas");
  if (!ptxas)
    return createStringError(
        "'--emit cubin' needs 'ptxas' of CUDA's toolkit, which is neither in "
        "the folder 'bin' of CUDA_PATH nor in one of PATH; '--emit ptx' needs "
        "no toolkit");
  WorkFolder folder;
  return assemble(folder, *ptxas, ptx, architecture);
}

Expected<std::string> fovea::codegen::addCubin(const std::string &ptx,
                                               StringRef architecture) {
  std::optional<std::string> ptxas = findTool("ptxas"),
                             bundler = findTool("fatbinary");
  if (!ptxas || !bundler)
    return ptx;
  WorkFolder folder;
  if (auto cubin = assemble(folder, *ptxas, ptx, architecture); !cubin)
    return cubin.takeError();
  std::string number = architecture.substr(StringRef("sm_").size()).str();
  auto part = [&](StringRef kind, StringRef file) {
    return "--image3=kind=" + kind.str() + ",sm=" + number +
           ",file=" + folder.file(file);
  };
  if (Error error = folder.run(
          *bundler, {"--create=" + folder.file("kernels.fatbin"), "-64",
                     part("elf", "kernels.cubin"), part("ptx", "kernels.ptx")}))
    return std::move(error);
  return folder.read("kernels.fatbin");
}
