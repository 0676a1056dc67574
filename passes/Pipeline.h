//===- Pipeline.h - the whole path, phase by phase ------------------------===//

#ifndef FOVEA_PASSES_PIPELINE_H
#define FOVEA_PASSES_PIPELINE_H

#include "dialect/AttnDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace fovea::attn {

/// The phases of Phases.def, in order.
enum class Phase {
#define PHASE(name, promise) name,
#include "passes/Phases.def"
};

/// The name of a phase, as on the command line.
llvm::StringRef phaseName(Phase phase);

/// The phase of a name, or nothing.
std::optional<Phase> phaseNamed(llvm::StringRef name);

/// Every phase as a value of an option, with what it promises.
llvm::cl::ValuesClass phaseValues();

struct PipelineOptions : public mlir::PassPipelineOptions<PipelineOptions> {
  Option<Phase> stopAfter{*this, "stop-after",
                          llvm::cl::desc("the last phase that runs"),
                          llvm::cl::init(Phase::schedule), phaseValues()};
  ListOption<std::string> get{
      *this, "get", llvm::cl::desc("equations that @loss has as outputs")};
  Option<bool> each{*this, "each",
                    llvm::cl::desc("whether log p of each choice is an output "
                                   "of @loss"),
                    llvm::cl::init(false)};
  ListOption<std::string> show{
      *this, "show", llvm::cl::desc("equations that @decode has as outputs")};
  Option<bool> gradients{*this, "gradients",
                         llvm::cl::desc("whether @grad is made"),
                         llvm::cl::init(true)};
  ListOption<std::string> by{
      *this, "by", llvm::cl::desc("real data that @grad has adjoints of")};
};

/// Adds every pass from the front end's module to programs, up to and with
/// `options.stopAfter`, and a check after each phase.
void buildPipeline(mlir::OpPassManager &manager,
                   const PipelineOptions &options);

/// Adds the passes of the phase `kernels`, which run on one program: what is
/// computed together depends on its machine, and on its limit of memory.
void formKernels(mlir::OpPassManager &programs);

/// The same of the phase `memory`.
void placeArrays(mlir::OpPassManager &programs);

/// Takes a program that is past the phase `fuse` through the phases `kernels`
/// and `memory` for this machine. One whose arrays have places stays as it is:
/// they have to be for the same machine.
mlir::LogicalResult placeArrays(ProgramOp program, MachineAttr machine);

/// Every pass and the pipeline `attn-pipeline`, for tools that run any of
/// them by name.
void registerFoveaPasses();

} // namespace fovea::attn

#endif // FOVEA_PASSES_PIPELINE_H
