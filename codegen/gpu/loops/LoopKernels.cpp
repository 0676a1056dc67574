//===- LoopKernels.cpp - loops that are one launch ------------------------===//
//
// The program's function has a loop of launches. For a loop that stays on the
// device, makes one kernel in addition: every thread iterates over the steps,
// with the frame slots in registers, and over copies of the step's kernels. All
// blocks synchronise between two phases, the threads of a block between two
// turns of a phase.
//
// The loop of launches remains, for drivers that refuse the kernel.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/program/GpuEmitter.h"
#include "codegen/gpu/program/Threads.h"
#include "targets/nvidia/ChooseTiles.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

void GpuEmitter::noteLoop(ScanOp op, scf::ForOp loop) {
  if (!staysOnDevice(op))
    return;
  loop->setAttr(loopName, main.getUnitAttr());
  loops.push_back({op, loop});
}

namespace {
/// A call in the loop that hands a kernel to the device.
struct StepCall {
  func::CallOp call;
  func::FuncOp kernel;
  const FrameReads *reads;
  StepLaunch step;
  /// Its number among the launches of its op, and among all launches.
  int64_t part = 0, number = 0;
  /// The list of the kernel.
  Value list = nullptr;

  auto key() const {
    return std::tuple(step.time.phase, part, step.time.turn, number);
  }
};

/// The ops that commit a step come last.
constexpr StepTime timeOfCommit{INT64_MAX, 0};

/// The required synchronisation between two launches.
enum class Wait { None, Block, Grid };

struct LoopKernel {
  ModuleOp module;
  ScanOp op;
  scf::ForOp loop;
  const FrameReads &reads; // of the program
  const std::map<Operation *, FrameReads> &readsOf;
  const llvm::DenseMap<Operation *, StepLaunch> &stepLaunches;
  llvm::MapVector<Operation *, KeptProduct> &keptProducts;
  int64_t keptBytes, bytesOfNumber;
  int hostSlot;
  /// The kernel that lists rows, and the others in order.
  SmallVector<StepCall> lists = {}, launches = {};
  /// The slots that are read, and whether any as an address.
  llvm::MapVector<int, bool> slots = {};
  /// The values before the loop, and the frame of a thread.
  IRMapping copies = {};
  Value ownFrame = nullptr;
  /// For a loop that keeps columns of products on the chip: their address, the
  /// groups of blocks, the first tile of rows of this block, and the distance
  /// to its next one.
  Value chip = nullptr, groups = nullptr, firstRows = nullptr,
        nextRows = nullptr;
  /// The first strip of a product in this block, and the number of terms before
  /// it.
  struct Strips {
    Value first, ahead;
  };
  llvm::MapVector<Operation *, Strips> strips = {};

  void find();
  void addLaunch(func::CallOp call,
                 llvm::DenseMap<Operation *, int64_t> &parts);
  SmallVector<Value> valuesFromAhead();
  Value copyFromAhead(KernelBuilder &kernel, Value value);
  IRMapping copyNumbers(KernelBuilder &kernel, Value step);
  void copyLaunch(KernelBuilder &kernel, StepCall &launch,
                  const IRMapping &numbers);
  void copyLists(KernelBuilder &kernel, Value step);
  void copyBody(KernelBuilder &kernel, func::FuncOp function,
                ValueRange arguments);
  void keepColumns(KernelBuilder &kernel);
  Value forStrips(KernelBuilder &kernel, const KeptProduct &product,
                  const Strips &strips, func::FuncOp function);
  void copyStep(KernelBuilder &kernel, Value step);
  Wait waitBetween(const StepCall &before, const StepCall &next) const;
  int64_t numBarriers() const;
  void emit(KernelBuilder &kernel, func::FuncOp function, int64_t numSlots);
  void addSlot(FrameReads::Slot slot) { slots[slot.number] |= slot.isAddress; }
  void addSlotsOf(Operation *root);
  void addSlotsOf(Value value);
  Value read(KernelBuilder &kernel, Value from, FrameReads::Slot slot);
};
} // namespace

/// Adds the slots that the function of the program reads there.
void LoopKernel::addSlotsOf(Operation *root) {
  root->walk([&](Operation *op) {
    auto found = reads.byLoad.find(op);
    if (found != reads.byLoad.end())
      addSlot(found->second);
  });
}

/// Adds the slots that a value from before the loop depends on.
void LoopKernel::addSlotsOf(Value value) {
  if (value == reads.frame)
    return;
  Operation *op = value.getDefiningOp();
  assert(op && op->getNumRegions() == 0 && !isa<func::CallOp>(op) &&
         "the numbers of a step come from the frame");
  addSlotsOf(op);
  for (Value operand : op->getOperands())
    addSlotsOf(operand);
}

void LoopKernel::addLaunch(func::CallOp call,
                           llvm::DenseMap<Operation *, int64_t> &parts) {
  auto cast = call.getOperand(1).getDefiningOp<UnrealizedConversionCastOp>();
  auto address = cast.getInputs()[0].getDefiningOp<func::ConstantOp>();
  auto kernel = module.lookupSymbol<func::FuncOp>(address.getValue());
  assert(kernel->getAttrOfType<IntegerAttr>(threadsName).getInt() ==
             blockThreads &&
         matchPattern(call.getOperand(4), m_Zero()) &&
         "attn-keep-loops looks for kernels of such blocks");
  assert(!kernel.walk([](LLVM::AllocaOp) { return WalkResult::interrupt(); })
              .wasInterrupted() &&
         "a thread has registers only");
  const FrameReads &own = readsOf.at(kernel);
  for (FrameReads::Slot slot : own.slots)
    addSlot(slot);
  auto number = static_cast<int64_t>(launches.size());
  StepCall launch{call, kernel, &own, stepLaunches.at(kernel), 0, number};
  if (launch.step.isAhead)
    return lists.push_back(launch);
  // Per-example ops after a product are in a separate phase.
  if (!launch.step.isByExample)
    launch.part = parts[launch.step.op]++;
  launches.push_back(launch);
}

/// Collects its launches, in order.
void LoopKernel::find() {
  llvm::DenseMap<Operation *, int64_t> parts;
  for (auto call : loop.getOps<func::CallOp>())
    addLaunch(call, parts);
  auto byTime = [](const StepCall &a, const StepCall &b) {
    return a.key() < b.key();
  };
  llvm::sort(launches, byTime);
  // The ops that commit a step, after everything else.
  StepCall &last = launches.back();
  if (last.step.time == timeOfCommit && launches.size() > 1) {
    StepTime end = launches[launches.size() - 2].step.time;
    bool isByBlock = last.step.isByExample;
    for (const StepCall &each : ArrayRef(launches).drop_back())
      isByBlock &= each.step.time.phase != end.phase || each.step.isByExample;
    last.step.time = isByBlock ? StepTime{end.phase, end.turn + 1}
                               : StepTime{end.phase + 1, 0};
  }
  for (Value value : valuesFromAhead())
    addSlotsOf(value);
  addSlotsOf(loop);
  assert(slots.size() <= mostSlotsOfLoop && "attn-keep-loops counts them");
}

/// The call that hands a kernel over is not copied.
static bool isOfLaunch(Operation &op) {
  return isa<func::CallOp, func::ConstantOp, UnrealizedConversionCastOp>(op);
}

/// The values from before the loop that a step, and the number of steps, use.
SmallVector<Value> LoopKernel::valuesFromAhead() {
  SmallVector<Value> values = {loop.getLowerBound(), loop.getUpperBound(),
                               loop.getStep()};
  auto add = [&](Value value) {
    if (!loop->isProperAncestor(value.getParentBlock()->getParentOp()) &&
        value.getParentBlock() != loop.getBody())
      values.push_back(value);
  };
  for (Operation &op : *loop.getBody())
    if (!isOfLaunch(op))
      for (Value operand : op.getOperands())
        add(operand);
  for (auto *some : {&lists, &launches})
    for (StepCall &launch : *some)
      add(launch.call.getOperand(3));
  return values;
}

Value LoopKernel::copyFromAhead(KernelBuilder &kernel, Value value) {
  if (Value copy = copies.lookupOrNull(value))
    return copy;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    copyFromAhead(kernel, operand);
  kernel.clone(*op, copies);
  return copies.lookup(value);
}

/// The numbers of a step: its slots, and the launch parameters.
IRMapping LoopKernel::copyNumbers(KernelBuilder &kernel, Value step) {
  IRMapping numbers = copies;
  numbers.map(loop.getInductionVar(), step);
  for (Operation &op : loop.getBody()->without_terminator())
    if (!isOfLaunch(op))
      kernel.clone(op, numbers);
  return numbers;
}

void LoopKernel::copyBody(KernelBuilder &kernel, func::FuncOp function,
                          ValueRange arguments) {
  IRMapping inner;
  inner.map(function.getArguments(), arguments);
  for (Operation &op : function.getBody().front().without_terminator())
    kernel.clone(op, inner);
}

void LoopKernel::copyLaunch(KernelBuilder &kernel, StepCall &launch,
                            const IRMapping &numbers) {
  auto kept = keptProducts.find(launch.kernel);
  if (kept != keptProducts.end()) {
    (void)forStrips(kernel, kept->second, strips.lookup(launch.kernel),
                    kept->second.multiply);
    return;
  }
  for (auto [place, slot] : llvm::enumerate(launch.reads->slots))
    kernel.setSlot(launch.list, static_cast<int>(place),
                   read(kernel, ownFrame, slot));
  copyBody(kernel, launch.kernel,
           {launch.list, numbers.lookup(launch.call.getOperand(3))});
}

Value LoopKernel::read(KernelBuilder &kernel, Value from,
                       FrameReads::Slot slot) {
  return slot.isAddress ? kernel.pointerSlot(from, slot.number)
                        : kernel.slot(from, slot.number);
}

/// Calls a function for each strip of a product in this block. Returns how many
/// terms come before the next product's.
Value LoopKernel::forStrips(KernelBuilder &kernel, const KeptProduct &product,
                            const Strips &strips, func::FuncOp function) {
  Type real = kernel.getIntegerType(8 * bytesOfNumber);
  int64_t most = keptBytes / bytesOfNumber / smallColumns;
  Value terms = kernel.number(product.columns.terms);
  Value columns = kernel.number(smallColumns);
  auto call = [&](Value strip, ValueRange ahead) -> KernelBuilder::Values {
    Value room =
        kernel.max(kernel.number(0), kernel.sub(kernel.number(most), ahead[0]));
    Value at = kernel.at(
        real, chip,
        kernel.mul(kernel.min(ahead[0], kernel.number(most)), columns));
    copyBody(kernel, function,
             {ownFrame, at, kernel.min(terms, room), kernel.mul(strip, columns),
              firstRows, nextRows});
    return {kernel.add(ahead[0], kernel.number(llvm::alignTo(
                                     product.columns.terms, termsOfPiece)))};
  };
  return kernel.loop(strips.first, kernel.number(product.columns.strips),
                     groups, {strips.ahead}, call)[0];
}

/// Finds the strips of this block, and loads them.
void LoopKernel::keepColumns(KernelBuilder &kernel) {
  if (keptBytes == 0)
    return;
  chip = sizedMemory(kernel, module);
  Value blocks = numBlocks(kernel), block = blockNumber(kernel);
  nextRows = kernel.min(kernel.number(blocksOfGroup), blocks);
  groups = kernel.div(blocks, nextRows);
  Value group = kernel.rem(block, groups), turn = kernel.div(block, groups);
  // Blocks outside a full group have no rows.
  constexpr int64_t noRows = int64_t(1) << 32;
  firstRows =
      kernel.select(kernel.less(turn, nextRows), turn, kernel.number(noRows));
  Value ahead = kernel.number(0);
  for (const auto &[launch, product] : keptProducts) {
    if (stepLaunches.at(launch).op->getParentOp() != op)
      continue;
    Value before = kernel.rem(kernel.number(product.columns.first), groups);
    Value first =
        kernel.rem(kernel.add(kernel.sub(group, before), groups), groups);
    strips[launch] = {first, ahead};
    ahead = forStrips(kernel, product, strips[launch], product.keep);
  }
  waitForBlock(kernel);
}

/// Lists the rows of a step, if there is such a kernel.
void LoopKernel::copyLists(KernelBuilder &kernel, Value step) {
  if (lists.empty())
    return;
  kernel.branch(kernel.less(step, copies.lookup(loop.getUpperBound())), [&] {
    IRMapping numbers = copyNumbers(kernel, step);
    for (StepCall &list : lists)
      copyLaunch(kernel, list, numbers);
  });
}

Wait LoopKernel::waitBetween(const StepCall &before,
                             const StepCall &next) const {
  if (before.step.time.phase != next.step.time.phase ||
      before.part != next.part)
    return Wait::Grid;
  return before.step.time == next.step.time ? Wait::None : Wait::Block;
}

/// The numbers of the step, then its kernels, phase by phase.
void LoopKernel::copyStep(KernelBuilder &kernel, Value step) {
  if (!listsAhead(op) && !lists.empty()) {
    copyLists(kernel, step);
    waitForGrid(kernel, module);
  }
  IRMapping numbers = copyNumbers(kernel, step);
  const StepCall *before = nullptr;
  for (StepCall &launch : launches) {
    Wait wait = before ? waitBetween(*before, launch) : Wait::None;
    if (wait == Wait::Grid)
      waitForGrid(kernel, module);
    else if (wait == Wait::Block)
      waitForBlock(kernel);
    before = &launch;
    copyLaunch(kernel, launch, numbers);
  }
  if (listsAhead(op))
    copyLists(kernel, kernel.add(step, copies.lookup(loop.getStep())));
  waitForGrid(kernel, module);
}

/// Of a step.
int64_t LoopKernel::numBarriers() const {
  int64_t count = 1 + (!listsAhead(op) && !lists.empty());
  for (size_t number = 1; number < launches.size(); ++number)
    count += waitBetween(launches[number - 1], launches[number]) == Wait::Grid;
  return count;
}

void LoopKernel::emit(KernelBuilder &kernel, func::FuncOp function,
                      int64_t numSlots) {
  // Each thread has a frame, which becomes registers.
  ownFrame = kernel.create<LLVM::AllocaOp>(
      kernel.pointer(), kernel.i64(), kernel.number(numSlots), /*alignment=*/8);
  for (auto *some : {&lists, &launches})
    for (StepCall &launch : *some)
      launch.list = kernel.create<LLVM::AllocaOp>(
          kernel.pointer(), kernel.i64(),
          kernel.number(static_cast<int64_t>(launch.reads->slots.size())),
          /*alignment=*/8);
  Value list = function.getArgument(0);
  // Here tables are those of the device.
  for (auto [number, isAddress] : slots)
    kernel.setSlot(ownFrame, number,
                   number == hostSlot
                       ? kernel.number(0)
                       : read(kernel, list, {number, isAddress}));
  copies.map(reads.frame, ownFrame);
  for (Value value : valuesFromAhead())
    copyFromAhead(kernel, value);
  keepColumns(kernel);
  Value first = copies.lookup(loop.getLowerBound());
  if (listsAhead(op)) {
    copyLists(kernel, first);
    waitForGrid(kernel, module);
  }
  kernel.loop(first, copies.lookup(loop.getUpperBound()),
              copies.lookup(loop.getStep()),
              [&](Value step) { copyStep(kernel, step); });
  kernel.create<func::ReturnOp>();
}

void GpuEmitter::noteStep(func::FuncOp function, bool isByExample,
                          bool isAhead) {
  auto loop = launched->getParentOfType<ScanOp>();
  if (!loop || !staysOnDevice(loop))
    return;
  Operation *op = loop.getBody().front().findAncestorOpInBlock(*launched);
  StepTime time = timeOfCommit;
  if (run.getPhase())
    time = {static_cast<int64_t>(*run.getPhase()),
            static_cast<int64_t>(*run.getTurn())};
  stepLaunches[function] = {time, op, isByExample, isAhead};
}

void GpuEmitter::emitLoops() {
  for (auto [op, loop] : loops) {
    int64_t bytes = real.getIntOrFloatBitWidth() / 8;
    int64_t keptBytes = keptBytesOf(op, bytes);
    LoopKernel own{module,       op,
                   loop,         reads,
                   readsOf,      stepLaunches,
                   keptProducts, keptBytes,
                   bytes,        storage.description().hostSlot};
    own.find();
    KernelBuilder kernel(op.getLoc(), module.getContext());
    func::FuncOp function =
        beginKernel(kernel, op, "loop", {kernel.pointer(), kernel.i64()});
    own.emit(kernel, function, storage.description().numSlots);
    function->setAttr(loopName, main.getI64IntegerAttr(own.numBarriers()));
    // This limit lets two blocks share a processor; CUDA would allow three, and
    // spill.
    function->setAttr(registersName, main.getI64IntegerAttr(255));
    main.setInsertionPoint(loop);
    callKernel(function, loop.getUpperBound(), blockThreads, 1,
               main.number(keptBytes));
  }
  for (auto &[kernel, product] : keptProducts) {
    product.keep.erase();
    product.multiply.erase();
  }
}
