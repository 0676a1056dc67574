//===- ListRows.cpp - gradients of rows that a batch reads ----------------===//
//
// An embedding has a row for every word, and a batch reads few of them. Its
// gradient may consist of sums whose terms choose their row. Then the caller
// gets these parts, and how many terms each row has. Rows without a term are
// neither cleared nor written.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/OperationSupport.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Equations.h"
#include "passes/analysis/Orders.h"
#include "passes/analysis/RowLists.h"
#include "runtime/train/RowNames.h"
#include "targets/cpu/Passes.h"

using namespace mlir;
using namespace fovea::attn;
namespace runtime = fovea::runtime;

namespace fovea::attn {
#define GEN_PASS_DEF_LISTROWS
#include "targets/cpu/Passes.h.inc"
} // namespace fovea::attn

/// Returns whether the terms of `op` choose a row of its result, and `reader`
/// alone reads it.
static bool choosesRows(ComputeOp op, Operation *reader) {
  if (!op || !isa<ProgramOp>(op->getParentOp()) ||
      !op.getElementType().isF64() || batchOf(op) == BatchKind::each ||
      !isa<IntegerAttr>(op.getExtents()[0]) || op.getLower()[0] != 0 ||
      llvm::any_of(op->getUsers(),
                   [&](Operation *user) { return !reader->isAncestor(user); }))
    return false;
  std::optional<Equality> chosen = scatteredBy(op);
  uint64_t others = (uint64_t(1) << op.getNumParallel()) - 2;
  return chosen && chosen->index == 0 &&
         (dependence(op.getCondition().front().getTerminator()->getOperand(0)) &
          others) == 0;
}

/// The arrays that `op` adds up at the same place, in the order of their sum;
/// empty if it does anything else.
static SmallVector<Value> addends(ComputeOp op) {
  SmallVector<Value> arrays;
  if (op.getReducer() != Reducer::none || op.hasCondition())
    return {};
  Value sum = op.getYielded();
  auto take = [&](Value value) {
    auto read = value.getDefiningOp<ReadOp>();
    if (!read || !read.getAlternatives().empty() || read.getOtherwise() ||
        !llvm::equal(read.getIndices(), op.getBody().front().getArguments()))
      return false;
    arrays.push_back(read.getArray());
    return true;
  };
  while (auto add = sum.getDefiningOp<arith::AddFOp>()) {
    if (!take(add.getRhs()))
      return {};
    sum = add.getLhs();
  }
  if (!take(sum))
    return {};
  std::reverse(arrays.begin(), arrays.end());
  return arrays;
}

/// The parts of a gradient; empty if one does not choose its rows.
static SmallVector<ComputeOp> partsOf(OutputOp output) {
  auto op = output.getValue().getDefiningOp<ComputeOp>();
  if (!op)
    return {};
  if (choosesRows(op, output))
    return {op};
  SmallVector<ComputeOp> parts;
  if (!op->hasOneUse())
    return {};
  for (Value array : addends(op)) {
    auto part = array.getDefiningOp<ComputeOp>();
    if (!choosesRows(part, op))
      return {};
    parts.push_back(part);
  }
  return parts;
}

/// How many terms each row of `part` has.
static ComputeOp countTerms(ComputeOp part) {
  OpBuilder builder(part);
  unsigned numParallel = part.getNumParallel();
  SmallVector<unsigned> indices = {0};
  for (unsigned i = numParallel; i < part.getNumIndices(); ++i)
    indices.push_back(i);
  ComputeOp count = makeOver(builder, part, indices, /*numParallel=*/1,
                             Reducer::sum, /*hasCondition=*/true);
  count.setOrderAttr(orderInSteps(builder.getContext()));
  count.removeLabelAttr();
  setBatch(count, batchOf(part));
  IRMapping map;
  Block &from = part.getCondition().front(), &to = count.getCondition().front();
  for (auto [number, index] : llvm::enumerate(indices))
    map.map(from.getArgument(index), to.getArgument(number));
  builder.setInsertionPointToEnd(&to);
  for (Operation &op : from)
    builder.clone(op, map);
  builder.setInsertionPointToEnd(&count.getBody().front());
  Value one = arith::ConstantOp::create(builder, part.getLoc(),
                                        builder.getF64FloatAttr(1));
  YieldOp::create(builder, part.getLoc(), one);
  return count;
}

namespace {
struct ListRows : fovea::attn::impl::ListRowsBase<ListRows> {
  /// Counts of the same terms serve several parameters.
  ComputeOp countOnce(ComputeOp part) {
    ComputeOp count = countTerms(part);
    for (ComputeOp other : counts)
      if (other.getExtents() == count.getExtents() &&
          batchOf(other) == batchOf(count) &&
          OperationEquivalence::isRegionEquivalentTo(
              &other.getCondition(), &count.getCondition(),
              OperationEquivalence::IgnoreLocations)) {
        count->erase();
        return other;
      }
    counts.push_back(count);
    return count;
  }

  void list(OutputOp output, StringRef path, ArrayRef<ComputeOp> parts) {
    OpBuilder builder(output);
    for (auto [number, chosen] : llvm::enumerate(parts)) {
      ComputeOp part = chosen;
      ComputeOp count = countOnce(part);
      part.setPartial(true);
      OutputOp::create(builder, output.getLoc(),
                       runtime::partName(int(number), path.str()),
                       part.getResult());
      OutputOp::create(builder, output.getLoc(),
                       runtime::termsName(int(number), path.str()),
                       count.getResult());
    }
    auto sum = output.getValue().getDefiningOp<ComputeOp>();
    output->erase();
    if (sum->use_empty())
      sum->erase();
  }

  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (failed(verifyBatched(program)))
      return signalPassFailure();
    if (!program->hasAttr(listsRowsName))
      return;
    auto outputs = llvm::to_vector(program.getOps<OutputOp>());
    for (OutputOp output : outputs) {
      StringRef path = output.getTarget();
      if (!path.consume_front("grad/"))
        continue;
      if (SmallVector<ComputeOp> parts = partsOf(output); !parts.empty())
        list(output, path, parts);
    }
  }

  SmallVector<ComputeOp> counts;
};
} // namespace
