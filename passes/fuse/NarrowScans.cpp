//===- NarrowScans.cpp - recurrences keep what their readers need ---------===//
//
// If all readers of a row use the same place of an axis, only that place
// is kept. A row that follows from other available rows by little
// arithmetic is recomputed at its reads. attn-trim-scans then removes
// unread rows.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Scans.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_NARROWSCANS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// Returns whether every user of an array reads it inside its extents; collects
/// the reads.
static bool findReads(Value array, SmallVectorImpl<ReadOp> &reads) {
  for (Operation *user : array.getUsers()) {
    ReadOp read = plainRead(user, array);
    if (!read || read.getOtherwise())
      return false;
    reads.push_back(read);
  }
  return !reads.empty();
}

static bool isCarried(ScanOp scan, Value row) {
  auto next = scan.getYield()->getOperands().take_front(scan.getNumCarries());
  return llvm::is_contained(next, row);
}

//===----------------------------------------------------------------------===//
// Rows that are read at one place
//===----------------------------------------------------------------------===//

/// The place of `axis` at which all of `reads` are.
static std::optional<int64_t> commonPlace(ArrayRef<ReadOp> reads,
                                          unsigned axis) {
  std::optional<int64_t> place;
  for (ReadOp read : reads) {
    APInt number;
    if (!matchPattern(read.getIndices()[axis], m_ConstantInt(&number)) ||
        (place && *place != number.getSExtValue()))
      return std::nullopt;
    place = number.getSExtValue();
  }
  return place;
}

/// Place `place` of axis `axis` of a row, as an array of its own.
static Value sliceOf(ScanOp scan, Value row, unsigned axis, int64_t place) {
  OpBuilder builder(scan.getYield());
  Location loc = row.getLoc();
  auto type = cast<ArrayType>(row.getType());
  SmallVector<Attribute> names, extents(type.getShape().getValue());
  extents.erase(extents.begin() + axis);
  for (unsigned i = 0; i < extents.size(); ++i)
    names.push_back(builder.getStringAttr("d" + Twine(i)));
  auto slice =
      ComputeOp::create(builder, loc, "", names, extents, {}, extents.size(),
                        Reducer::none, type.getElementType());
  for (NamedAttribute attribute : scan->getDiscardableAttrs())
    slice->setDiscardableAttr(attribute.getName(), attribute.getValue());
  builder.setInsertionPointToEnd(&slice.getBody().front());
  SmallVector<Value> at(slice.getBody().getArguments());
  at.insert(at.begin() + axis,
            arith::ConstantIndexOp::create(builder, loc, place));
  Value element = ReadOp::create(builder, loc, row, at);
  YieldOp::create(builder, loc, element);
  return slice.getResult();
}

namespace {
/// A row that keeps only one place.
struct Slice {
  unsigned stacked;
  unsigned axis; // of the stacked array
  SmallVector<ReadOp> reads;
};
} // namespace

/// Keeps only the used place of each row along one axis; returns the scan, if
/// there is such a row.
static ScanOp slice(ScanOp scan) {
  SmallVector<Slice> slices;
  SmallVector<Value> rows;
  SmallVector<int64_t> axes;
  for (unsigned i = 0; i < scan.getNumStacked(); ++i) {
    SmallVector<ReadOp> reads;
    Value row = scan.getStackedValue(i);
    if (isCarried(scan, row) || !isInside(row, scan) ||
        !findReads(scan.getStacked(i), reads))
      continue;
    unsigned loopAxis = scan.getAxes()[i];
    auto type = cast<ArrayType>(scan.getStacked(i).getType());
    for (unsigned axis = 0; axis < type.getRank(); ++axis) {
      auto extent = dyn_cast<IntegerAttr>(type.getExtent(axis));
      std::optional<int64_t> place;
      if (axis != loopAxis && extent && extent.getInt() > 1)
        place = commonPlace(reads, axis);
      if (!place || *place < 0 || *place >= extent.getInt())
        continue;
      bool isAfter = axis > loopAxis;
      rows.push_back(sliceOf(scan, row, axis - isAfter, *place));
      axes.push_back(isAfter ? loopAxis : loopAxis - 1);
      slices.push_back({i, axis, reads});
      break;
    }
  }
  if (slices.empty())
    return {};
  unsigned numStacked = scan.getNumStacked();
  scan = withRows(scan, rows, axes);
  for (auto [number, part] : llvm::enumerate(slices))
    for (ReadOp read : part.reads) {
      OpBuilder builder(read);
      SmallVector<Value> at(read.getIndices());
      at.erase(at.begin() + part.axis);
      Value element = ReadOp::create(builder, read.getLoc(),
                                     scan.getStacked(numStacked + number), at);
      read.replaceAllUsesWith(element);
      read.erase();
    }
  return scan;
}

//===----------------------------------------------------------------------===//
// Rows that follow from others
//===----------------------------------------------------------------------===//

/// The stacked array with the rows `row`, if it is used.
static std::optional<unsigned> neededOf(ScanOp scan, Value row) {
  for (unsigned i = 0; i < scan.getNumStacked(); ++i)
    if (scan.getStackedValue(i) == row && !scan.getStacked(i).use_empty())
      return i;
  return std::nullopt;
}

/// Returns whether an outside array is live at `reads` anyway: it is an input,
/// or has another read as late.
static bool isThereFor(Value array, ScanOp scan, ArrayRef<ReadOp> reads) {
  if (Operation *source = array.getDefiningOp();
      source && isa<ParamOp, DataOp>(source))
    return true;
  Block *block = scan->getBlock();
  auto stands = [&](Operation *user) {
    return block->findAncestorOpInBlock(*user);
  };
  return llvm::any_of(array.getUsers(), [&](Operation *user) {
    Operation *own = stands(user);
    return own && llvm::all_of(reads, [&](ReadOp read) {
             return !own->isBeforeInBlock(stands(read));
           });
  });
}

/// Returns whether a row is little arithmetic on values that are available at
/// its reads.
static bool follows(ComputeOp row, ScanOp scan, ArrayRef<ReadOp> reads) {
  if (row.getReducer() != Reducer::none || row.hasCondition() ||
      !row.getElementType().isF64() || !startsAtZero(row))
    return false;
  for (Operation &op : row.getBody().front().without_terminator()) {
    auto read = dyn_cast<ReadOp>(op);
    if (read ? !read.getAlternatives().empty() || read.getOtherwise()
             : !isa<arith::ConstantOp, arith::AddIOp, arith::SubIOp,
                    arith::MulIOp, arith::AddFOp, arith::SubFOp, arith::MulFOp,
                    arith::NegFOp>(op))
      return false;
    for (Value operand : op.getOperands()) {
      if (!isInside(operand, scan)) {
        if (isa<ArrayType>(operand.getType()) &&
            !isThereFor(operand, scan, reads))
          return false;
      } else if (operand.getParentBlock() != &row.getBody().front() &&
                 operand != scan.getLoopIndex() && !neededOf(scan, operand)) {
        return false;
      }
    }
  }
  // A sum would recompute it for each of its terms, and only sums of arrays are
  // matrix products.
  return llvm::all_of(reads, [](ReadOp read) {
    auto reader = read->getParentOfType<ComputeOp>();
    return reader && reader.getReducer() == Reducer::none &&
           batchOf(reader) != BatchKind::sum;
  });
}

/// The value of `row` at a read of its stacked array.
static void computeAt(ReadOp read, ComputeOp row, ScanOp scan, int64_t axis) {
  OpBuilder builder(read);
  SmallVector<Value> at(read.getIndices());
  Value step = at[axis];
  at.erase(at.begin() + axis);
  IRMapping values;
  values.map(scan.getLoopIndex(), step);
  values.map(row.getBody().getArguments(), at);
  for (Operation &op : row.getBody().front().without_terminator()) {
    auto inner = dyn_cast<ReadOp>(op);
    std::optional<unsigned> other;
    if (inner)
      other = neededOf(scan, inner.getArray());
    if (!other) {
      builder.clone(op, values);
      continue;
    }
    SmallVector<Value> place;
    for (Value index : inner.getIndices())
      place.push_back(values.lookupOrDefault(index));
    place.insert(place.begin() + scan.getAxes()[*other], step);
    Value element =
        ReadOp::create(builder, inner.getLoc(), scan.getStacked(*other), place);
    values.map(inner.getResult(), element);
  }
  read.replaceAllUsesWith(values.lookupOrDefault(row.getYielded()));
  read.erase();
}

/// From the last row to the first: a source may itself be recomputed.
static void computeRows(ScanOp scan) {
  for (Operation &op : llvm::reverse(scan.getBody().front())) {
    auto row = dyn_cast<ComputeOp>(op);
    if (!row || isCarried(scan, row.getResult()))
      continue;
    for (unsigned i = 0; i < scan.getNumStacked(); ++i) {
      SmallVector<ReadOp> reads;
      if (scan.getStackedValue(i) != row.getResult() ||
          !findReads(scan.getStacked(i), reads) || !follows(row, scan, reads))
        continue;
      for (ReadOp read : reads)
        computeAt(read, row, scan, scan.getAxes()[i]);
    }
  }
}

namespace {
struct NarrowScans : fovea::attn::impl::NarrowScansBase<NarrowScans> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    SmallVector<ScanOp> scans;
    for (auto program : getOperation().getOps<ProgramOp>())
      program.walk([&](ScanOp op) { scans.push_back(op); });
    for (ScanOp scan : scans) {
      while (ScanOp narrower = slice(scan))
        scan = narrower;
      computeRows(scan);
    }
  }
};
} // namespace
