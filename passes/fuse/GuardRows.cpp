//===- GuardRows.cpp - work follows the guard -----------------------------===//
//
// `if g[t] > 0 then y[t] else 0` looks at some rows of y only. A layer whose
// rows nobody looks at elsewhere is computed for these rows. It gets the guard
// as its condition, and so becomes a product whose rows are gathered
// (passes/analysis/GatheredProduct.h). In the gradient the rows elsewhere are
// zero, and a product with zeros adds nothing.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/GuardRows.h"
#include "dialect/conditions/Conditions.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/GatheredProduct.h"
#include "passes/analysis/Product.h"
#include "passes/analysis/RowGuards.h"
#include "llvm/ADT/SetVector.h"

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
  /// `lanes`: for the products of a step, whose columns are a multiple of it;
  /// none: for layers of a batch.
  BlockGuards(Block &block, std::optional<int64_t> lanes)
      : block(block), lanes(lanes) {
    for (auto op : block.getOps<ComputeOp>())
      ops.push_back(op);
  }
  void run();

private:
  RowGuards ofZeros(Value value, ComputeOp op, ReadOp except);
  RowGuards ofFactors(ComputeOp op, ReadOp except);
  RowGuards ofUse(ReadOp read, ComputeOp reader);
  RowGuards ofReaders(ComputeOp op);
  bool isLayer(ComputeOp op);
  bool isLayerOfBatch(ComputeOp op);
  bool mayHave(ComputeOp op, const RowGuard &guard);
  std::optional<SmallVector<Operation *>> laterOps(ComputeOp op,
                                                   const RowGuard &guard);
  bool add(ComputeOp op, const RowGuards &guards);
  void require(ComputeOp op, const RowGuard &guard);

  Block &block;
  std::optional<int64_t> lanes;
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

/// The ops from which a guard is computed and that come after `op`, in order;
/// nothing if one of them depends on `op`.
std::optional<SmallVector<Operation *>>
BlockGuards::laterOps(ComputeOp op, const RowGuard &guard) {
  llvm::SetVector<Operation *> later;
  auto addOperands = [&](Operation *def) {
    def->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *other = operand.getDefiningOp();
            other && other->getBlock() == &block && !other->isBeforeInBlock(op))
          later.insert(other);
    });
  };
  addOperands(guard.bits);
  for (size_t at = 0; at < later.size(); ++at) {
    if (later[at] == op)
      return std::nullopt;
    addOperands(later[at]);
  }
  SmallVector<Operation *> result = later.takeVector();
  llvm::sort(result,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return result;
}

/// Returns whether `op` is a sum that may get a guard.
bool BlockGuards::isLayer(ComputeOp op) {
  if (!lanes)
    return op.getReducer() == Reducer::sum && isMatrixProduct(op) &&
           op.getNumReduction() == 1;
  std::optional<RowsProduct> product = rowsProductOf(op);
  return product && product->kind == ProductKind::weights &&
         !product->gathered && op.getNumParallel() == 1 &&
         product->columns() == product->width && product->width % *lanes == 0;
}

/// Returns whether an equation may have a guard as its condition, and does less
/// work then.
bool BlockGuards::mayHave(ComputeOp op, const RowGuard &guard) {
  if (!op.getElementType().isF64() || !startsAtZero(op) ||
      (op.getReducer() != Reducer::none && !isLayer(op)) ||
      (op.getReducer() == Reducer::none && batchOf(op) != BatchKind::each) ||
      (lanes && !guard.indices.empty()))
    return false;
  bool isRow = llvm::all_of(guard.indices, [&](unsigned index) {
    return index < op.getNumParallel();
  });
  if (isRow && guard.indices.size() >= op.getNumParallel())
    return false;
  return laterOps(op, guard).has_value();
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
bool BlockGuards::isLayerOfBatch(ComputeOp op) {
  if (batchOf(op) != BatchKind::each || !isLayer(op) || op.hasCondition())
    return false;
  if (lanes)
    return true;
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
/// matrix product. What the guard is computed from moves ahead of it.
void BlockGuards::require(ComputeOp op, const RowGuard &guard) {
  if (op.getReducer() == Reducer::sum && !lanes) {
    OpBuilder builder(op);
    auto copy = cast<ComputeOp>(builder.clone(*op));
    addCondition(copy, guard);
    bool isProduct = gatheredProduct(copy) != nullptr;
    copy.erase();
    if (!isProduct)
      return;
  }
  std::optional<SmallVector<Operation *>> later = laterOps(op, guard);
  if (!later)
    return;
  for (Operation *each : *later)
    each->moveBefore(op);
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

void fovea::attn::guardRows(Block &block) {
  BlockGuards(block, std::nullopt).run();
}

void fovea::attn::guardSteps(Block &block, int64_t lanes) {
  BlockGuards(block, lanes).run();
}

SmallVector<Block *> fovea::attn::blocksOf(ProgramOp program) {
  SmallVector<Block *> blocks = {&program.getBody().front()};
  program.walk([&](Operation *op) {
    if (isa<ScanOp, SearchOp>(op))
      blocks.push_back(&op->getRegion(0).front());
  });
  return blocks;
}

namespace {
struct GuardRows : fovea::attn::impl::GuardRowsBase<GuardRows> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    for (auto program : getOperation().getOps<ProgramOp>())
      for (Block *block : blocksOf(program))
        guardRows(*block);
  }
};
} // namespace
