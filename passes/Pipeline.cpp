//===- Pipeline.cpp - every pass, in order --------------------------------===//
//
// The only place that decides which passes run and in which order. Passes.td
// describes the passes; Phases.def defines the invariants between them.
//
//===----------------------------------------------------------------------===//

#include "passes/Pipeline.h"
#include "dialect/AttnDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/Timing.h"
#include "passes/Passes.h"
#include "passes/memory/CheckMemory.h"
#include "runtime/data/StorageFormat.h"

using namespace mlir;
using namespace fovea::attn;

void fovea::attn::registerPassFlags() {
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
}

/// The times of all pass managers of the process, which it prints as it ends.
static TimingScope &timesOfProcess() {
  static DefaultTimingManager manager;
  static TimingScope scope = [] {
    applyDefaultTimingManagerCLOptions(manager);
    return manager.getRootScope();
  }();
  return scope;
}

LogicalResult
fovea::attn::runPasses(Operation *op,
                       llvm::function_ref<void(OpPassManager &)> build,
                       std::unique_ptr<PassInstrumentation> watcher) {
  PassManager manager(op->getContext(), op->getName().getStringRef());
  registerPassFlags();
  if (failed(applyPassManagerCLOptions(manager)))
    return failure();
  // MLIR identifies timers by the addresses of passes, which a later manager
  // may reuse. So each manager has its own number.
  static uintptr_t number = 0;
  TimingScope times = timesOfProcess().nest(
      reinterpret_cast<const void *>(++number), [&]() -> std::string {
        auto symbol = dyn_cast<SymbolOpInterface>(op);
        return symbol && symbol.getNameAttr() ? "@" + symbol.getName().str()
                                              : "module";
      });
  manager.enableTiming(times);
  // CheckPhase verifies the IR once per phase; fovea-opt after every pass.
  manager.enableVerifier(false);
  if (watcher)
    manager.addInstrumentation(std::move(watcher));
  build(manager);
  return manager.run(op);
}

namespace {
/// Adds passes to a manager, except the ones that are left out. Each pass
/// declares here whether it may be; docs/IR.md gives the reasons.
class Passes {
public:
  Passes(OpPassManager &manager, ArrayRef<std::string> leftOut)
      : manager(manager), leftOut(leftOut) {}
  /// Finds the passes that may be left out for a target.
  Passes(OpPassManager &manager, TargetAttr target, OptionalPasses *found)
      : manager(manager), target(target), found(found) {}

  /// A pass that defines orders, or that later ones need.
  void addPass(std::unique_ptr<Pass> pass) { manager.addPass(std::move(pass)); }
  /// Without it every result has the same bits.
  void addOptional(std::unique_ptr<Pass> pass) {
    if (found)
      found->ofAll.insert(pass->getArgument());
    addUnlessLeftOut(std::move(pass));
  }
  /// Without it all results but gradients have the same bits: it forms the sums
  /// whose order attn-order-sums decides.
  void addOptionalForValues(std::unique_ptr<Pass> pass) {
    if (found)
      found->ofValues.insert(pass->getArgument());
    addUnlessLeftOut(std::move(pass));
  }
  /// The passes of the program's target at a stage. All may be left out.
  void addTargetPasses(Stage stage) {
    if (found)
      target.addPasses(stage, [&](std::unique_ptr<Pass> pass) {
        found->ofAll.insert(pass->getArgument());
      });
    RunTargetPassesOptions options;
    options.stage = stage;
    options.leaveOut.assign(leftOut.begin(), leftOut.end());
    manager.addPass(createRunTargetPasses(options));
  }
  Passes nestPrograms() {
    Passes nested(manager.nest<ProgramOp>(), leftOut);
    nested.target = target;
    nested.found = found;
    return nested;
  }

private:
  void addUnlessLeftOut(std::unique_ptr<Pass> pass) {
    if (!llvm::is_contained(leftOut, pass->getArgument()))
      manager.addPass(std::move(pass));
  }

  OpPassManager &manager;
  ArrayRef<std::string> leftOut;
  TargetAttr target;
  OptionalPasses *found = nullptr;
};
} // namespace

/// Rewrites sums into other ones: what they give has other bits. So these run
/// on systems, in the same way for training and decoding.
static void orderSums(Passes manager) {
  // Before all others: the adjoint of a split contraction is split.
  manager.addPass(createSplitConcat());
  // After that: a part may be invariant where the whole is not.
  manager.addPass(createDropIndices());
  // Before differentiation: the adjoint of a product is one.
  manager.addPass(createGatherRows());
  // Before differentiation: an array that exists only to be summed has an
  // adjoint of its own size, and the sums of differentiation read it.
  manager.addPass(createInline({InlineMode::expansions}));
  // After inlining, which moves products into their sums, and before
  // differentiation, which repeats the condition of a sum.
  manager.addOptionalForValues(createInheritSupport());
  // After that: it examines products of arrays with all their indices.
  manager.addPass(createDropIndices({/*ofOne=*/true}));
  // After both, which decide the terms and place of a sum, and before
  // differentiation: then the adjoints of a step are as cheap as the step.
  manager.addPass(createOrderFactors());
  // For sums created since.
  manager.addPass(createOrderEquations());
}

/// From the joint distribution of an example to the equations of training and
/// decoding.
static void derive(Passes manager, const PipelineOptions &options) {
  // First: it depends only on the user's text.
  manager.addPass(createOrderEquations());
  // Before all decisions about latent choices: a row has its own.
  manager.addPass(createContinueRows());
  // Before the objective, which takes log p of the samples.
  manager.addPass(createDrawLatents());
  DeriveObjectiveOptions objective;
  llvm::append_range(objective.get, options.get);
  objective.each = options.each;
  objective.updates = options.gradients;
  manager.addPass(createDeriveObjective(objective));
  // After the objective, which is a mean.
  manager.addPass(createRepeatSamples());
  DeriveDecoderOptions decoder;
  llvm::append_range(decoder.show, options.show);
  manager.addPass(createDeriveDecoder(decoder));
  // Folds what `--set` made constant, so that later passes do not see it.
  manager.addPass(createFoldConstants());
  manager.addOptionalForValues(createShareArrays());
  orderSums(manager);
  // After all orders are decided: until here decoding has the equations of
  // training.
  manager.addPass(createRemoveDropout());
  // After that: decoding reads what training drops. The orders of sums decide
  // which of them are products.
  const fovea::runtime::StorageFormat *format =
      fovea::runtime::findStorageFormat(options.weights.getValue());
  if (format && format->hasColumns())
    manager.addPass(createQuantiseProducts({options.weights.getValue()}));
  else if (!options.weights.empty())
    manager.addPass(createRoundWeights({options.weights.getValue()}));
  // After all that decides what an equation reads.
  if (options.roundsRows)
    manager.addPass(createRoundRows());
}

/// @loss -> also @grad.
static void differentiate(Passes manager, const PipelineOptions &options) {
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
  manager.addOptionalForValues(createShareArrays());
}

/// Systems -> programs.
static void schedule(Passes manager, const PipelineOptions &options) {
  manager.addPass(createSchedule());
}

/// One example -> many.
static void batch(Passes manager, const PipelineOptions &options) {
  manager.addPass(createBatch());
  // Before the programs of a search exchange arrays.
  if (options.roundsRows)
    manager.addPass(createStoreRows());
  // After batching: what the examples share is what hypotheses share.
  manager.addPass(createSplitDecoder());
}

/// Equations in their final form.
static void fuse(Passes manager, const PipelineOptions &options) {
  manager.addOptionalForValues(createTakeBranches());
  // Before passes that treat convolutions as anything but products.
  manager.addPass(createOrderChannels());
  manager.addOptionalForValues(createPadWindows());
  manager.addOptionalForValues(createFactorProducts());
  // After the order of products is decided, and before fusion, which inlines
  // differently ordered copies into their readers.
  manager.addOptionalForValues(createOrderIndices());
  manager.addOptionalForValues(createFuseElementwise());
  // After fusion, and before unread arrays are trimmed.
  manager.addOptionalForValues(createCarrySums());
  // After that, which may leave a row with one reader.
  manager.addOptionalForValues(createRecomputeRows());
  manager.addOptionalForValues(createTrimScans());
  // After fusion: then all readers of a row are known, and single-use producers
  // are inlined.
  manager.addOptionalForValues(createNarrowScans());
  manager.addOptionalForValues(createTrimScans());
  // Rows that are no longer kept had separated their equations.
  manager.addOptionalForValues(createFuseElementwise());
  manager.addPass(createExposeProducts());
  // After all changes to the bodies of sums.
  manager.addOptionalForValues(createJoinSums());
  // After that, and before products, which its conditions gather.
  manager.addOptionalForValues(createGuardRows());
  // After all that merges equations.
  manager.addOptional(createSplitMembers());
  // The equations are final from here on.
  manager.addOptionalForValues(createNameProducts());
  // After products have names: they are not computed again.
  manager.addOptional(createShortenLives());
  // Before all decisions about a machine.
  manager.addPass(createOrderSums());
}

static void formKernels(Passes programs) {
  // Before the passes that group products into kernels.
  programs.addOptional(createChoosePrecision());
  // For rounded products, and before the pass that recomputes pairs.
  programs.addTargetPasses(Stage::beforeStrips);
  programs.addOptional(createFormStrips());
  // After strips, which read rows of two bytes, and before other kernels.
  programs.addPass(createWidenFactors());
  // After strips, which save more memory.
  programs.addOptional(createFormEpilogues());
  // For kernels in strips and columns.
  programs.addTargetPasses(Stage::afterStrips);
  // In strips, too.
  programs.addPass(createShareLoops());
  // For the remaining equations in loops.
  programs.addPass(createFormRows());
  // For every launch.
  programs.addPass(createDivideWork());
  // For ops with such units, and products that are separate launches.
  programs.addTargetPasses(Stage::afterKernels);
}

/// Decides which equations are fused.
static void kernels(Passes manager, const PipelineOptions &options) {
  formKernels(manager.nestPrograms());
}

static void placeArrays(Passes programs) {
  programs.addPass(createPlaceArrays());
  // For copies, and dependences between ops, which follow from locations.
  programs.addTargetPasses(Stage::afterMemory);
}

void fovea::attn::formKernels(OpPassManager &programs) {
  ::formKernels(Passes(programs, {}));
}

void fovea::attn::placeArrays(OpPassManager &programs) {
  ::placeArrays(Passes(programs, {}));
}

LogicalResult fovea::attn::placeArrays(ProgramOp program, TargetAttr target) {
  if (isPlaced(program)) {
    assert(TargetAttr::of(program) == target &&
           "a program has the kernels of one target");
    return success();
  }
  target.setTo(program);
  WalkResult hasKernels =
      program.walk([](KernelOp) { return WalkResult::interrupt(); });
  return runPasses(program, [&](OpPassManager &manager) {
    // What is compiled keeps the contracts that '--stop-after' checks.
    auto check = [&](Phase phase) {
#ifndef NDEBUG
      manager.addPass(createCheckPhase({phase}));
#endif
    };
    if (!hasKernels.wasInterrupted())
      formKernels(manager);
    check(Phase::kernels);
    placeArrays(manager);
    check(Phase::memory);
  });
}

/// Decides the locations of arrays.
static void memory(Passes manager, const PipelineOptions &options) {
  placeArrays(manager.nestPrograms());
}

void fovea::attn::buildPipeline(OpPassManager &manager,
                                const PipelineOptions &options) {
  std::vector<std::string> leftOut(options.leaveOut.begin(),
                                   options.leaveOut.end());
#define PHASE(name, promise)                                                   \
  name(Passes(manager, leftOut), options);                                     \
  manager.addPass(createCheckPhase({Phase::name}));                            \
  if (options.stopAfter == Phase::name)                                        \
    return;
#include "passes/Phases.def"
}

OptionalPasses fovea::attn::optionalPasses(TargetAttr target) {
  OptionalPasses found;
  OpPassManager manager(ModuleOp::getOperationName());
  Passes passes(manager, target, &found);
  PipelineOptions options;
#define PHASE(name, promise) name(passes, options);
#include "passes/Phases.def"
  return found;
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

llvm::cl::ValuesClass fovea::attn::stageValues() {
  return llvm::cl::ValuesClass(
      {clEnumValN(Stage::beforeStrips, "before-strips",
                  "before kernels in strips and columns are formed"),
       clEnumValN(Stage::afterStrips, "after-strips", "after that"),
       clEnumValN(Stage::afterKernels, "after-kernels",
                  "after all kernels are formed"),
       clEnumValN(Stage::afterMemory, "after-memory",
                  "after arrays have locations")});
}

void fovea::attn::registerFoveaPasses() {
  registerPasses();
  PassPipelineRegistration<PipelineOptions>(
      "attn-pipeline", "from the front end's module to programs",
      [](OpPassManager &manager, const PipelineOptions &options) {
        buildPipeline(manager, options);
      });
}
