//===- ChooseTarget.h - the machine that a command runs on ----------------===//

#ifndef FOVEA_APP_OPEN_CHOOSETARGET_H
#define FOVEA_APP_OPEN_CHOOSETARGET_H

#include "app/Arguments.h"
#include "compiler/Compiler.h"
#include "runtime/data/StorageFormat.h"

namespace fovea::codegen {
struct TensorCore;
} // namespace fovea::codegen

namespace fovea::cli {

/// The names of targets that `--cpu` accepts besides CPUs, as in an executable
/// of a test (`codegen::addBackend`).
std::vector<std::string> addedTargets();
/// The names of GPUs that `--target` accepts; `cuda` alone is the first.
std::vector<std::string> gpuTargets();
/// The same if figures of the GPU are known: `bench` estimates kernels.
std::vector<std::string> estimatedTargets();

/// For `--target cuda`, opens the GPU and sets its target. For
/// `auto`, falls back to this CPU with a note. Returns an exit
/// code.
int chooseTarget(Arguments &arguments);

/// What `--precision` means on the target. With bf16, a GPU rounds the factors
/// of large products; a CPU reads weights that are rounded. With the name of a
/// GPU, as in bf16:sm_90, both round factors, and add products as that GPU's
/// tensor cores do.
const codegen::TensorCore *tensorCore(const Arguments &arguments);
bool roundsFactors(const Arguments &arguments);
/// Whether products with weights round their factors, with the sums of a CPU.
bool roundsProducts(const Arguments &arguments);
/// The format of the weights that programs read; null: the one of training.
const runtime::StorageFormat *weightFormat(const Arguments &arguments);

/// The values of `--precision`: all, the ones that train on any target, and the
/// ones that name a machine.
std::vector<std::string> precisions();
std::vector<std::string> trainedPrecisions();
std::vector<std::string> machinePrecisions();
std::string helpOfPrecision();

/// Checks that the target supports `--precision`. Returns an exit code.
int checkPrecision(const Arguments &arguments);

} // namespace fovea::cli

#endif // FOVEA_APP_OPEN_CHOOSETARGET_H
