//===- DoctorCommand.cpp - fovea doctor -----------------------------------===//
//
// Reports this machine's capabilities and missing tools, looked up and
// measured, without changes. The exit code is 3 if no model can run here.
//
//===----------------------------------------------------------------------===//

#include "app/Arguments.h"
#include "app/profile/KernelProfile.h"
#include "codegen/Backend.h"
#include "codegen/native/Link.h"
#include "codegen/native/ObjectCache.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/device/Device.h"
#include "tools/fovea/Version.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Program.h"

#include <fmt/format.h>
#include <thread>

using namespace fovea;
using namespace fovea::cli;
namespace fs = llvm::sys::fs;
namespace json = llvm::json;
using runtime::Device;

namespace {

/// The findings, as text lines and as values for programs.
class Findings {
public:
  explicit Findings(bool asJson) : asJson(asJson) {}

  void add(llvm::StringRef name, const std::string &text, json::Value value) {
    if (asJson)
      values[name.str()] = std::move(value);
    else
      llvm::outs() << fmt::format("{:<9} {}\n", name.str(), text);
  }
  void finish() {
    if (asJson)
      llvm::outs() << llvm::formatv("{0:2}", json::Value(std::move(values)))
                   << '\n';
  }

private:
  bool asJson;
  json::Object values;
};

} // namespace

/// The name of the CPU, from the kernel.
static std::string cpuName() {
  auto file = llvm::MemoryBuffer::getFileAsStream("/proc/cpuinfo");
  if (!file)
    return "unknown";
  llvm::SmallVector<llvm::StringRef> lines;
  (*file)->getBuffer().split(lines, '\n');
  for (llvm::StringRef line : lines)
    if (line.starts_with("model name"))
      return line.split(':').second.trim().str();
  return "unknown";
}

static bool findCpu(Findings &findings) {
  unsigned count = std::thread::hardware_concurrency();
  auto target = codegen::Target::parse("native");
  if (!target) {
    std::string why = llvm::toString(target.takeError());
    findings.add("cpu", cpuName() + ": no model can run here: " + why,
                 json::Object{{"name", cpuName()}, {"problem", why}});
    return false;
  }
  findings.add("cpu",
               fmt::format("{}, {} CPUs, vectors of {} bits", cpuName(), count,
                           target->vectorBits),
               json::Object{{"name", cpuName()},
                            {"count", count},
                            {"bits", target->vectorBits}});
  mlir::MLIRContext context;
  double single = measurePeak(context, /*isDouble=*/false) * 1e-9;
  double twice = measurePeak(context, /*isDouble=*/true) * 1e-9;
  findings.add("peak",
               fmt::format("{:.0f} GFLOP/s in f32, {:.0f} in f64: what one "
                           "thread can multiply and add",
                           single, twice),
               json::Object{{"f32", single}, {"f64", twice}});
  return true;
}

static void findTargets(Findings &findings) {
  std::vector<std::string> here, elsewhere;
  bool hasDevice = Device::open().succeeded();
  for (const std::string &name : versionTargets()) {
    auto target = codegen::targetNamed(name);
    bool runs = target && !target->checkRunsHere();
    // Of GPUs the device says it.
    if (llvm::StringRef(name).starts_with("cuda"))
      runs = hasDevice;
    if (!target)
      llvm::consumeError(target.takeError());
    (runs ? here : elsewhere).push_back(name);
  }
  std::string text = llvm::join(here, ", ");
  if (!elsewhere.empty())
    text += "; not run here: " + llvm::join(elsewhere, ", ");
  findings.add("targets", text,
               json::Object{{"run", json::Array(here)},
                            {"compile_only", json::Array(elsewhere)}});
}

static void findCache(Findings &findings) {
  std::string folder = codegen::ObjectCache::defaultFolder();
  if (folder.empty()) {
    findings.add("cache", "none: every command recompiles", nullptr);
    return;
  }
  uint64_t bytes = 0, files = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; at != end && !error;
       at.increment(error))
    if (auto status = at->status();
        status && status->type() == fs::file_type::regular_file) {
      bytes += status->getSize();
      ++files;
    }
  findings.add("cache",
               fmt::format("{}, {} MB of {} MB in {} files", folder,
                           bytes >> 20,
                           codegen::ObjectCache::defaultLimit >> 20, files),
               json::Object{{"folder", folder},
                            {"bytes", bytes},
                            {"limit", codegen::ObjectCache::defaultLimit},
                            {"files", files}});
}

/// The tools that link programs and libraries, for this machine and for others.
static void findLinker(Findings &findings) {
  auto linker = codegen::findLinker("");
  std::string text = linker ? *linker + " links executables and libraries"
                            : "cannot link executables and libraries: " +
                                  llvm::toString(linker.takeError());
  findings.add("linker", text, text);
}

/// The usable GPU; AMD GPUs are not.
static void findGpu(Findings &findings) {
  const Device *device = Device::current();
  if (!device) {
    findings.add("gpu", Device::open().text(), json::Array());
    return;
  }
  findings.add("gpu",
               fmt::format("{}, compute capability {}.{}, {} MB",
                           device->name(), device->major(), device->minor(),
                           device->totalBytes() >> 20),
               json::Array{device->name()});
}

static void findMpi(Findings &findings) {
  auto launcher = llvm::sys::findProgramByName("mpirun");
  if (!launcher)
    launcher = llvm::sys::findProgramByName("mpiexec");
  findings.add("mpi",
               launcher ? *launcher
                        : "none: neither mpirun nor mpiexec is on the PATH",
               launcher ? json::Value(*launcher) : json::Value(nullptr));
}

int fovea::cli::runDoctor(const Arguments &arguments) {
  Findings findings(arguments.asJson);
  findings.add(
      "fovea", fmt::format("{}, commit {}", versionNumber(), versionCommit()),
      json::Object{{"version", versionNumber()}, {"commit", versionCommit()}});
  bool runs = findCpu(findings);
  findTargets(findings);
  findCache(findings);
  findLinker(findings);
  findGpu(findings);
  findMpi(findings);
  findings.finish();
  return runs ? done : badMachine;
}
