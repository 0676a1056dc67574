//===- OrderChannels.cpp - the channels of a convolution stand last -------===//
//
// A convolution is a matrix product with one gathered factor. Orders its
// indices as rows, columns and terms, and transposes the arrays that it reads
// until a run is their last axis. Does the same for products with weights whose
// rows or columns are elsewhere. A transposed copy of an array is replaced by
// its source.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Equations.h"
#include "passes/analysis/GatheredProduct.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_ORDERCHANNELS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// The axes of `array` in the order of its source, if it is a transposed copy;
/// nothing otherwise.
static std::optional<SmallVector<unsigned>> turnedFrom(ComputeOp copy) {
  auto read = copy.getYielded().getDefiningOp<ReadOp>();
  if (copy.getReducer() != Reducer::none || copy.hasCondition() || !read ||
      !read.getAlternatives().empty() || read.getOtherwise() ||
      read.getIndices().size() != copy.getNumIndices() ||
      isPerExample(read.getArray()) != isPerExample(copy.getResult()))
    return std::nullopt;
  SmallVector<unsigned> axes;
  for (auto [axis, value] : llvm::enumerate(read.getIndices())) {
    auto index = dyn_cast<BlockArgument>(value);
    if (!index || llvm::is_contained(axes, index.getArgNumber()) ||
        copy.getLower()[index.getArgNumber()] != 0 ||
        copy.getExtents()[index.getArgNumber()] !=
            read.getArrayType().getExtent(axis))
      return std::nullopt;
    axes.push_back(index.getArgNumber());
  }
  return axes;
}

namespace {
/// An array and a place of it.
struct Source {
  Value array;
  SmallVector<Value> indices;
};

struct OrderChannels : fovea::attn::impl::OrderChannelsBase<OrderChannels> {
  /// array[.., axes[0], axes[1], ..], computed once for all users.
  Value turn(Value array, ArrayRef<unsigned> axes);
  Source sourceOf(ReadOp read);
  void turnTo(Source &source, ArrayRef<Value> last);
  void order(ComputeOp op);
  void runOnOperation() override;

  std::map<std::pair<void *, SmallVector<unsigned>>, Value> turned;
};
} // namespace

/// The place of `read` in an array that is not a transposed copy.
Source OrderChannels::sourceOf(ReadOp read) {
  Source source = {read.getArray(), llvm::to_vector(read.getIndices())};
  while (auto copy = source.array.getDefiningOp<ComputeOp>()) {
    std::optional<SmallVector<unsigned>> axes = turnedFrom(copy);
    if (!axes)
      break;
    SmallVector<Value> indices;
    for (unsigned axis : *axes)
      indices.push_back(source.indices[axis]);
    source.array = copy.getYielded().getDefiningOp<ReadOp>().getArray();
    source.indices = indices;
  }
  return source;
}

Value OrderChannels::turn(Value array, ArrayRef<unsigned> axes) {
  Value &known = turned[{array.getAsOpaquePointer(), llvm::to_vector(axes)}];
  if (known)
    return known;
  ComputeOp copy = makeTurned(array, axes);
  setBatch(copy, isPerExample(array) ? BatchKind::each : BatchKind::once);
  return known = copy.getResult();
}

/// Transposes the array of `source` so that its last axes are read at `last`,
/// and the others keep their order.
void OrderChannels::turnTo(Source &source, ArrayRef<Value> last) {
  SmallVector<unsigned> axes;
  for (auto [axis, index] : llvm::enumerate(source.indices))
    if (!llvm::is_contained(last, index))
      axes.push_back(axis);
  for (Value index : last)
    axes.push_back(llvm::find(source.indices, index) - source.indices.begin());
  if (llvm::is_sorted(axes))
    return;
  SmallVector<Value> indices;
  for (unsigned axis : axes)
    indices.push_back(source.indices[axis]);
  source = {turn(source.array, axes), indices};
}

void OrderChannels::order(ComputeOp op) {
  std::optional<GatheredFactors> factors =
      gatheredFactors(op, /*mayBeWhole=*/true);
  if (!factors)
    return;
  Source gathered = sourceOf(factors->gathered);
  Source plain = sourceOf(factors->plain);
  auto valuesOf = [&](ArrayRef<unsigned> indices) {
    SmallVector<Value> values;
    for (unsigned index : indices)
      values.push_back(op.getIndex(index));
    return values;
  };
  turnTo(gathered, valuesOf(factors->run));
  if (factors->isOverExamples) {
    // The terms may keep their order in memory.
    llvm::sort(factors->terms, [&](unsigned a, unsigned b) {
      return llvm::find(plain.indices, op.getIndex(a)) <
             llvm::find(plain.indices, op.getIndex(b));
    });
    turnTo(plain, valuesOf(factors->columns));
  } else {
    SmallVector<Value> terms = valuesOf(factors->terms);
    bool isInOrder = llvm::equal(ArrayRef(plain.indices).drop_front(), terms) ||
                     llvm::equal(ArrayRef(plain.indices).drop_back(), terms);
    if (!isInOrder) {
      terms.push_back(op.getIndex(factors->columns.front()));
      turnTo(plain, terms);
    }
  }
  SmallVector<unsigned> order = factors->rows;
  llvm::append_range(order, factors->columns);
  llvm::append_range(order, factors->terms);
  if (llvm::is_sorted(order) &&
      gathered.array == factors->gathered.getArray() &&
      plain.array == factors->plain.getArray())
    return;

  OpBuilder builder(op);
  unsigned numParallel = op.getNumParallel();
  ComputeOp sum = makeOver(builder, op, order, numParallel, Reducer::sum,
                           op.hasCondition());
  sum->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  auto cloneInto = [&](Region &from, Region &to) {
    for (auto [place, index] : llvm::enumerate(order))
      mapping.map(from.getArgument(index), to.getArgument(place));
    builder.setInsertionPointToEnd(&to.front());
    for (Operation &inner : from.front()) {
      for (auto &[read, source] : {std::pair(factors->gathered, &gathered),
                                   std::pair(factors->plain, &plain)})
        if (&inner == read) {
          SmallVector<Value> at;
          for (Value index : source->indices)
            at.push_back(mapping.lookupOrDefault(index));
          auto copy = cast<ReadOp>(builder.clone(inner, mapping));
          copy.getArrayMutable().assign(source->array);
          copy.getIndicesMutable().assign(at);
        }
      if (&inner != factors->gathered && &inner != factors->plain)
        builder.clone(inner, mapping);
    }
  };
  if (op.hasCondition())
    cloneInto(op.getCondition(), sum.getCondition());
  cloneInto(op.getBody(), sum.getBody());

  // The readers of the result know its axes in their old order.
  Value result = sum.getResult();
  ArrayRef<unsigned> parallel = ArrayRef(order).take_front(numParallel);
  if (!llvm::is_sorted(parallel)) {
    SmallVector<unsigned> back(numParallel);
    for (auto [place, index] : llvm::enumerate(parallel))
      back[index] = place;
    result = turn(result, back);
  }
  op.getResult().replaceAllUsesWith(result);
  op.erase();
}

void OrderChannels::runOnOperation() {
  if (failed(verifyBatched(getOperation())))
    return signalPassFailure();
  for (auto program : getOperation().getOps<ProgramOp>()) {
    turned.clear();
    for (auto op : llvm::to_vector(program.getOps<ComputeOp>()))
      order(op);
    // Unused transposed copies.
    SmallVector<ComputeOp> ops = llvm::to_vector(program.getOps<ComputeOp>());
    for (ComputeOp op : llvm::reverse(ops))
      if (op.getResult().use_empty() && turnedFrom(op))
        op.erase();
  }
}
