//===- GuardRows.cpp - work follows the guard -----------------------------===//
//
// `if g[t] > 0 then y[t] else 0` looks at some rows of y only. A layer whose
// rows nobody looks at elsewhere is computed for these rows. It gets the guard
// as its condition, and so becomes a product whose rows are gathered
// (passes/analysis/GatheredProduct.h). In the gradient the rows elsewhere are
// zero, and a product with zeros adds nothing.
//
//===----------------------------------------------------------------------===//

#include "dialect/conditions/Conditions.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/GatheredProduct.h"
#include "passes/analysis/Product.h"
#include "passes/analysis/RowGuards.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_GUARDROWS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

namespace {
/// The guards of the ops of one block.
class BlockGuards {
public:
  explicit BlockGuards(Block &block) : block(block) {
    for (auto op : block.getOps<ComputeOp>())
      ops.push_back(op);
  }
  void run();

private:
  RowGuards ofZeros(Value value, ComputeOp op, ReadOp except);
  RowGuards ofFactors(ComputeOp op, ReadOp except);
  RowGuards ofUse(ReadOp read, ComputeOp reader);
  RowGuards ofReaders(ComputeOp op);
  bool mayHave(ComputeOp op, const RowGuard &guard);
  bool add(ComputeOp op, const RowGuards &guards);
  void require(ComputeOp op, const RowGuard &guard);

  Block &block;
  std::vector<ComputeOp> ops;
  RowGuardTable table;
  /// Outside these guards an op is zero, or its value is not used. An op
  /// without guards of its own gets them.
  llvm::DenseMap<Operation *, RowGuards> guards;
  llvm::DenseMap<Operation *, size_t> numOwn;
};
} // namespace

//===----------------------------------------------------------------------===//
// Which rows count
//===----------------------------------------------------------------------===//

/// Outside these guards a scalar in the body of `op` is zero, whatever `except`
/// reads: a product has the guards of any factor, and a sum has the common
/// guards of all terms.
RowGuards BlockGuards::ofZeros(Value value, ComputeOp op, ReadOp except) {
  Operation *def = value.getDefiningOp();
  if (isa_and_nonnull<arith::DivFOp, arith::NegFOp>(def))
    return ofZeros(def->getOperand(0), op, except);
  if (isa_and_nonnull<arith::MulFOp, arith::AddFOp, arith::SubFOp>(def)) {
    RowGuards left = ofZeros(def->getOperand(0), op, except),
              right = ofZeros(def->getOperand(1), op, except), both;
    if (isa<arith::MulFOp>(def)) {
      llvm::append_range(left, right);
      return left;
    }
    llvm::copy_if(left, std::back_inserter(both), [&](const RowGuard &guard) {
      return llvm::is_contained(right, guard);
    });
    return both;
  }
  RowGuards result;
  auto read = dyn_cast_or_null<ReadOp>(def);
  if (!read || read == except || !read.getAlternatives().empty() ||
      read.getOtherwise())
    return result;
  for (const RowGuard &guard : guards.lookup(read.getArray().getDefiningOp()))
    if (std::optional<RowGuard> own = moved(guard, read, op, true))
      result.push_back(*own);
  return result;
}

/// Outside these guards the whole value of `op` is zero, whatever `except`
/// reads.
RowGuards BlockGuards::ofFactors(ComputeOp op, ReadOp except) {
  if (op.getReducer() != Reducer::none && op.getReducer() != Reducer::sum)
    return {};
  return ofZeros(op.getYielded(), op, except);
}

/// Outside these guards, at the indices of the array, `read` does not use it.
RowGuards BlockGuards::ofUse(ReadOp read, ComputeOp reader) {
  RowGuards atReader, result;
  if (!read.getAlternatives().empty() || read.getOtherwise())
    return result;
  auto known = guards.find(reader);
  if (known != guards.end())
    atReader = known->second;
  llvm::append_range(atReader, ofFactors(reader, read));
  table.addBranches(read, reader, atReader);
  for (const RowGuard &guard : atReader)
    if (std::optional<RowGuard> own = moved(guard, read, reader, false))
      if (!llvm::is_contained(result, *own))
        result.push_back(*own);
  return result;
}

/// The guards that all readers of an op have.
RowGuards BlockGuards::ofReaders(ComputeOp op) {
  std::optional<RowGuards> common;
  for (Operation *user : op->getUsers()) {
    auto read = dyn_cast<ReadOp>(user);
    auto reader = user->getParentOfType<ComputeOp>();
    if (!read || !reader || reader->getBlock() != &block ||
        read.getArray() != op.getResult())
      return {};
    if (table.isShared(reader))
      return {};
    RowGuards own = ofUse(read, reader);
    if (!common)
      common = own;
    else
      llvm::erase_if(*common, [&](const RowGuard &guard) {
        return !llvm::is_contained(own, guard);
      });
    // A reader without guards decides: most ops have many readers.
    if (common->empty())
      return {};
  }
  return common.value_or(RowGuards());
}

/// Returns whether an equation may have a guard as its condition, and does less
/// work then.
bool BlockGuards::mayHave(ComputeOp op, const RowGuard &guard) {
  bool isLayer = op.getReducer() == Reducer::sum && isMatrixProduct(op) &&
                 op.getNumReduction() == 1;
  if (!op.getElementType().isF64() || !startsAtZero(op) ||
      (op.getReducer() != Reducer::none && !isLayer) ||
      (op.getReducer() == Reducer::none && batchOf(op) != BatchKind::each))
    return false;
  bool isRow = llvm::all_of(guard.indices, [&](unsigned index) {
    return index < op.getNumParallel();
  });
  if (isRow && guard.indices.size() >= op.getNumParallel())
    return false;
  WalkResult isEarlier = ComputeOp(guard.bits).getBody().walk([&](ReadOp read) {
    Operation *def = read.getArray().getDefiningOp();
    bool isLate = def && def->getBlock() == &block && !def->isBeforeInBlock(op);
    return isLate ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !isEarlier.wasInterrupted();
}

bool BlockGuards::add(ComputeOp op, const RowGuards &found) {
  bool isNew = false;
  for (const RowGuard &guard : found)
    if (mayHave(op, guard) && !llvm::is_contained(guards[op], guard)) {
      guards[op].push_back(guard);
      isNew = true;
    }
  return isNew;
}

/// Returns whether an equation is a layer of a batch: rows times weights.
static bool isLayerOfBatch(ComputeOp op) {
  if (batchOf(op) != BatchKind::each || !isMatrixProduct(op) ||
      op.getNumReduction() != 1 || op.hasCondition())
    return false;
  auto isLong = [&](unsigned index) {
    return numberOf(op.getExtents()[index]).value_or(0) >= leastExtent;
  };
  unsigned term = op.getNumParallel();
  bool isOnce = false;
  for (Value factor : op.getYielded().getDefiningOp()->getOperands())
    isOnce |= !isPerExample(factor.getDefiningOp<ReadOp>().getArray());
  return isOnce && isLong(term) && isLong(term - 1);
}

/// Makes the guard a condition of the equation; not if it would no longer be a
/// matrix product.
void BlockGuards::require(ComputeOp op, const RowGuard &guard) {
  if (op.getReducer() == Reducer::sum) {
    OpBuilder builder(op);
    auto copy = cast<ComputeOp>(builder.clone(*op));
    addCondition(copy, guard);
    bool isProduct = gatheredProduct(copy) != nullptr;
    copy.erase();
    if (!isProduct)
      return;
  }
  addCondition(op, guard);
}

void BlockGuards::run() {
  for (ComputeOp op : ops) {
    if (!op.hasCondition() ||
        (op.getReducer() != Reducer::none && op.getReducer() != Reducer::sum))
      continue;
    RowGuards own;
    table.addParts(op.getCondition().front().getTerminator()->getOperand(0), op,
                   own);
    numOwn[op] = own.size();
    if (!own.empty())
      guards[op] = own;
  }
  bool changes = true;
  for (int round = 0; changes && round < 3; ++round) {
    changes = false;
    for (ComputeOp op : ops)
      changes |= add(op, ofFactors(op, {}));
    for (ComputeOp op : llvm::reverse(ops))
      changes |= add(op, ofReaders(op));
  }
  llvm::SmallDenseSet<Operation *> useful;
  for (ComputeOp op : ops)
    if (isLayerOfBatch(op))
      for (const RowGuard &guard : guards.lookup(op))
        useful.insert(guard.bits);
  for (ComputeOp op : ops) {
    RowGuards found = guards.lookup(op);
    for (const RowGuard &guard : ArrayRef(found).drop_front(numOwn.lookup(op)))
      if (useful.contains(guard.bits))
        require(op, guard);
  }
}

namespace {
struct GuardRows : fovea::attn::impl::GuardRowsBase<GuardRows> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    for (auto program : getOperation().getOps<ProgramOp>()) {
      SmallVector<Block *> blocks = {&program.getBody().front()};
      program.walk([&](Operation *op) {
        if (isa<ScanOp, SearchOp>(op))
          blocks.push_back(&op->getRegion(0).front());
      });
      for (Block *block : blocks)
        BlockGuards(*block).run();
    }
  }
};
} // namespace
