//===- ChooseTarget.cpp - the machine that a command runs on --------------===//

#include "driver/model/ChooseTarget.h"
#include "codegen/Backend.h"
#include "runtime/device/Device.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using runtime::Device;
using runtime::Status;

static Status openDevice(Arguments &arguments) {
  if (Status status = Device::open(); status.failed())
    return status;
  const Device &device = *Device::current();
  std::string target = codegen::gpuTargetFor(device.major(), device.minor());
  if (target.empty())
    return Status::machine(fmt::format(
        "there is no code for the GPU '{}', of compute capability {}.{}: 8.0 "
        "is the least",
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
    llvm::errs() << "note: it runs on the CPU: " << status.text() << '\n';
  arguments.cpu = "native";
  return done;
}
