//===- Pipeline.h - the whole path, phase by phase ------------------------===//

#ifndef FOVEA_PASSES_PIPELINE_H
#define FOVEA_PASSES_PIPELINE_H

#include "dialect/AttnForward.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

#include <set>

namespace fovea::attn {

/// The phases of Phases.def, in order.
enum class Phase : int {
#define PHASE(name, promise) name,
#include "passes/Phases.def"
};

/// The name of a phase, as on the command line.
llvm::StringRef phaseName(Phase phase);

/// The phase of a name, or nothing.
std::optional<Phase> phaseNamed(llvm::StringRef name);

/// Every phase as an option value, with its guarantees; every stage.
llvm::cl::ValuesClass phaseValues();
llvm::cl::ValuesClass stageValues();

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
  Option<std::string> weights{
      *this, "weights",
      llvm::cl::desc(
          "the format of the weights that programs read "
          "(runtime/data/StorageFormat.h); none: those of training")};
  Option<bool> roundsRows{
      *this, "round-rows",
      llvm::cl::desc("whether rows that places of another length read are "
                     "rounded to bf16"),
      llvm::cl::init(false)};
  ListOption<std::string> leaveOut{*this, "leave-out",
                                   llvm::cl::desc("passes that do not run")};
  ListOption<std::string> by{
      *this, "by", llvm::cl::desc("real data that @grad has adjoints of")};
};

/// Runs the passes that `build` adds on `op`. All passes of the compiler run
/// here, under MLIR's flags for dumps, timing and reproducers
/// (docs/DEBUGGING.md), where the command line has any. `watcher` is called
/// before and after each pass.
mlir::LogicalResult
runPasses(mlir::Operation *op,
          llvm::function_ref<void(mlir::OpPassManager &)> build,
          std::unique_ptr<mlir::PassInstrumentation> watcher = nullptr);

/// Makes these flags known to the command line, before it is parsed.
void registerPassFlags();

/// The passes that may be left out (`leave-out`): results keep their bits.
struct OptionalPasses {
  std::set<llvm::StringRef> ofAll;
  /// Passes that define orders of derivatives only: all results but gradients
  /// keep their bits.
  std::set<llvm::StringRef> ofValues;
};
OptionalPasses optionalPasses(TargetAttr target);

/// Adds every pass from the front end's module to programs, up to and including
/// `options.stopAfter`, and a check after each phase.
void buildPipeline(mlir::OpPassManager &manager,
                   const PipelineOptions &options);

/// Adds the passes of the phase `kernels`, which run on one program: fusion
/// depends on its target, and on the memory limit.
void formKernels(mlir::OpPassManager &programs);

/// The same of the phase `memory`.
void placeArrays(mlir::OpPassManager &programs);

/// Runs the phases `kernels` and `memory` for this target on a program past
/// the phase `fuse`. Leaves a placed program unchanged; it must be for the same
/// target.
mlir::LogicalResult placeArrays(ProgramOp program, TargetAttr target);

/// Registers every pass and the pipeline `attn-pipeline`, for tools that run
/// them by name.
void registerFoveaPasses();

} // namespace fovea::attn

#endif // FOVEA_PASSES_PIPELINE_H
