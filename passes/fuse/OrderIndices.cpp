//===- OrderIndices.cpp - equations in the order of what they read --------===//
//
// Neighbours of a result are computed together, and should read neighbours. If
// most inputs of an equation have another storage order than its indices, it
// takes that order; its readers follow. So the result of a product keeps its
// layout up to the next product.
//
//===----------------------------------------------------------------------===//

#include "dialect/conditions/LinearForm.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Equations.h"
#include "passes/analysis/Product.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_ORDERINDICES
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// Below this size, vectors do not justify another order.
static constexpr int64_t leastNeighbours = 8;

//===----------------------------------------------------------------------===//
// What an equation reads
//===----------------------------------------------------------------------===//

/// Returns whether neighbours along index `index` of the equation are
/// neighbours in the array that it reads, or the same element.
static bool readsNeighbours(ReadOp read, unsigned index) {
  size_t last = read.getIndices().size();
  for (auto [axis, place] : llvm::enumerate(read.getIndices())) {
    if (!(dependence(place) >> index & 1))
      continue;
    std::optional<LinearForm> form = LinearForm::of(place);
    if (axis + 1 != last || !form)
      return false;
    for (auto [term, factor] : form->terms)
      if ((dependence(term) >> index & 1) &&
          (!isa<BlockArgument>(term) || factor != 1))
        return false;
  }
  return true;
}

/// The axis that `read` indexes with index `index`, if nothing else depends on
/// it and a batch has the array once: the array may be transposed.
static std::optional<unsigned> axisToTurn(ReadOp read, unsigned index,
                                          ComputeOp op) {
  std::optional<unsigned> found;
  for (auto [axis, place] : llvm::enumerate(read.getIndices()))
    if (place == op.getIndex(index) && !found)
      found = axis;
    else if (dependence(place) >> index & 1)
      return std::nullopt;
  return isPerExample(read.getArray()) ? std::nullopt : found;
}

/// The reads of non-neighbours along index `index`, except of arrays that may
/// be transposed.
static unsigned countStrides(ArrayRef<ReadOp> reads, unsigned index,
                             ComputeOp op) {
  return llvm::count_if(reads, [&](ReadOp read) {
    return !readsNeighbours(read, index) && !axisToTurn(read, index, op);
  });
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

/// Returns whether the readers of `op` lose nothing if index `last` is its
/// last. A product needs its terms there.
static bool suitsReaders(ComputeOp op, unsigned last) {
  bool isRead = false;
  for (Operation *user : op.getResult().getUsers()) {
    ReadOp read = plainRead(user, op.getResult());
    auto reader = read ? read->getParentOfType<ComputeOp>() : ComputeOp();
    if (!reader || !isa<ProgramOp>(reader->getParentOp()))
      return false;
    isRead = true;
    if (!isMatrixProduct(reader))
      continue;
    AccessIndex at = classify(read.getIndices()[last], reader);
    if (at.kind != AccessIndex::Iterator || at.offset != 0 ||
        at.iterator < reader.getNumParallel())
      return false;
  }
  return isRead;
}

/// The index along which most inputs of `op` have neighbours; the last one
/// unless another is better.
static unsigned bestLast(ComputeOp op, ArrayRef<ReadOp> reads) {
  unsigned own = op.getNumParallel() - 1, best = own;
  unsigned fewest = countStrides(reads, own, op);
  for (unsigned index = 0; index < own; ++index) {
    auto extent = dyn_cast<IntegerAttr>(op.getExtents()[index]);
    if (extent && extent.getInt() < leastNeighbours)
      continue;
    unsigned strides = countStrides(reads, index, op);
    if (strides < fewest && suitsReaders(op, index)) {
      best = index;
      fewest = strides;
    }
  }
  return best;
}

/// All indices, with `last` as the last of the result; the others follow the
/// arrays with neighbours along it.
static SmallVector<unsigned> orderWith(unsigned last, ComputeOp op,
                                       ArrayRef<ReadOp> reads) {
  SmallVector<unsigned> order;
  uint64_t seen = uint64_t(1) << last;
  auto add = [&](unsigned index) {
    if (!(seen >> index & 1))
      order.push_back(index);
    seen |= uint64_t(1) << index;
  };
  for (ReadOp read : reads) {
    if (!(dependence(read.getIndices().back()) >> last & 1) ||
        !isPerExample(read.getArray()))
      continue;
    for (Value place : read.getIndices())
      for (unsigned index = 0; index < op.getNumParallel(); ++index)
        if (dependence(place) >> index & 1)
          add(index);
    break;
  }
  for (unsigned index = 0; index < op.getNumParallel(); ++index)
    add(index);
  order.push_back(last);
  for (unsigned index = op.getNumParallel(); index < op.getNumIndices();
       ++index)
    order.push_back(index);
  return order;
}

namespace {
struct OrderIndices : fovea::attn::impl::OrderIndicesBase<OrderIndices> {
  void turnFor(ReadOp read, unsigned axis);
  void order(ComputeOp op);
  void runOnOperation() override;

  std::map<std::pair<void *, unsigned>, Value> turned;
};
} // namespace

/// Returns whether the indices of `op` may be reordered.
static bool mayOrder(ComputeOp op, ProgramOp program) {
  switch (op.getReducer()) {
  case Reducer::none:
  case Reducer::sum:
  case Reducer::mean:
  case Reducer::max:
  case Reducer::min:
    break;
  default:
    return false;
  }
  return batchOf(op) == BatchKind::each && op.getNumParallel() > 1 &&
         op.getNumIndices() < 64 && !isMatrixProduct(op) && !scatteredBy(op) &&
         llvm::none_of(
             op.getExtents(),
             [&](Attribute extent) { return variesInside(extent, program); });
}

/// Makes axis `axis` the last one for `read`, whose array a batch has once.
void OrderIndices::turnFor(ReadOp read, unsigned axis) {
  SmallVector<unsigned> axes;
  for (unsigned other = 0; other < read.getIndices().size(); ++other)
    if (other != axis)
      axes.push_back(other);
  axes.push_back(axis);
  SmallVector<Value> at;
  for (unsigned other : axes)
    at.push_back(read.getIndices()[other]);
  Value &copy = turned[{read.getArray().getAsOpaquePointer(), axis}];
  if (!copy) {
    ComputeOp op = makeTurned(read.getArray(), axes);
    setBatch(op, BatchKind::once);
    copy = op.getResult();
  }
  read.getArrayMutable().assign(copy);
  read.getIndicesMutable().assign(at);
}

void OrderIndices::order(ComputeOp op) {
  SmallVector<ReadOp> reads;
  bool isPlain = true;
  op.getBody().walk([&](ReadOp read) {
    reads.push_back(read);
    isPlain &= read.getAlternatives().empty() && !read.getIndices().empty();
  });
  if (!isPlain)
    return;
  unsigned last = bestLast(op, reads);
  if (last + 1 == op.getNumParallel())
    return;
  SmallVector<unsigned> order = orderWith(last, op, reads);
  for (ReadOp read : reads)
    if (!readsNeighbours(read, last))
      if (std::optional<unsigned> axis = axisToTurn(read, last, op))
        turnFor(read, *axis);

  OpBuilder builder(op);
  ComputeOp ordered = reordered(builder, op, order);
  for (Operation *user :
       llvm::make_early_inc_range(op.getResult().getUsers())) {
    auto read = cast<ReadOp>(user);
    SmallVector<Value> at;
    for (unsigned index : ArrayRef(order).take_front(op.getNumParallel()))
      at.push_back(read.getIndices()[index]);
    read.getArrayMutable().assign(ordered.getResult());
    read.getIndicesMutable().assign(at);
  }
  op.erase();
}

void OrderIndices::runOnOperation() {
  if (failed(verifyBatched(getOperation())))
    return signalPassFailure();
  for (auto program : getOperation().getOps<ProgramOp>()) {
    turned.clear();
    // In order: an equation's inputs have their final order then.
    for (auto op : llvm::to_vector(program.getOps<ComputeOp>()))
      if (mayOrder(op, program))
        order(op);
  }
}
