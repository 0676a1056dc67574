//===- CarrySums.cpp - sums over steps are added up step by step ----------===//
//
// If a sum after a recurrence is the only reason to keep large rows (T x S x
// A), the recurrence carries the sum instead: each step adds its row's
// contribution while the row is available. attn-trim-scans then removes unread
// rows.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Equations.h"
#include "passes/analysis/Scans.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_CARRYSUMS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// The assumed value of a length in size comparisons.
static constexpr int64_t usualLength = 64;

//===----------------------------------------------------------------------===//
// Which sums
//===----------------------------------------------------------------------===//

namespace {
/// A sum that can be carried through a scan.
struct Sum {
  ComputeOp op;
  ScanOp scan;
  unsigned index; // of the sum, which is that of the loop
  /// Large arrays that it reads row by row.
  SmallVector<ReadOp> wide;
  /// The indices of the result, in the order of the axes of the carry.
  SmallVector<unsigned> order;
};
} // namespace

static ArrayRef<Attribute> shapeOf(ReadOp read) {
  return read.getArrayType().getShape().getValue();
}

static double usualSize(ArrayRef<Attribute> extents) {
  double size = 1;
  for (Attribute extent : extents) {
    auto number = dyn_cast<IntegerAttr>(extent);
    size *= number ? number.getInt() : usualLength;
  }
  return size;
}

/// Returns which stacked array of `scan` a read accesses, if any.
static std::optional<unsigned> stackedOf(ReadOp read, ScanOp scan) {
  auto result = dyn_cast<OpResult>(read.getArray());
  if (!scan || !result || result.getOwner() != scan ||
      result.getResultNumber() < scan.getNumCarries())
    return std::nullopt;
  return result.getResultNumber() - scan.getNumCarries();
}

/// Returns whether `read` takes row `step` of a scan's stacked array.
static bool readsRow(ReadOp read, Value step) {
  auto scan = read.getArray().getDefiningOp<ScanOp>();
  std::optional<unsigned> stacked = stackedOf(read, scan);
  return stacked && read.getAlternatives().empty() && !read.getOtherwise() &&
         read.getIndices()[scan.getAxes()[*stacked]] == step;
}

/// The last scan that yields a row which `op` reads by its index `index`.
static ScanOp lastScan(ComputeOp op, unsigned index) {
  ScanOp last;
  op.getBody().walk([&](ReadOp read) {
    if (!readsRow(read, op.getIndex(index)))
      return;
    auto scan = read.getArray().getDefiningOp<ScanOp>();
    if (!last || last->isBeforeInBlock(scan))
      last = scan;
  });
  return last;
}

/// Returns whether a step of the scan has all inputs of the sum; collects the
/// large rows among them.
static bool isThereInStep(Sum &sum) {
  WalkResult walk = sum.op.getBody().walk([&](ReadOp read) {
    bool takesRow = readsRow(read, sum.op.getIndex(sum.index));
    for (Value operand : read->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (!isa<ArrayType>(operand.getType()) || !source)
        continue;
      if (source == sum.scan ? !takesRow : !source->isBeforeInBlock(sum.scan))
        return WalkResult::interrupt();
    }
    if (takesRow && isWide(read.getArray()))
      sum.wide.push_back(read);
    return WalkResult::advance();
  });
  return !walk.wasInterrupted() && !sum.wide.empty();
}

/// `op` as a sum that can be carried through a scan, and is no larger than the
/// rows that it adds up: one of derivatives, which has no order yet.
static std::optional<Sum> carriedSum(ComputeOp op, ProgramOp program) {
  if (op.getReducer() != Reducer::sum || op.hasCondition() ||
      op.getOrderAttr() || !op.getElementType().isF64() ||
      llvm::any_of(op.getExtents(), [&](Attribute extent) {
        return variesInside(extent, program);
      }))
    return std::nullopt;
  ArrayRef<Attribute> extents = op.getExtents().getValue();
  unsigned numParallel = op.getNumParallel();
  for (unsigned index = numParallel; index < extents.size(); ++index) {
    Sum sum{op, lastScan(op, index), index, {}, {}};
    if (!sum.scan || sum.scan.getExtent() != extents[index] ||
        op.getLower()[index] != 0 || batchOf(sum.scan) != BatchKind::each ||
        !isThereInStep(sum))
      continue;
    ReadOp widest = *llvm::max_element(sum.wide, [](ReadOp a, ReadOp b) {
      return usualSize(shapeOf(a)) < usualSize(shapeOf(b));
    });
    if (usualSize(extents.take_front(numParallel)) * usualLength >
        usualSize(shapeOf(widest)))
      continue;
    // Neighbours in the rows are neighbours in the carry.
    sum.order = llvm::to_vector(llvm::seq(numParallel));
    auto *last = llvm::find_if(sum.order, [&](unsigned own) {
      return op.getIndex(own) == widest.getIndices().back();
    });
    if (last != sum.order.end())
      std::rotate(last, last + 1, sum.order.end());
    return sum;
  }
  return std::nullopt;
}

/// Returns whether carrying all of `sums` removes the large rows, or whether
/// they are in the scan anyway.
static bool pays(const Sum &sum, ArrayRef<Sum> sums) {
  return llvm::any_of(sum.wide, [&](ReadOp read) {
    return llvm::all_of(read.getArray().getUsers(), [&](Operation *user) {
      return sum.scan->isProperAncestor(user) ||
             llvm::any_of(sums, [&](const Sum &other) {
               return other.scan == sum.scan && other.op->isAncestor(user);
             });
    });
  });
}

//===----------------------------------------------------------------------===//
// Carrying them
//===----------------------------------------------------------------------===//

/// An equation over `indices` of `sum`. The first `numParallel` are the indices
/// of its result.
static ComputeOp makeCompute(OpBuilder &builder, Sum sum,
                             ArrayRef<unsigned> indices, unsigned numParallel,
                             BatchKind kind) {
  ComputeOp op =
      makeOver(builder, sum.op, indices, numParallel,
               numParallel == indices.size() ? Reducer::none : Reducer::sum);
  setBatch(op, kind);
  return op;
}

/// An array over `indices` of `sum` with the elements that `element` computes.
static Value
makeElements(OpBuilder builder, const Sum &sum, ArrayRef<unsigned> indices,
             BatchKind kind,
             function_ref<Value(OpBuilder &, ValueRange)> element) {
  ComputeOp array = makeCompute(builder, sum, indices, indices.size(), kind);
  builder.setInsertionPointToEnd(&array.getBody().front());
  Value value = element(builder, array.getBody().getArguments());
  YieldOp::create(builder, array.getLoc(), value);
  return array.getResult();
}

/// Zeros for the carry: once, unless examples differ in its size.
static Value makeZeros(OpBuilder builder, Sum sum) {
  bool hasLength = llvm::any_of(sum.order, [&](unsigned index) {
    return isa<StringAttr>(sum.op.getExtents()[index]);
  });
  return makeElements(
      builder, sum, sum.order, hasLength ? BatchKind::each : BatchKind::once,
      [&](OpBuilder &body, ValueRange) {
        return arith::ConstantOp::create(body, sum.op.getLoc(),
                                         body.getF64FloatAttr(0.0))
            .getResult();
      });
}

/// The body of `sum` at the step of its scan, at the end of `builder`'s block.
static Value cloneStep(OpBuilder &builder, Sum sum, IRMapping &values) {
  ScanOp scan = sum.scan;
  values.map(sum.op.getIndex(sum.index), scan.getLoopIndex());
  SmallVector<ReadOp> reads;
  for (Operation &inner : sum.op.getBody().front().without_terminator())
    builder.clone(inner, values)->walk([&](ReadOp read) {
      if (stackedOf(read, scan))
        reads.push_back(read);
    });
  Value added = values.lookupOrDefault(sum.op.getYielded());
  for (ReadOp read : reads) {
    unsigned stacked = *stackedOf(read, scan);
    Value element =
        readRow(read, scan.getStackedValue(stacked), scan.getAxes()[stacked]);
    if (added == read.getResult())
      added = element;
    read.erase();
  }
  return added;
}

/// After the rows that a step adds, which are then available.
static OpBuilder afterRows(Sum sum) {
  Block &body = sum.scan.getBody().front();
  Operation *last = nullptr;
  sum.op.getBody().walk([&](ReadOp read) {
    std::optional<unsigned> stacked = stackedOf(read, sum.scan);
    Operation *source =
        stacked ? sum.scan.getStackedValue(*stacked).getDefiningOp() : nullptr;
    if (source && source->getBlock() == &body &&
        (!last || last->isBeforeInBlock(source)))
      last = source;
  });
  return last ? OpBuilder(last->getNextNode()) : OpBuilder::atBlockBegin(&body);
}

/// The carry after a step: `carry` plus the step's contribution.
static Value addStep(Sum sum, Value carry) {
  OpBuilder builder = afterRows(sum);
  Location loc = sum.op.getLoc();
  SmallVector<unsigned> indices(sum.order);
  for (unsigned index = sum.order.size(); index < sum.op.getNumIndices();
       ++index)
    if (index != sum.index)
      indices.push_back(index);
  IRMapping values;
  Value part;
  if (indices.size() > sum.order.size()) {
    ComputeOp step =
        makeCompute(builder, sum, indices, sum.order.size(), BatchKind::each);
    OpBuilder body = OpBuilder::atBlockEnd(&step.getBody().front());
    for (auto [number, index] : llvm::enumerate(indices))
      values.map(sum.op.getIndex(index), step.getIndex(number));
    YieldOp::create(body, loc, cloneStep(body, sum, values));
    part = step.getResult();
  }
  return makeElements(
      builder, sum, sum.order, BatchKind::each,
      [&](OpBuilder &body, ValueRange at) {
        Value before = ReadOp::create(body, loc, carry, at);
        Value added;
        if (part) {
          added = ReadOp::create(body, loc, part, at);
        } else {
          for (auto [number, index] : llvm::enumerate(sum.order))
            values.map(sum.op.getIndex(index), at[number]);
          added = cloneStep(body, sum, values);
        }
        return arith::AddFOp::create(body, loc, before, added).getResult();
      });
}

/// The value of `sum` if the last carry is `total`.
static Value finish(Sum sum, Value total) {
  BatchKind kind = batchOf(sum.op);
  if (kind == BatchKind::each && llvm::is_sorted(sum.order))
    return total;
  auto indices = llvm::to_vector(llvm::seq<unsigned>(0, sum.order.size()));
  return makeElements(
      OpBuilder(sum.op), sum, indices, kind,
      [&](OpBuilder &builder, ValueRange own) {
        SmallVector<Value> at;
        for (unsigned index : sum.order)
          at.push_back(own[index]);
        return ReadOp::create(builder, sum.op.getLoc(), total, at).getResult();
      });
}

/// Carries `sums`, all through one scan.
static void carry(MutableArrayRef<Sum> sums) {
  ScanOp scan = sums.front().scan;
  SmallVector<Value> inits;
  for (const Sum &sum : sums)
    inits.push_back(makeZeros(OpBuilder(scan), sum));
  unsigned first = scan.getNumCarries();
  scan = withCarries(scan, inits);
  // From the last to the first, because each is inserted right after its rows.
  for (unsigned number = sums.size(); number-- > 0;) {
    sums[number].scan = scan;
    Value next = addStep(sums[number], scan.getCarry(first + number));
    scan.getYield()->setOperand(first + number, next);
  }
  for (auto [number, sum] : llvm::enumerate(sums)) {
    sum.op.getResult().replaceAllUsesWith(
        finish(sum, scan.getResult(first + number)));
    sum.op.erase();
  }
}

namespace {
struct CarrySums : fovea::attn::impl::CarrySumsBase<CarrySums> {
  void runOnProgram(ProgramOp program) {
    SmallVector<Sum> sums;
    for (auto op : program.getOps<ComputeOp>())
      if (std::optional<Sum> sum = carriedSum(op, program))
        sums.push_back(*sum);
    // If one of them does not pay off, the rows that it reads stay.
    size_t before;
    do {
      before = sums.size();
      SmallVector<Sum> rest;
      llvm::copy_if(sums, std::back_inserter(rest),
                    [&](const Sum &sum) { return pays(sum, sums); });
      sums = std::move(rest);
    } while (sums.size() != before);
    for (auto scan : llvm::to_vector(program.getOps<ScanOp>())) {
      SmallVector<Sum> own;
      llvm::copy_if(sums, std::back_inserter(own),
                    [&](const Sum &sum) { return sum.scan == scan; });
      if (!own.empty())
        carry(own);
    }
  }

  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    for (auto program : getOperation().getOps<ProgramOp>())
      runOnProgram(program);
  }
};
} // namespace
