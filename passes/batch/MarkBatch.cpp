//===- MarkBatch.cpp - one example -> many --------------------------------===//
//
// Decides for every array whether a batch has it once or once per example, and
// where to sum over examples. Types stay those of one example: a batch is a
// matter of storage (docs/rationale/decisions.md), so later passes see
// contractions without offsets.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Equations.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_BATCH
#include "passes/Passes.h.inc"
} // namespace fovea::attn

//===----------------------------------------------------------------------===//
// Once or per example
//===----------------------------------------------------------------------===//

static bool hasLength(ArrayAttr extents) {
  return llvm::any_of(extents, llvm::IsaPred<StringAttr>);
}

/// Returns whether an op of a program, except a loop, depends on the example.
/// The arrays that it reads are marked.
static bool dependsOnExample(Operation *op) {
  // Every example makes its own choices.
  if (isa<DataOp, ChoiceOp>(op))
    return true;
  if (auto compute = dyn_cast<ComputeOp>(op);
      compute && hasLength(compute.getExtents()))
    return true;
  // Each example has its own random numbers, unless they are shared.
  WalkResult walk = op->walk([](Operation *inner) {
    auto random = dyn_cast<RandomOp>(inner);
    if (isa<ExtentOp>(inner) || (random && !random.getShared()))
      return WalkResult::interrupt();
    for (Value operand : inner->getOperands())
      if (isa<ArrayType>(operand.getType()) && isPerExample(operand))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return walk.wasInterrupted();
}

static void markBlock(Block &block);

/// A loop has its carries once only if all of them are, and if it runs the same
/// number of steps for every example.
static void markLoop(Operation *loop, bool sameSteps) {
  bool once = sameSteps && llvm::none_of(loop->getOperands(), isPerExample);
  setBatch(loop, once ? BatchKind::once : BatchKind::each);
  Block &body = loop->getRegion(0).front();
  markBlock(body);
  if (!once)
    return;
  if (llvm::any_of(body.getTerminator()->getOperands(), isPerExample)) {
    setBatch(loop, BatchKind::each);
    markBlock(body);
  }
}

static void markBlock(Block &block) {
  for (Operation &op : block) {
    if (auto scan = dyn_cast<ScanOp>(op))
      markLoop(&op, isa<IntegerAttr>(scan.getExtent()));
    else if (isa<SearchOp>(op))
      markLoop(&op, false);
    else if (givesArrays(&op))
      setBatch(&op, dependsOnExample(&op) ? BatchKind::each : BatchKind::once);
  }
}

//===----------------------------------------------------------------------===//
// Sums over the examples
//===----------------------------------------------------------------------===//

/// The reads of a body that only adds up elements, at any indices: a sum over
/// examples can move into each of them.
static bool addsUp(Value value, SmallVectorImpl<ReadOp> &reads) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto read = dyn_cast<ReadOp>(op)) {
    reads.push_back(read);
    return read.getAlternatives().empty() && !read.getOtherwise();
  }
  if (isa<arith::AddFOp, arith::SubFOp>(op))
    return addsUp(op->getOperand(0), reads) && addsUp(op->getOperand(1), reads);
  return isa<arith::NegFOp>(op) && addsUp(op->getOperand(0), reads);
}

static Value sumOf(Value array);

/// Returns whether to sum `array` over the examples instead of its reader: all
/// have the same extents, and nothing else reads it.
static bool canSum(Value array) {
  return !hasLength(cast<ArrayType>(array.getType()).getShape()) &&
         array.hasOneUse() && isPerExample(array) &&
         !isa<BlockArgument>(array) && array.getDefiningOp() != nullptr;
}

/// A compute that only sums over the examples.
static Value addExamples(Value array) {
  ComputeOp sum =
      mapElements(array, "", [](OpBuilder &, Value number) { return number; });
  setBatch(sum, BatchKind::sum);
  return sum;
}

static Value sumOfCompute(ComputeOp op) {
  if (op.getReducer() == Reducer::sum) {
    setBatch(op, BatchKind::sum);
    return op;
  }
  if (op.getReducer() != Reducer::none)
    return addExamples(op);
  SmallVector<ReadOp> reads;
  bool goesIn =
      !op.hasCondition() && addsUp(op.getYielded(), reads) &&
      llvm::all_of(reads, [](ReadOp read) { return canSum(read.getArray()); });
  if (!goesIn) {
    setBatch(op, BatchKind::sum);
    return op;
  }
  for (ReadOp read : reads)
    read.getArrayMutable().set(sumOf(read.getArray()));
  setBatch(op, BatchKind::once);
  return op;
}

/// The sum over the examples of an array that each example has and nothing else
/// reads.
static Value sumOf(Value array) {
  return TypeSwitch<Operation *, Value>(array.getDefiningOp())
      .Case([](ComputeOp op) { return sumOfCompute(op); })
      .Case([&](ReshapeOp op) -> Value {
        if (!canSum(op.getOperand()))
          return addExamples(array);
        op.getOperandMutable().set(sumOf(op.getOperand()));
        setBatch(op, BatchKind::once);
        return op;
      })
      .Default([&](Operation *) { return addExamples(array); });
}

namespace {
struct Batch : fovea::attn::impl::BatchBase<Batch> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      Block &block = program.getBody().front();
      markBlock(block);
      for (auto output : llvm::to_vector(block.getOps<OutputOp>())) {
        Value value = output.getValue();
        if (!output.getTarget().starts_with("grad/") || !isPerExample(value))
          continue;
        output.getValueMutable().set(canSum(value) ? sumOf(value)
                                                   : addExamples(value));
      }
    }
  }
};
} // namespace
