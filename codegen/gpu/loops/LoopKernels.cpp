//===- LoopKernels.cpp - loops that are one launch ------------------------===//
//
// The function of the program has a loop of launches. Of one that stays on the
// device this makes a kernel besides: every thread goes through the steps, with
// the slots of the frame in registers, and through the kernels of a step, whose
// bodies are copied. Between two phases all blocks wait for each other.
//
// The loop of launches stays where it is, for drivers that refuse the kernel.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/program/GpuEmitter.h"
#include "codegen/gpu/program/Threads.h"
#include "passes/memory/KeepLoops.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

/// A kernel gets 4096 bytes: its slots, and its work units.
static constexpr size_t mostSlots = 500;

void GpuEmitter::noteLoop(ScanOp op, scf::ForOp loop) {
  if (!staysOnDevice(op))
    return;
  loop->setAttr(loopName, main.getUnitAttr());
  loops.push_back({op, loop});
}

/// The slot of a frame that an address is of.
static std::optional<int64_t> slotAt(Value address, Value frame) {
  if (address == frame)
    return 0;
  auto place = address.getDefiningOp<LLVM::GEPOp>();
  APInt number;
  if (place && place.getBase() == frame &&
      place.getDynamicIndices().size() == 1 &&
      matchPattern(place.getDynamicIndices()[0], m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}

namespace {
/// One call of the loop that hands a kernel to the device.
struct Phase {
  func::CallOp call;
  func::FuncOp kernel;
  /// Of the op that it is part of, which of the launches of that, and of all.
  int64_t phase = 0, part = 0, number = 0;

  /// Whether neither needs the other.
  bool isBeside(const Phase &other) const {
    return phase == other.phase && part == other.part;
  }
};

struct LoopKernel {
  ModuleOp module;
  scf::ForOp loop;
  Value frame; // of the program
  SmallVector<Phase> phases = {};
  /// The slots that are read, and whether any as an address.
  llvm::MapVector<int64_t, bool> slots = {};
  IRMapping copies = {};

  /// False: it cannot be one launch.
  bool find();
  SmallVector<Value> valuesFromAhead();
  Value copyFromAhead(KernelBuilder &kernel, Value value);
  void copyStep(KernelBuilder &kernel, Value ownFrame);
  int64_t numBarriers() const;
  void emit(KernelBuilder &kernel, func::FuncOp function, int64_t numSlots);
  void addSlotOf(LLVM::LoadOp load, Value ownFrame);
  bool addSlotsOf(Operation *root, Value ownFrame);
  bool addSlotsOf(Value value);
};
} // namespace

void LoopKernel::addSlotOf(LLVM::LoadOp load, Value ownFrame) {
  if (auto slot = slotAt(load.getAddr(), ownFrame))
    slots[*slot] |= isa<LLVM::LLVMPointerType>(load.getType());
}

/// False: the frame is used for something else than its slots.
bool LoopKernel::addSlotsOf(Operation *root, Value ownFrame) {
  bool good = true;
  root->walk([&](Operation *op) {
    if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
      addSlotOf(load, ownFrame);
    } else if (auto place = dyn_cast<LLVM::GEPOp>(op)) {
      if (place.getBase() == ownFrame)
        good &= slotAt(place.getResult(), ownFrame).has_value();
    }
  });
  return good;
}

/// Adds the slots that a value from ahead of the loop comes from. False: it
/// comes from something else.
bool LoopKernel::addSlotsOf(Value value) {
  if (value == frame)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0 || isa<func::CallOp>(op))
    return false;
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    addSlotOf(load, frame);
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return addSlotsOf(operand); });
}

bool LoopKernel::find() {
  DenseMap<int64_t, int64_t> parts;
  int64_t before = -1;
  for (Operation &op : *loop.getBody()) {
    auto call = dyn_cast<func::CallOp>(op);
    if (!call) {
      if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op))
        return false;
      continue;
    }
    auto cast = call.getOperand(1).getDefiningOp<UnrealizedConversionCastOp>();
    auto address = cast.getInputs()[0].getDefiningOp<func::ConstantOp>();
    auto kernel = module.lookupSymbol<func::FuncOp>(address.getValue());
    APInt shared;
    bool sharesNoMore =
        matchPattern(call.getOperand(4), m_ConstantInt(&shared)) && shared == 0;
    bool hasBlocks = kernel->getAttrOfType<IntegerAttr>(threadsName).getInt() ==
                     blockThreads;
    bool hasStack =
        kernel.walk([](LLVM::AllocaOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (!sharesNoMore || !hasBlocks || hasStack ||
        !addSlotsOf(kernel, kernel.getArgument(0)))
      return false;
    auto number = kernel->getAttrOfType<IntegerAttr>(stepPartName).getInt();
    int64_t phase = kernel->getAttrOfType<IntegerAttr>(stepPhaseName).getInt();
    int64_t part = 0;
    if (phase != phaseAhead) {
      part = parts[number] = number == before ? parts[number] + 1 : 0;
      before = number;
    }
    phases.push_back(
        {call, kernel, phase, part, static_cast<int64_t>(phases.size())});
  }
  llvm::sort(phases, [](const Phase &a, const Phase &b) {
    return std::tie(a.phase, a.part, a.number) <
           std::tie(b.phase, b.part, b.number);
  });
  for (Value value : valuesFromAhead())
    if (!addSlotsOf(value))
      return false;
  return !phases.empty() && addSlotsOf(loop, frame) &&
         slots.size() <= mostSlots;
}

/// What hands a kernel over is not copied.
static bool isOfLaunch(Operation &op) {
  return isa<func::CallOp, func::ConstantOp, UnrealizedConversionCastOp>(op);
}

/// What a step, and the number of steps, read that stands ahead of the loop.
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
  for (Phase &phase : phases)
    add(phase.call.getOperand(3));
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

/// The numbers of the step, then its kernels, phase by phase.
void LoopKernel::copyStep(KernelBuilder &kernel, Value ownFrame) {
  for (Operation &op : loop.getBody()->without_terminator())
    if (!isOfLaunch(op))
      kernel.clone(op, copies);
  const Phase *before = nullptr;
  for (Phase &phase : phases) {
    if (before && !before->isBeside(phase))
      waitForGrid(kernel, module);
    before = &phase;
    IRMapping inner;
    inner.map(phase.kernel.getArgument(0), ownFrame);
    inner.map(phase.kernel.getArgument(1),
              copies.lookup(phase.call.getOperand(3)));
    for (Operation &op : phase.kernel.getBody().front().without_terminator())
      kernel.clone(op, inner);
  }
  waitForGrid(kernel, module);
}

/// Of a step.
int64_t LoopKernel::numBarriers() const {
  int64_t count = 1;
  for (size_t number = 1; number < phases.size(); ++number)
    count += !phases[number - 1].isBeside(phases[number]);
  return count;
}

void LoopKernel::emit(KernelBuilder &kernel, func::FuncOp function,
                      int64_t numSlots) {
  // Each thread has a frame, which becomes registers.
  Value ownFrame = kernel.create<LLVM::AllocaOp>(
      kernel.pointer(), kernel.i64(), kernel.number(numSlots), /*alignment=*/8);
  Value list = function.getArgument(0);
  for (auto [slot, isAddress] : slots) {
    auto number = static_cast<int>(slot);
    kernel.setSlot(ownFrame, number,
                   isAddress ? kernel.pointerSlot(list, number)
                             : kernel.slot(list, number));
  }
  copies.map(frame, ownFrame);
  for (Value value : valuesFromAhead())
    copyFromAhead(kernel, value);
  kernel.loop(copies.lookup(loop.getLowerBound()),
              copies.lookup(loop.getUpperBound()),
              copies.lookup(loop.getStep()), [&](Value step) {
                copies.map(loop.getInductionVar(), step);
                copyStep(kernel, ownFrame);
              });
  kernel.create<func::ReturnOp>();
}

void GpuEmitter::notePhase(func::FuncOp function) {
  auto loop = launched->getParentOfType<ScanOp>();
  if (!loop || !staysOnDevice(loop))
    return;
  Block &body = loop.getBody().front();
  Operation *op = body.findAncestorOpInBlock(*launched);
  function->setAttr(stepPhaseName, main.getI64IntegerAttr(phaseOf(op)));
  function->setAttr(stepPartName, main.getI64IntegerAttr(std::distance(
                                      body.begin(), op->getIterator())));
}

void GpuEmitter::emitLoops() {
  for (auto [op, loop] : loops) {
    Value programFrame = loop->getParentOfType<func::FuncOp>().getArgument(0);
    LoopKernel own{module, loop, programFrame};
    if (!own.find()) {
      loop->removeAttr(loopName);
      continue;
    }
    KernelBuilder kernel(op.getLoc(), module.getContext());
    func::FuncOp function =
        beginKernel(kernel, op, "loop", {kernel.pointer(), kernel.i64()});
    own.emit(kernel, function, storage.description().numSlots);
    function->setAttr(loopName, main.getI64IntegerAttr(own.numBarriers()));
    main.setInsertionPoint(loop);
    callKernel(function, loop.getUpperBound(), blockThreads, 1);
  }
}
