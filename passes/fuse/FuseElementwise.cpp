//===- FuseElementwise.cpp - chains of elementwise equations become one ---===//

#include "dialect/conditions/Conditions.h"
#include "passes/Passes.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Equations.h"
#include "passes/analysis/Product.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// A body that is evaluated once per place of its result, unless a condition
/// makes it zero.
static bool isElementwise(ComputeOp op) {
  return op.getReducer() == Reducer::none && batchOf(op) != BatchKind::sum &&
         startsAtZero(op);
}

/// The array that `op` copies, if a batch stores both in the same way.
static Value copiedInBatch(ComputeOp op) {
  Value source = copiedBy(op);
  bool isSame = source && batchOf(op) != BatchKind::sum &&
                isPerExample(source) == (batchOf(op) == BatchKind::each);
  return isSame ? source : Value();
}

/// What the body of `op` reads twice is read once.
static void mergeReads(ComputeOp op) {
  SmallVector<ReadOp> kept;
  for (auto read :
       llvm::make_early_inc_range(op.getBody().front().getOps<ReadOp>())) {
    auto same = llvm::find_if(kept, [&](ReadOp other) {
      return other.getArray() == read.getArray() &&
             llvm::equal(other->getOperands(), read->getOperands()) &&
             other->getAttrDictionary() == read->getAttrDictionary();
    });
    if (same == kept.end()) {
      kept.push_back(read);
      continue;
    }
    read.replaceAllUsesWith(same->getResult());
    read.erase();
  }
}

/// The single reader of `op`, if it reads it once, in the same loop, and
/// exactly one element for each of its own: then nothing is computed twice.
static ReadOp onlyRead(ComputeOp op) {
  if (!op.getResult().hasOneUse())
    return {};
  auto read = dyn_cast<ReadOp>(*op.getResult().getUsers().begin());
  if (!read || read.getArray() != op.getResult() ||
      !read.getAlternatives().empty() || read.getOtherwise())
    return {};
  auto reader = read->getParentOfType<ComputeOp>();
  if (!reader || reader->getBlock() != op->getBlock() ||
      read->getBlock() != &reader.getBody().front() ||
      batchOf(reader) != batchOf(op) || isMatrixProduct(reader) ||
      reader.getNumIndices() != op.getNumIndices() || !startsAtZero(reader))
    return {};
  // Its indices, in any order.
  llvm::SmallDenseSet<Value> seen;
  bool isInOrder = true;
  for (auto [number, index] : llvm::enumerate(read.getIndices())) {
    AccessIndex at = classify(index, reader);
    if (at.kind != AccessIndex::Iterator || at.offset != 0 ||
        reader.getExtents()[at.iterator] != op.getExtents()[number] ||
        !seen.insert(index).second)
      return {};
    isInOrder &= at.iterator == number;
  }
  // Elements that the reader never reads need not be zero.
  if (op.hasCondition() &&
      (!isInOrder ||
       !follows(op.getCondition().front().getTerminator()->getOperand(0), op,
                guardsOf(reader))))
    return {};
  return read;
}

namespace {
/// A read of an array with one axis, perhaps through views, at an index of the
/// reader plus a constant.
struct PartRead {
  ReadOp read;
  int64_t ahead; // of the last index of the read
  int64_t first; // place of the array
};
} // namespace

/// Returns whether every use of `array`, the result of `op` or a view of it, is
/// a read of consecutive places; collects these.
static bool findParts(ComputeOp op, Value array,
                      SmallVectorImpl<PartRead> &parts) {
  ArrayRef<Attribute> shape =
      cast<ArrayType>(array.getType()).getShape().getValue();
  for (Operation *user : array.getUsers()) {
    if (auto reshape = dyn_cast<ReshapeOp>(user)) {
      if (reshape->getBlock() != op->getBlock() ||
          !findParts(op, reshape.getResult(), parts))
        return false;
      continue;
    }
    ReadOp read = plainRead(user, array);
    auto reader = read ? read->getParentOfType<ComputeOp>() : ComputeOp();
    if (!reader || read.getOtherwise() ||
        reader->getBlock() != op->getBlock() ||
        read->getBlock() != &reader.getBody().front() ||
        batchOf(reader) != batchOf(op) || isMatrixProduct(reader) ||
        reader.getNumIndices() != 1 || reader.getLower()[0] != 0)
      return false;
    PartRead part = {read, 0, 0};
    int64_t size = 1;
    for (size_t axis = shape.size(); axis-- > 0;) {
      AccessIndex at = classify(read.getIndices()[axis], reader);
      auto extent = dyn_cast<IntegerAttr>(shape[axis]);
      bool isLast = axis + 1 == shape.size();
      if (!extent ||
          at.kind != (isLast ? AccessIndex::Iterator : AccessIndex::Constant))
        return false;
      part.first += at.offset * size;
      if (!isLast)
        part.ahead += at.offset * size;
      size *= extent.getInt();
    }
    parts.push_back(part);
  }
  return true;
}

/// Returns whether evaluating a body is as cheap as reading its value.
static bool isCheap(ComputeOp op) {
  return llvm::count_if(op.getBody().front().without_terminator(),
                        [](Operation &inner) { return !isa<ReadOp>(inner); }) <=
         1;
}

/// The reads of an op that each access a part of it, such as the gates of a
/// recurrence: no element is computed twice in them, or it is cheap.
static SmallVector<PartRead> readsOfParts(ComputeOp op) {
  SmallVector<PartRead> parts;
  if (op.getNumIndices() != 1 || op.hasCondition() ||
      !isa<IntegerAttr>(op.getExtents()[0]) ||
      !findParts(op, op.getResult(), parts))
    return {};
  llvm::sort(parts, [](const PartRead &a, const PartRead &b) {
    return a.first < b.first;
  });
  int64_t size = cast<IntegerAttr>(op.getExtents()[0]).getInt(), end = 0;
  for (PartRead &part : parts) {
    auto reader = part.read->getParentOfType<ComputeOp>();
    auto width = dyn_cast<IntegerAttr>(reader.getExtents()[0]);
    bool isDistinct = part.first >= end || isCheap(op);
    if (!width || width.getInt() == size || !isDistinct)
      return {};
    end = part.first + width.getInt();
  }
  return parts;
}

namespace {
struct FuseElementwise
    : fovea::attn::impl::FuseElementwiseBase<FuseElementwise> {
  void fuse(ComputeOp op) {
    if (Value source = copiedInBatch(op)) {
      op.getResult().replaceAllUsesWith(source);
      op.erase();
      return;
    }
    // What is rounded is worth storing: it takes two bytes.
    if (!isElementwise(op) || op.getYielded().getDefiningOp<RoundedOp>())
      return;
    ReadOp read = onlyRead(op);
    if (!read) {
      fuseParts(op);
      return;
    }
    OpBuilder builder(read);
    read.replaceAllUsesWith(
        inlineRegion(builder, op.getBody(), read.getIndices()));
    read.erase();
    op.erase();
  }

  void fuseParts(ComputeOp op) {
    SmallVector<PartRead> parts = readsOfParts(op);
    for (PartRead &part : parts) {
      OpBuilder builder(part.read);
      Value index = part.read.getIndices().back();
      if (part.ahead != 0)
        index =
            arith::AddIOp::create(builder, part.read.getLoc(), index,
                                  arith::ConstantIndexOp::create(
                                      builder, part.read.getLoc(), part.ahead));
      part.read.replaceAllUsesWith(inlineRegion(builder, op.getBody(), index));
      part.read.erase();
    }
    if (parts.empty())
      return;
    eraseViews(op.getResult());
    op.erase();
  }

  /// The views of an array that nobody reads.
  void eraseViews(Value array) {
    for (Operation *user : llvm::make_early_inc_range(array.getUsers())) {
      eraseViews(user->getResult(0));
      user->erase();
    }
  }

  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    for (auto program : getOperation().getOps<ProgramOp>()) {
      SmallVector<ComputeOp> ops;
      program.walk([&](ComputeOp op) { ops.push_back(op); });
      // The gates of a step stay with the products that they read.
      for (ComputeOp op : ops)
        if (isa<ProgramOp>(op->getParentOp()))
          mergeReads(op);
      // In order: an op's inputs are already inlined when it is processed.
      for (ComputeOp op : ops)
        fuse(op);
    }
  }
};
} // namespace
