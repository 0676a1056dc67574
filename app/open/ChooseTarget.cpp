//===- ChooseTarget.cpp - the machine that a command runs on --------------===//

#include "app/open/ChooseTarget.h"
#include "app/open/Errors.h"
#include "app/open/Session.h"
#include "codegen/Backend.h"
#include "codegen/TensorCores.h"
#include "runtime/device/Device.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace fovea;
using namespace fovea::cli;
using runtime::Device;
using runtime::Status;

std::vector<std::string> fovea::cli::addedTargets() {
  return codegen::addedTargets();
}

std::vector<std::string> fovea::cli::gpuTargets() {
  std::vector<std::string> names;
  for (llvm::StringRef name : codegen::gpuBackend().targets())
    names.push_back(name.str());
  return names;
}

std::vector<std::string> fovea::cli::estimatedTargets() {
  std::vector<std::string> names;
  const codegen::Backend &backend = codegen::gpuBackend();
  // `cuda` alone is the device that there is.
  for (llvm::StringRef name : backend.targets().drop_front())
    if (backend.figuresOf(llvm::cantFail(backend.target(name))))
      names.push_back(name.str());
  return names;
}

/// The sums of the instructions AVX512_BF16.
static constexpr llvm::StringLiteral cpuPrecision = "bf16:avx512";

static Status openDevice(Arguments &arguments) {
  if (Status status = Device::open(); status.failed())
    return status;
  const Device &device = *Device::current();
  std::string target = codegen::gpuTargetFor(device.major(), device.minor());
  if (target.empty())
    return Status::machine(fmt::format(
        "GPU '{}' has compute capability {}.{}, but Fovea needs 8.0 or later",
        device.name(), device.major(), device.minor()));
  arguments.cpu = target;
  return Status::success();
}

int fovea::cli::chooseTarget(Arguments &arguments) {
  bool isAuto = arguments.cpu == "auto";
  if (!isAuto && arguments.cpu != "cuda")
    return done;
  Status status = openDevice(arguments);
  if (status.succeeded())
    return done;
  if (!isAuto) {
    beginError() << status.text() << '\n';
    return badMachine;
  }
  // It would mean other numbers on a CPU.
  bool isOfDevice = arguments.precision == "bf16";
  if (!arguments.quiet)
    llvm::errs() << "note: running on the CPU"
                 << (isOfDevice ? ", in f32: " : ": ") << status.text() << '\n';
  arguments.cpu = "native";
  if (isOfDevice)
    arguments.precision.clear();
  return done;
}

/// Returns whether kernels run on a device.
static bool hasDevice(const Arguments &arguments) {
  return llvm::StringRef(arguments.cpu).starts_with("cuda");
}

const codegen::TensorCore *fovea::cli::tensorCore(const Arguments &arguments) {
  llvm::StringRef name = arguments.precision;
  return name.consume_front("bf16:") ? codegen::findTensorCore(name) : nullptr;
}

bool fovea::cli::roundsFactors(const Arguments &arguments) {
  return tensorCore(arguments) ||
         (arguments.precision == "bf16" && hasDevice(arguments));
}

bool fovea::cli::roundsProducts(const Arguments &arguments) {
  return arguments.precision == cpuPrecision;
}

const runtime::StorageFormat *
fovea::cli::weightFormat(const Arguments &arguments) {
  return roundsFactors(arguments)
             ? nullptr
             : runtime::findStorageFormat(arguments.precision);
}

std::vector<std::string> fovea::cli::precisions() {
  std::vector<std::string> names = {"f32"};
  for (const runtime::StorageFormat &format : runtime::storageFormats())
    names.emplace_back(format.name);
  llvm::append_range(names, machinePrecisions());
  return names;
}

std::vector<std::string> fovea::cli::trainedPrecisions() {
  std::vector<std::string> names = {"f32"};
  for (const runtime::StorageFormat &format : runtime::storageFormats())
    if (format.isTrained)
      names.emplace_back(format.name);
  return names;
}

static std::vector<std::string> tensorCorePrecisions() {
  std::vector<std::string> names;
  for (const codegen::TensorCore &core : codegen::tensorCores())
    names.push_back("bf16:" + core.name.str());
  return names;
}

std::vector<std::string> fovea::cli::machinePrecisions() {
  std::vector<std::string> names = {cpuPrecision.str()};
  llvm::append_range(names, tensorCorePrecisions());
  return names;
}

std::string fovea::cli::helpOfPrecision() {
  std::string help = "f32 (default); ";
  for (const runtime::StorageFormat &format : runtime::storageFormats())
    help += fmt::format("{}: {}; ", format.name, format.help);
  return help +
         fmt::format("{}: products with weights in bf16, with sums in f32 and "
                     "the bits of AVX512_BF16 on every CPU, fast where it has "
                     "that; {}: the bits of the tensor cores of an A100 or an "
                     "H100, on that GPU and, slowly, on a CPU",
                     cpuPrecision, fmt::join(tensorCorePrecisions(), ", "));
}

/// Checks that the target has the sums of this tensor core: a CPU, or the GPU
/// itself.
static int checkTensorCore(const Arguments &arguments,
                           const codegen::TensorCore &core) {
  std::string what = "--precision " + arguments.precision;
  llvm::StringRef target = arguments.cpu;
  if (target == "wasm32")
    return wrongUsage(what + " is not supported by --target wasm32; help: use "
                             "f32, whose bits are the same everywhere",
                      Code::argumentConflict);
  if (!target.consume_front("cuda"))
    return done;
  if (const Device *device = Device::current();
      device && std::pair(device->major(), device->minor()) !=
                    std::pair(core.major, core.minor)) {
    llvm::errs() << fmt::format(
        "error: {} has the bits of compute capability {}.{}, but GPU '{}' has "
        "{}.{}; help: leave '--target' out, the CPU has these bits too\n",
        what, core.major, core.minor, device->name(), device->major(),
        device->minor());
    return badMachine;
  }
  target.consume_front(":");
  if ((target.empty() ? "sm_80" : target).starts_with(core.name))
    return done;
  return wrongUsage(
      fmt::format("{} excludes --target {}; help: the code for these bits is "
                  "for '{}', or for a CPU",
                  what, arguments.cpu, core.target.str()),
      Code::argumentConflict);
}

/// Checks that the target has the sums of a CPU.
static int checkProducts(const Arguments &arguments) {
  if (!hasDevice(arguments) && arguments.cpu != "wasm32")
    return done;
  return wrongUsage("--precision " + arguments.precision +
                        " is not supported by --target " + arguments.cpu +
                        "; help: it is for CPUs with a fused multiply-add",
                    Code::argumentConflict);
}

/// Rows in fewer bits are for code of f32 on CPUs.
static int checkCache(const Arguments &arguments) {
  if (arguments.cache != "bf16")
    return done;
  std::string what = "--cache " + arguments.cache;
  if (arguments.dtype == "f64" && !arguments.reference)
    return wrongUsage(what + " excludes --dtype f64", Code::argumentConflict);
  if (hasDevice(arguments))
    return wrongUsage(what + " is not supported by --target " + arguments.cpu +
                          "; help: leave one of them out",
                      Code::argumentConflict);
  return done;
}

int fovea::cli::checkPrecision(const Arguments &arguments) {
  if (int code = checkCache(arguments); code != done)
    return code;
  const std::string &precision = arguments.precision;
  const codegen::TensorCore *core = tensorCore(arguments);
  if ((precision == "bf16" || core || roundsProducts(arguments)) &&
      arguments.dtype == "f64")
    return wrongUsage("--precision " + precision + " excludes --dtype f64",
                      Code::argumentConflict);
  if (core)
    return checkTensorCore(arguments, *core);
  if (roundsProducts(arguments))
    return checkProducts(arguments);
  const runtime::StorageFormat *format = runtime::findStorageFormat(precision);
  if (!format || format->isTrained || arguments.command != "train")
    return done;
  return wrongUsage("--precision " + precision +
                    " is for decoding and scoring; help: train in " +
                    llvm::join(trainedPrecisions(), " or ") +
                    ", and pass --precision " + precision +
                    " to 'fovea decode', 'score' or 'compile'");
}
