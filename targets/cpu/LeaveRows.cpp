//===- LeaveRows.cpp - rows that nobody looks at are not written ----------===//
//
// An expert has a row for every word, and few words choose it. If all readers
// of a row have the condition of the equation that gives it, the other rows
// need no value, and take no time.
//
//===----------------------------------------------------------------------===//

#include "dialect/conditions/Conditions.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Product.h"
#include "passes/analysis/RowGuards.h"
#include "targets/cpu/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_LEAVEROWS
#include "targets/cpu/Passes.h.inc"
} // namespace fovea::attn

static Value conditionOf(ComputeOp op) {
  return op.getCondition().front().getTerminator()->getOperand(0);
}

/// Returns whether the condition chooses whole rows of the equation.
static bool hasRowsToLeave(ComputeOp op) {
  return op.hasCondition() && op.getElementType().isF64() &&
         batchOf(op) == BatchKind::each && !op->hasAttr("attn.shared") &&
         (op.getReducer() == Reducer::none ||
          op.getReducer() == Reducer::sum) &&
         dependence(conditionOf(op)) >> op.getNumParallel() == 0;
}

/// Returns whether `reader` looks at its operands only where its condition
/// holds. A product that chooses no rows multiplies all of them.
static bool obeysCondition(ComputeOp reader, Block &block) {
  if (!productOf(reader))
    return true;
  std::optional<RowsProduct> product = rowsProductOf(reader);
  return reader->getBlock() == &block && product &&
         choosesRows(reader, *product);
}

/// Returns whether `reader` looks at what `read` gives only under these guards.
static bool isUnder(const RowGuards &guards, ReadOp read, ComputeOp reader,
                    RowGuardTable &table) {
  RowGuards own;
  if (reader.hasCondition())
    table.addParts(conditionOf(reader), reader, own);
  table.addBranches(read, reader, own);
  return llvm::all_of(guards, [&](const RowGuard &guard) {
    std::optional<RowGuard> atReader = moved(guard, read, reader, true);
    return atReader && llvm::is_contained(own, *atReader);
  });
}

/// Returns whether `reader` may look at rows under these guards alone.
/// Elsewhere they are zero: it adds nothing if it is a sum of products with the
/// rows.
static bool mayGuard(const RowGuards &guards, ReadOp read, ComputeOp reader) {
  bool hasIndices = llvm::all_of(guards, [&](const RowGuard &guard) {
    return moved(guard, read, reader, true).has_value();
  });
  if (!hasIndices || productOf(reader) ||
      !reader.getBody().isAncestor(read->getParentRegion()))
    return false;
  Operation *yielded = reader.getYielded().getDefiningOp();
  return reader.getReducer() == Reducer::none ||
         (reader.getReducer() == Reducer::sum &&
          isa_and_nonnull<arith::MulFOp>(yielded) &&
          llvm::is_contained(yielded->getOperands(), read.getResult()));
}

/// `read` becomes `if <guards> then read else 0`.
static void branch(const RowGuards &guards, ReadOp read, ComputeOp reader) {
  OpBuilder builder(read);
  Location loc = read.getLoc();
  Region &body = reader.getBody();
  Conjunction all(builder, loc);
  for (const RowGuard &guard : guards) {
    RowGuard own = *moved(guard, read, reader, true);
    SmallVector<Value> at;
    for (unsigned index : own.indices)
      at.push_back(body.getArgument(index));
    all.require(inlineRegion(builder, own.bits.getBody(), at));
  }
  auto choice = scf::IfOp::create(builder, loc, read.getType(), all.finish(),
                                  /*withElseRegion=*/true);
  read->replaceAllUsesWith(choice);
  builder.setInsertionPointToEnd(choice.thenBlock());
  read->moveBefore(choice.thenBlock(), choice.thenBlock()->end());
  scf::YieldOp::create(builder, loc, read.getResult());
  builder.setInsertionPointToEnd(choice.elseBlock());
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(0));
  scf::YieldOp::create(builder, loc, zero);
}

/// Has everybody who reads `op` do so under its guards; returns whether that
/// is possible.
static bool readUnder(const RowGuards &guards, ComputeOp op, Block &block,
                      RowGuardTable &table) {
  SmallVector<std::pair<ReadOp, ComputeOp>> others;
  for (Operation *user : op->getUsers()) {
    ReadOp read = plainRead(user, op.getResult());
    auto reader = user->getParentOfType<ComputeOp>();
    if (!read || !reader || reader->getParentOfType<ScanOp>() ||
        !block.findAncestorOpInBlock(*reader) || !obeysCondition(reader, block))
      return false;
    if (isUnder(guards, read, reader, table))
      continue;
    if (!mayGuard(guards, read, reader))
      return false;
    others.push_back({read, reader});
  }
  for (auto [read, reader] : others)
    if (reader.getReducer() == Reducer::none)
      branch(guards, read, reader);
    else
      for (const RowGuard &guard : guards)
        addCondition(reader, *moved(guard, read, reader, true));
  return true;
}

/// The conditions that choose rows of products. Others would cost their readers
/// more than a few numbers of each row.
static llvm::SmallDenseSet<Operation *>
choosingProducts(ArrayRef<ComputeOp> ops, RowGuardTable &table) {
  llvm::SmallDenseSet<Operation *> found;
  for (ComputeOp op : ops) {
    std::optional<RowsProduct> product = rowsProductOf(op);
    RowGuards guards;
    if (!product || !choosesRows(op, *product))
      continue;
    table.addParts(conditionOf(op), op, guards);
    for (const RowGuard &guard : guards)
      found.insert(guard.bits);
  }
  return found;
}

namespace {
struct LeaveRows : fovea::attn::impl::LeaveRowsBase<LeaveRows> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    Block &block = getOperation().getBody().front();
    auto ops = llvm::to_vector(block.getOps<ComputeOp>());
    RowGuardTable table;
    auto choosing = choosingProducts(ops, table);
    for (ComputeOp op : ops) {
      RowGuards guards;
      if (hasRowsToLeave(op) && table.addParts(conditionOf(op), op, guards) &&
          llvm::any_of(guards,
                       [&](const RowGuard &guard) {
                         return choosing.contains(guard.bits);
                       }) &&
          readUnder(guards, op, block, table))
        op.setPartial(true);
    }
  }
};
} // namespace
