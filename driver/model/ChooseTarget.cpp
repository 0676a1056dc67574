//===- ChooseTarget.cpp - the machine that a command runs on --------------===//

#include "driver/model/ChooseTarget.h"
#include "codegen/Backend.h"
#include "driver/model/Session.h"
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
  if (!arguments.quiet)
    llvm::errs() << "note: running on the CPU"
                 << (arguments.precision == "bf16" ? ", in f32: " : ": ")
                 << status.text() << '\n';
  arguments.cpu = "native";
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

int fovea::cli::checkPrecision(const Arguments &arguments) {
  if (arguments.precision == "int8" && arguments.command == "train")
    return wrongUsage("--precision int8 is for decoding and scoring; help: "
                      "train in f32, and pass --precision int8 to 'fovea "
                      "decode', 'score' or 'compile'");
  if (arguments.precision != "bf16")
    return done;
  if (arguments.dtype == "f64")
    return wrongUsage("--precision bf16 excludes --dtype f64",
                      Code::argumentConflict);
  compiler::Context context;
  mlir::Builder builder(&context);
  llvm::Expected<attn::TargetAttr> target = describe(arguments, context);
  if (!target)
    return wrongUsage(llvm::toString(target.takeError()));
  if (target->multiplies(builder.getBF16Type(), builder.getF32Type()))
    return done;
  return wrongUsage(
      "--precision bf16 needs a GPU; help: add '--target cuda'; the target '" +
      arguments.cpu + "' has no matrix products in bf16");
}
