//===- Pipeline.cpp - every pass, in order --------------------------------===//
//
// The one place that decides which passes run and in which order. What each of
// them does stands in Passes.td; what holds between them in Phases.def.
//
//===----------------------------------------------------------------------===//

#include "passes/Pipeline.h"
#include "dialect/AttnDialect.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/memory/CheckMemory.h"

using namespace mlir;
using namespace fovea::attn;

/// The joint distribution of an example -> what is computed in training and
/// in decoding.
static void derive(OpPassManager &manager, const PipelineOptions &options) {
  // Ahead of all that is decided about latent choices: a row has its own.
  manager.addPass(createContinueRows());
  // Ahead of the objective, which takes log p of what is drawn.
  manager.addPass(createDrawLatents());
  DeriveObjectiveOptions objective;
  llvm::append_range(objective.get, options.get);
  objective.each = options.each;
  manager.addPass(createDeriveObjective(objective));
  // After the objective, whose mean is taken.
  manager.addPass(createRepeatSamples());
  DeriveDecoderOptions decoder;
  llvm::append_range(decoder.show, options.show);
  manager.addPass(createDeriveDecoder(decoder));
  // Folds what `--set` made constant, so that no later pass sees it.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createShareArrays());
}

/// @loss -> also @grad.
static void differentiate(OpPassManager &manager,
                          const PipelineOptions &options) {
  // Before differentiation: the adjoint of a split contraction is split.
  manager.addPass(createSplitConcat());
  // After that, as a part may stand still where the whole does not.
  manager.addPass(createDropIndices());
  // Before differentiation: the adjoint of a product is one.
  manager.addPass(createGatherRows());
  // Before differentiation: an array that exists only to be summed has an
  // adjoint of its own size, and the sums that differentiation makes read it.
  manager.addPass(createInline({InlineMode::expansions}));
  // After inlining, which brings products into their sums, and before
  // differentiation, which repeats the condition of a sum.
  manager.addPass(createInheritSupport());
  // After that, which looks at products of arrays of all their indices.
  manager.addPass(createDropIndices({/*ofOne=*/true}));
  // After both, which decide what a sum adds up and where, and before
  // differentiation: the adjoints of a step are as cheap as the step.
  manager.addPass(createOrderFactors());
  if (options.gradients) {
    manager.addPass(createGuardEquations());
    DifferentiateOptions by;
    llvm::append_range(by.by, options.by);
    manager.addPass(createDifferentiate(by));
  }
  manager.addPass(createDropStops());
  // The adjoint of a sum is an expansion.
  if (options.gradients)
    manager.addPass(createInline({InlineMode::expansions}));
  // Adjoints repeat subexpressions of the forward equations.
  manager.addPass(createShareArrays());
}

/// Systems -> programs.
static void schedule(OpPassManager &manager, const PipelineOptions &options) {
  manager.addPass(createSchedule());
}

/// One example -> many.
static void batch(OpPassManager &manager, const PipelineOptions &options) {
  manager.addPass(createBatch());
  // After batching: what the examples share is what hypotheses share.
  manager.addPass(createSplitDecoder());
}

/// Equations as they are computed.
static void fuse(OpPassManager &manager, const PipelineOptions &options) {
  manager.addPass(createTakeBranches());
  // Before what takes convolutions for anything other than products.
  manager.addPass(createOrderChannels());
  manager.addPass(createPadWindows());
  manager.addPass(createFactorProducts());
  // After what decides the order of products, and before fusion, which takes
  // copies in another order into their readers.
  manager.addPass(createOrderIndices());
  manager.addPass(createFuseElementwise());
  // After fusion, and before what is no longer read is trimmed.
  manager.addPass(createCarrySums());
  // After that, which may leave a row with one reader.
  manager.addPass(createRecomputeRows());
  manager.addPass(createTrimScans());
  // After fusion, so that all readers of a row are known, and what only one
  // equation reads is inside it.
  manager.addPass(createNarrowScans());
  manager.addPass(createTrimScans());
  // Rows that are not kept any more had kept their equations apart.
  manager.addPass(createFuseElementwise());
  manager.addPass(createExposeProducts());
  // After all that changes the bodies of sums.
  manager.addPass(createJoinSums());
  // What the equations are from here on.
  manager.addPass(createNameProducts());
  // Before all that a machine decides.
  manager.addPass(createOrderSums());
}

void fovea::attn::formKernels(OpPassManager &programs) {
  // Ahead of kernels that products are part of.
  programs.addPass(createChoosePrecision());
  // Of products that are rounded, and before what computes pairs again.
  programs.addPass(createSplitAdjoints());
  programs.addPass(createFormStrips());
  // After strips, which keep more out of memory.
  programs.addPass(createFormEpilogues());
  // Of strips whose products are rounded.
  programs.addPass(createTileKeys());
  // In strips, too.
  programs.addPass(createShareLoops());
  // Of what is left in loops.
  programs.addPass(createFormRows());
  // Of all that is launched.
  programs.addPass(createDivideWork());
  // Of what has such units.
  programs.addPass(createChooseBlocks());
  // Of products that are launches of their own.
  programs.addPass(createChooseTiles());
}

/// What is computed together.
static void kernels(OpPassManager &manager, const PipelineOptions &options) {
  formKernels(manager.nest<ProgramOp>());
}

void fovea::attn::placeArrays(OpPassManager &programs) {
  programs.addPass(createPlaceArrays());
  // Of copies that have their places.
  programs.addPass(createGatherCopies());
  // After that: which ops need each other depends on where they write.
  programs.addPass(createKeepLoops());
}

LogicalResult fovea::attn::placeArrays(ProgramOp program, MachineAttr machine) {
  if (isPlaced(program)) {
    assert(MachineAttr::of(program) == machine &&
           "a program has the kernels of one machine");
    return success();
  }
  machine.setTo(program);
  WalkResult hasKernels =
      program.walk([](KernelOp) { return WalkResult::interrupt(); });
  PassManager manager(program.getContext(), ProgramOp::getOperationName());
  if (!hasKernels.wasInterrupted())
    formKernels(manager);
  placeArrays(manager);
  return manager.run(program);
}

/// Where the arrays lie.
static void memory(OpPassManager &manager, const PipelineOptions &options) {
  placeArrays(manager.nest<ProgramOp>());
}

void fovea::attn::buildPipeline(OpPassManager &manager,
                                const PipelineOptions &options) {
#define PHASE(name, promise)                                                   \
  name(manager, options);                                                      \
  manager.addPass(createCheckPhase({Phase::name}));                            \
  if (options.stopAfter == Phase::name)                                        \
    return;
#include "passes/Phases.def"
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

StringRef fovea::attn::phaseName(Phase phase) {
  switch (phase) {
#define PHASE(name, promise)                                                   \
  case Phase::name:                                                            \
    return #name;
#include "passes/Phases.def"
  }
  llvm_unreachable("every phase has a name");
}

std::optional<Phase> fovea::attn::phaseNamed(StringRef text) {
#define PHASE(name, promise)                                                   \
  if (text == #name)                                                           \
    return Phase::name;
#include "passes/Phases.def"
  return std::nullopt;
}

llvm::cl::ValuesClass fovea::attn::phaseValues() {
  return llvm::cl::ValuesClass({
#define PHASE(name, promise)                                                   \
  llvm::cl::OptionEnumValue{#name, static_cast<int>(Phase::name), promise},
#include "passes/Phases.def"
  });
}

void fovea::attn::registerFoveaPasses() {
  registerPasses();
  PassPipelineRegistration<PipelineOptions>(
      "attn-pipeline", "from the front end's module to programs",
      [](OpPassManager &manager, const PipelineOptions &options) {
        buildPipeline(manager, options);
      });
}
