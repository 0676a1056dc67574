//===- Toolkit.cpp - what CUDA's toolkit makes of PTX ---------------------===//

#include "codegen/gpu/device/Toolkit.h"
#include "codegen/gpu/device/MachineCode.h"
#include "codegen/native/Link.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
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
/// A temporary folder for the tools' files.
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
        "'--emit cubin' needs CUDA's 'ptxas' in $CUDA_PATH/bin or on PATH; "
        "help: '--emit ptx' needs no toolkit");
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

//===----------------------------------------------------------------------===//
// What kernels need
//===----------------------------------------------------------------------===//

/// The arrays of a processor's shared memory that PTX declares, as
/// `.shared .align 16 .b8 name[4096];`.
static StringMap<int64_t> sharedArrays(StringRef ptx) {
  static const Regex declaration(
      "\\.shared .*\\.b8 ([A-Za-z0-9_$]+)\\[([0-9]+)\\]");
  StringMap<int64_t> arrays;
  SmallVector<StringRef> lines, found;
  ptx.split(lines, '\n');
  for (StringRef line : lines)
    if (line.contains(".shared") && declaration.match(line, &found))
      found[2].getAsInteger(10, arrays[found[1]]);
  return arrays;
}

/// Calls `use(name, body)` for each entry of PTX.
static void forEntries(StringRef ptx,
                       llvm::function_ref<void(StringRef, StringRef)> use) {
  constexpr StringLiteral begin = ".visible .entry ";
  for (size_t at = ptx.find(begin); at != StringRef::npos;) {
    size_t next = ptx.find(begin, at + begin.size());
    StringRef entry = ptx.slice(at + begin.size(), next);
    // Functions that it calls are defined outside of it.
    size_t end = entry.find("\n}");
    use(entry.take_until([](char c) { return c == '('; }),
        entry.take_front(end));
    at = next;
  }
}

/// `ptxas -v` says, of each entry, its spills and its registers.
static void readRegisters(StringRef said, NeedsOfKernels &needs) {
  static const Regex name("Compiling entry function '([^']+)'"),
      spills("([0-9]+) bytes spill stores"), used("Used ([0-9]+) registers");
  SmallVector<StringRef> lines, found;
  said.split(lines, '\n');
  KernelNeeds *own = nullptr;
  for (StringRef line : lines) {
    if (name.match(line, &found))
      own = &needs[found[1]];
    if (!own)
      continue;
    if (spills.match(line, &found))
      found[1].getAsInteger(10, own->spilledBytes);
    if (int64_t count;
        used.match(line, &found) && !found[1].getAsInteger(10, count))
      own->registers = count;
  }
}

Expected<NeedsOfKernels>
fovea::codegen::needsOfKernels(const std::string &ptx, StringRef architecture) {
  NeedsOfKernels needs;
  StringMap<int64_t> arrays = sharedArrays(ptx);
  forEntries(ptx, [&](StringRef name, StringRef body) {
    KernelNeeds &own = needs[name];
    for (const auto &[array, bytes] : arrays)
      if (body.contains(array))
        own.sharedBytes += bytes;
  });
  std::optional<std::string> ptxas = findTool("ptxas");
  if (!ptxas)
    return needs;
  WorkFolder folder;
  if (Error error = folder.write("kernels.ptx", ptx))
    return std::move(error);
  if (Error error = folder.run(*ptxas, {"-v", ("-arch=" + architecture).str(),
                                        "-o", folder.file("kernels.cubin"),
                                        folder.file("kernels.ptx")}))
    return std::move(error);
  Expected<std::string> said = folder.read("log");
  if (!said)
    return said.takeError();
  readRegisters(*said, needs);
  std::optional<std::string> disassembler = findTool("nvdisasm");
  if (!disassembler)
    return needs;
  if (Error error =
          folder.run(*disassembler, {"-c", folder.file("kernels.cubin")}))
    return std::move(error);
  Expected<std::string> listing = folder.read("log");
  if (!listing)
    return listing.takeError();
  readProductCosts(*listing, needs);
  return needs;
}
