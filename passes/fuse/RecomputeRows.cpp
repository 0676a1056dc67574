//===- RecomputeRows.cpp - large rows are computed where they are read ----===//
//
// If little arithmetic computes a T x S x A row from kept or small arrays,
// recomputing it is cheaper than memory traffic. Applies only to rows that one
// later scan reads, step by step.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/CommonFunctions.h"
#include "passes/analysis/Scans.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_RECOMPUTEROWS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// The maximum number of sum terms, and of costly functions, that an element
/// may recompute.
static constexpr int64_t mostTerms = 16, mostFunctions = 2;

//===----------------------------------------------------------------------===//
// Which rows
//===----------------------------------------------------------------------===//

namespace {
/// A row to recompute.
struct Row {
  unsigned stacked;
  ScanOp reader;
  SmallVector<ReadOp> reads;
  /// The equations that compute it, and their inputs from the same step.
  SmallVector<ComputeOp> equations;
  llvm::SetVector<Value> kept;
};
} // namespace

/// The only scan that reads an array, at its own step, and the reads.
static ScanOp onlyReader(ScanOp scan, unsigned stacked,
                         SmallVectorImpl<ReadOp> &reads) {
  Value array = scan.getStacked(stacked);
  ScanOp reader;
  for (Operation *user : array.getUsers()) {
    ReadOp read = plainRead(user, array);
    auto equation = user->getParentOfType<ComputeOp>();
    auto around =
        equation ? dyn_cast<ScanOp>(equation->getParentOp()) : ScanOp();
    if (!read || read.getOtherwise() || !around ||
        around->getBlock() != scan->getBlock() ||
        (reader && reader != around) ||
        read.getIndices()[scan.getAxes()[stacked]] != around.getLoopIndex())
      return {};
    reader = around;
    reads.push_back(read);
  }
  return reader;
}

/// Returns whether an element of `op` is cheap to compute.
static bool isCheap(ComputeOp op, int64_t &numFunctions) {
  int64_t terms = 1;
  for (Attribute extent :
       op.getExtents().getValue().drop_front(op.getNumParallel())) {
    auto number = dyn_cast<IntegerAttr>(extent);
    terms *= number ? number.getInt() : mostTerms + 1;
  }
  if ((op.getReducer() != Reducer::none && op.getReducer() != Reducer::sum) ||
      terms > mostTerms || op.hasCondition())
    return false;
  op.getBody().walk(
      [&](Operation *inner) { numFunctions += isCostly(inner) ? terms : 0; });
  return numFunctions <= mostFunctions;
}

static bool hasLength(Value array) {
  return llvm::any_of(cast<ArrayType>(array.getType()).getShape(),
                      llvm::IsaPred<StringAttr>);
}

/// Collects what must be recomputed for `value`, a row of `scan` of maximum
/// size; returns false if it is too much.
static bool findEquations(ScanOp scan, Value value, Row &row,
                          int64_t &numFunctions) {
  auto op = value.getDefiningOp<ComputeOp>();
  if (!op || !isCheap(op, numFunctions))
    return false;
  if (llvm::is_contained(row.equations, op))
    return true;
  WalkResult walk = op.getBody().walk([&](ReadOp read) {
    for (Value operand : read->getOperands()) {
      if (!isa<ArrayType>(operand.getType()) || !isInside(operand, scan))
        continue;
      if (isa<BlockArgument>(operand) || !read.getAlternatives().empty() ||
          read.getOtherwise())
        return WalkResult::interrupt();
      if (!hasLength(operand) || stackedOf(scan, operand))
        row.kept.insert(operand);
      else if (!findEquations(scan, operand, row, numFunctions))
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  row.equations.push_back(op);
  return !walk.wasInterrupted();
}

static std::optional<Row> findRow(ScanOp scan) {
  for (unsigned i = 0; i < scan.getNumStacked(); ++i) {
    Row row;
    row.stacked = i;
    int64_t numFunctions = 0;
    if (!isWide(scan.getStacked(i)))
      continue;
    row.reader = onlyReader(scan, i, row.reads);
    if (row.reader && row.reader.getExtent() == scan.getExtent() &&
        findEquations(scan, scan.getStackedValue(i), row, numFunctions))
      return row;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Computing them again
//===----------------------------------------------------------------------===//

/// Reads the step of the full array instead of the row.
static void readStep(ReadOp read, ScanOp scan, unsigned stacked, Value step) {
  OpBuilder builder(read);
  SmallVector<Value> at(read.getIndices());
  at.insert(at.begin() + scan.getAxes()[stacked], step);
  Value element =
      ReadOp::create(builder, read.getLoc(), scan.getStacked(stacked), at);
  read.replaceAllUsesWith(element);
  read.erase();
}

static ScanOp computeAgain(ScanOp scan, Row row) {
  SmallVector<Value> rows;
  for (Value value : row.kept)
    if (!stackedOf(scan, value))
      rows.push_back(value);
  scan = withRows(scan, rows, SmallVector<int64_t>(rows.size(), 0));

  Block &body = row.reader.getBody().front();
  auto stands = [&](ReadOp read) { return body.findAncestorOpInBlock(*read); };
  Operation *first = stands(row.reads.front());
  for (ReadOp read : row.reads)
    if (Operation *own = stands(read); own->isBeforeInBlock(first))
      first = own;
  // Products are placed separately, so that the ops around them stay together,
  // unless they need a recomputed value.
  auto isOfKept = [&](ComputeOp op) {
    WalkResult walk = op.getBody().walk([&](ReadOp read) {
      return isInside(read.getArray(), scan) &&
                     !row.kept.contains(read.getArray())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    return !walk.wasInterrupted();
  };
  OpBuilder products = OpBuilder::atBlockBegin(&body), others(first);
  IRMapping values;
  values.map(scan.getLoopIndex(), row.reader.getLoopIndex());
  for (ComputeOp op : row.equations) {
    bool isApart = op.getReducer() != Reducer::none && isOfKept(op);
    auto copy =
        cast<ComputeOp>((isApart ? products : others).clone(*op, values));
    SmallVector<ReadOp> reads;
    copy.walk([&](ReadOp read) { reads.push_back(read); });
    for (ReadOp read : reads)
      if (row.kept.contains(read.getArray()))
        readStep(read, scan, *stackedOf(scan, read.getArray()),
                 row.reader.getLoopIndex());
  }
  Value again = values.lookup(scan.getStackedValue(row.stacked));
  for (ReadOp read : row.reads) {
    readRow(read, again, scan.getAxes()[row.stacked]);
    read.erase();
  }
  return scan;
}

namespace {
struct RecomputeRows : fovea::attn::impl::RecomputeRowsBase<RecomputeRows> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    for (auto program : getOperation().getOps<ProgramOp>())
      for (ScanOp scan : llvm::to_vector(program.getOps<ScanOp>()))
        while (std::optional<Row> row = findRow(scan))
          scan = computeAgain(scan, *row);
  }
};
} // namespace
