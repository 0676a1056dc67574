//===- ChooseTarget.cpp - the machine that a command runs on --------------===//

#include "app/open/ChooseTarget.h"
#include "app/open/Session.h"
#include "codegen/Backend.h"
#include "runtime/device/Device.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using runtime::Device;
using runtime::Status;

std::vector<std::string> fovea::cli::addedTargets() {
  return codegen::addedTargets();
}

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
    llvm::errs() << "error: " << status.text() << '\n';
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

llvm::Expected<attn::TargetAttr>
fovea::cli::describe(const Arguments &arguments, compiler::Context &context) {
  mlir::Builder builder(&context);
  return codegen::describeTarget(arguments.cpu, arguments.dtype == "f64"
                                                    ? builder.getF64Type()
                                                    : builder.getF32Type());
}

static bool hasDevice(const Arguments &arguments) {
  return llvm::StringRef(arguments.cpu).starts_with("cuda");
}

bool fovea::cli::roundsFactors(const Arguments &arguments) {
  return arguments.precision == "bf16" && hasDevice(arguments);
}

runtime::WeightFormat fovea::cli::weightFormat(const Arguments &arguments) {
  using runtime::WeightFormat;
  if (arguments.precision == "int8")
    return WeightFormat::int8;
  if (arguments.precision == "int4")
    return WeightFormat::int4;
  return arguments.precision == "bf16" && !hasDevice(arguments)
             ? WeightFormat::bf16
             : WeightFormat::real;
}

int fovea::cli::checkPrecision(const Arguments &arguments) {
  const std::string &precision = arguments.precision;
  if (precision == "bf16" && arguments.dtype == "f64")
    return wrongUsage("--precision bf16 excludes --dtype f64",
                      Code::argumentConflict);
  bool isWhole = precision == "int8" || precision == "int4";
  if (!isWhole || arguments.command != "train")
    return done;
  return wrongUsage("--precision " + precision +
                    " is for decoding and scoring; help: train in f32 or bf16, "
                    "and pass --precision " +
                    precision + " to 'fovea decode', 'score' or 'compile'");
}
