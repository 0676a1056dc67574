//===- TileKeys.cpp - attention of some keys at a time --------------------===//
//
// A softmax needs the largest of all scores, and the sum of their exponentials.
// Where factors are rounded anyway, both are those of the keys so far: what was
// read with them is scaled when the largest changes (Milakov and Gimelshein,
// 2018; Dao et al., 2022). Then no row of scores is anywhere, however many keys
// there are. The tiles of keys begin at the first key and have one size, so
// that a row has the same bits in any batch.
//
//===----------------------------------------------------------------------===//

#include "passes/kernels/TileKeys.h"
#include "dialect/Precision.h"
#include "passes/Passes.h"
#include "passes/batch/Batch.h"
#include "passes/kernels/Members.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_TILEKEYS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// The sums of a row that registers hold, and its queries.
static constexpr int64_t mostColumns = 128;

static ArrayRef<int64_t> sharedBy(ComputeOp member) {
  return member->getAttrOfType<DenseI64ArrayAttr>(sharedName).asArrayRef();
}

/// Whether a member is a product of its rows whose factors are rounded, with
/// few places of index `index` of it.
static bool isRounded(ComputeOp op, unsigned ExampleProduct::*index) {
  std::optional<ExampleProduct> product = exampleProductOf(op);
  if (!product || !precisionOf(op) || product->m != sharedBy(op).back())
    return false;
  auto extent = dyn_cast<IntegerAttr>(op.getExtents()[(*product).*index]);
  return extent && extent.getInt() <= mostColumns;
}

/// Whether a member gives pairs, or anything for each of them, of what it reads
/// of other members at the same pair.
static bool isByPairs(KernelOp kernel, ComputeOp op) {
  unsigned last = op.getNumIndices() - 1;
  bool isGood =
      isStrip(kernel, op) && op.getNumIndices() == sharedBy(op).size() + 1;
  forArrays(*op, [&](Operation *user, Value array) {
    auto source = array.getDefiningOp<ComputeOp>();
    if (!isGood || !source || source->getParentOp() != kernel)
      return;
    ReadOp read = plainRead(user, array);
    isGood = read && isStrip(kernel, source) &&
             read.getIndices().back() == op.getIndex(last);
  });
  return isGood;
}

std::optional<Attention> fovea::attn::attentionIn(KernelOp kernel) {
  if (kernel.getSchedule() != Schedule::strips)
    return std::nullopt;
  Attention attention;
  llvm::SmallDenseSet<Operation *> pairs;
  for (Operation &each : kernel.getBody().front().without_terminator()) {
    auto op = dyn_cast<ComputeOp>(each);
    if (!op || sharedBy(op).back() >= int64_t(op.getNumParallel()) ||
        !startsAtZero(op))
      return std::nullopt;
    if (!attention.score) {
      if (!isRounded(op, &ExampleProduct::k) || !isStrip(kernel, op))
        return std::nullopt;
      attention.score = op;
      pairs.insert(op);
    } else if (!attention.weights) {
      bool isSoftmax = op.getReducer() == Reducer::softmax;
      if ((op.getReducer() != Reducer::none && !isSoftmax) ||
          exampleProductOf(op) || !isByPairs(kernel, op))
        return std::nullopt;
      if (isSoftmax)
        attention.weights = op;
      else
        attention.between.push_back(op);
      pairs.insert(op);
    } else if (!attention.read) {
      if (!isRounded(op, &ExampleProduct::n) ||
          exampleProductOf(op)->left.getArray() !=
              attention.weights.getResult())
        return std::nullopt;
      attention.read = op;
    } else if (exampleProductOf(op)) {
      return std::nullopt;
    } else {
      attention.after.push_back(op);
    }
  }
  if (!attention.read)
    return std::nullopt;
  // Pairs are read on the way to what is read with them, and by nobody else.
  for (Operation *op : pairs)
    for (Operation *user : op->getUsers()) {
      auto reader = user->getParentOfType<ComputeOp>();
      if (!reader || !(pairs.contains(reader) || reader == attention.read))
        return std::nullopt;
    }
  return attention;
}

namespace {
struct TileKeys : fovea::attn::impl::TileKeysBase<TileKeys> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    if (MachineAttr::of(getOperation()).getSharedBytes() == 0)
      return;
    for (auto kernel : getOperation().getOps<KernelOp>())
      if (attentionIn(kernel))
        kernel.setKeys(keysOfTile);
  }
};
} // namespace
