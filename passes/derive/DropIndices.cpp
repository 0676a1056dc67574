//===- DropIndices.cpp - what is the same at all places is one ------------===//
//
// An equation that does not depend on one of its indices is computed once for
// all places of it: W q[t] inside a score over t and i is one product per t.
// Its readers may then not depend on the index either, so the pass continues
// with them. Indices and axes of a single place carry no information.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Equations.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace fovea::attn {
#define GEN_PASS_DEF_DROPINDICES
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

/// Returns whether `op` has the same result at all places of its index `index`.
static bool isUnused(ComputeOp op, unsigned index) {
  return llvm::all_of(op->getRegions(), [&](Region &region) {
    return region.empty() || region.getArgument(index).use_empty();
  });
}

/// Returns whether `read` provably stays inside its array on all of `axes`, by
/// its indices alone.
static bool staysInside(ReadOp read, const llvm::SmallBitVector &axes) {
  auto reader = read->getParentOfType<ComputeOp>();
  return llvm::all_of(axes.set_bits(), [&](unsigned axis) {
    Attribute extent = read.getArrayType().getExtent(axis);
    return fovea::attn::staysInside(classify(read.getIndices()[axis], reader),
                                    extent, reader);
  });
}

/// Returns whether a view can have additional `axes` of one place: regrouped
/// extents must be numbers.
static bool isView(ArrayType type, const llvm::SmallBitVector &axes) {
  ArrayRef<Attribute> shape = type.getShape().getValue();
  return axes.any() &&
         llvm::all_of(
             axes.set_bits(),
             [&](unsigned axis) { return numberOf(shape[axis]) == 1; }) &&
         llvm::all_of(shape.drop_front(axes.find_first()),
                      llvm::IsaPred<IntegerAttr>);
}

/// The reads of `array`, the result of `op`, if all uses that `counts` are
/// reads inside `axes`, or outputs that can be views. `mayBeOwn`: `op` may read
/// itself.
static std::optional<SmallVector<ReadOp>>
readsOf(Value array, Operation *op, const llvm::SmallBitVector &axes,
        llvm::function_ref<bool(Operation *)> counts, bool mayBeOutput = false,
        bool mayBeOwn = false) {
  SmallVector<ReadOp> reads;
  for (Operation *user : array.getUsers()) {
    if (mayBeOutput && isa<OutputOp>(user))
      continue;
    ReadOp read = plainRead(user, array);
    bool isOwn = op->isAncestor(user);
    if (read && (!isOwn || mayBeOwn) && read->getParentOfType<ComputeOp>() &&
        (!read.getOtherwise() || staysInside(read, axes)))
      reads.push_back(read);
    else if (counts(user))
      return std::nullopt;
  }
  return reads;
}

/// The parallel indices that `op` does not need.
static llvm::SmallBitVector unusedIndices(ComputeOp op, SystemOp system,
                                          bool ofOne) {
  llvm::SmallBitVector unused(op.getNumParallel());
  for (unsigned index = 0; index < op.getNumParallel(); ++index)
    if (ofOne
            ? numberOf(op.getExtents()[index]) == 1 && op.getLower()[index] == 0
            : isUnused(op, index))
      unused.set(index);
  // A length that varies along an index needs it.
  for (auto [index, extent] : llvm::enumerate(op.getExtents()))
    if ((index >= unused.size() || !unused[index]) &&
        variesInside(extent, system))
      unused.reset();
  return unused;
}

/// Lets `reads` find in `array` what they have found in one that has the axes
/// `dropped` as well.
static void readWithout(ArrayRef<ReadOp> reads, Value array,
                        const llvm::SmallBitVector &dropped) {
  for (ReadOp read : reads) {
    SmallVector<Value> at;
    for (auto [axis, index] : llvm::enumerate(read.getIndices()))
      if (axis >= dropped.size() || !dropped[axis])
        at.push_back(index);
    read.getArrayMutable().assign(array);
    read.getIndicesMutable().assign(at);
  }
}

static Value makeView(OpBuilder &builder, Value array, ArrayType type,
                      int64_t keep) {
  return ReshapeOp::create(builder, array.getLoc(), type, StringAttr(), array,
                           builder.getI64IntegerAttr(keep));
}

/// An equation with all axes of `op` that copies `once`, which has no `unused`
/// ones.
static Value makeCopy(OpBuilder &builder, ComputeOp op, Value once,
                      const llvm::SmallBitVector &unused) {
  unsigned rank = op.getResult().getType().getRank();
  auto indices = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  ComputeOp copy = makeOver(builder, op, indices, rank, Reducer::none);
  copy.removeLabelAttr();
  OpBuilder body = OpBuilder::atBlockEnd(&copy.getBody().front());
  SmallVector<Value> at;
  for (auto [index, place] : llvm::enumerate(copy.getBody().getArguments()))
    if (index >= unused.size() || !unused[index])
      at.push_back(place);
  Value element = ReadOp::create(body, op.getLoc(), once, at);
  YieldOp::create(body, op.getLoc(), element);
  return copy.getResult();
}

/// Creates `op` without the indices `unused` for `reads`. Other uses get a view
/// or a copy with all axes. Returns the new equation.
static ComputeOp dropIndices(ComputeOp op, const llvm::SmallBitVector &unused,
                             ArrayRef<ReadOp> reads) {
  OpBuilder builder(op);
  SmallVector<unsigned> left;
  for (unsigned index = 0; index < op.getNumIndices(); ++index)
    if (index >= unused.size() || !unused[index])
      left.push_back(index);
  ComputeOp once =
      makeOver(builder, op, left, op.getNumParallel() - unused.count(),
               op.getReducer(), op.hasCondition());
  once->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), once->getRegions())) {
    if (from.empty())
      continue;
    IRMapping values;
    for (auto [number, index] : llvm::enumerate(left))
      values.map(from.getArgument(index), to.getArgument(number));
    OpBuilder body = OpBuilder::atBlockEnd(&to.front());
    for (unsigned index : unused.set_bits())
      if (!from.getArgument(index).use_empty())
        values.map(from.getArgument(index),
                   arith::ConstantIndexOp::create(body, op.getLoc(), 0));
    for (Operation &inner : from.front())
      body.clone(inner, values);
  }
  SmallVector<ReadOp> own;
  once.walk([&](ReadOp read) {
    if (read.getArray() == op.getResult())
      own.push_back(read);
  });
  // Axes of the result: the parallel indices, then the indices of a softmax.
  readWithout(reads, once.getResult(), unused);
  readWithout(own, once.getResult(), unused);
  if (!op.getResult().use_empty()) {
    ArrayType type = op.getResult().getType();
    op.getResult().replaceAllUsesWith(
        isView(type, unused)
            ? makeView(builder, once.getResult(), type, unused.find_first())
            : makeCopy(builder, op, once.getResult(), unused));
  }
  op.erase();
  return once;
}

/// Readers of a parameter, or of data, at axes of one place use a view without
/// these.
static void dropAxes(Operation *given) {
  Value array = given->getResult(0);
  auto type = cast<ArrayType>(array.getType());
  llvm::SmallBitVector single(type.getRank());
  SmallVector<Attribute> shape;
  for (auto [axis, extent] : llvm::enumerate(type.getShape()))
    if (numberOf(extent) == 1)
      single.set(axis);
    else
      shape.push_back(extent);
  std::optional<SmallVector<ReadOp>> reads =
      readsOf(array, given, single, [](Operation *) { return true; });
  if (shape.empty() || !isView(type, single) || !reads || reads->empty())
    return;
  OpBuilder builder(given->getContext());
  builder.setInsertionPointAfter(given);
  Value view =
      makeView(builder, array, ArrayType::get(shape, type.getElementType()),
               single.find_first());
  readWithout(*reads, view, single);
}

/// Returns whether `read` is at the only place of an axis of one place.
static bool isAtOnlyPlaces(ReadOp read, ComputeOp reader) {
  for (auto [axis, extent] : llvm::enumerate(read.getArrayType().getShape()))
    if (numberOf(extent) == 1 &&
        !fovea::attn::staysInside(classify(read.getIndices()[axis], reader),
                                  extent, reader))
      return false;
  return true;
}

/// The ops of a recurrence in which an index of one place orders the reads: all
/// that remain after repeatedly removing ops that read none of the rest, or
/// that none of the rest reads. If all of their reads of each other are at the
/// only places of such indices, none of these orders anything.
static llvm::SmallPtrSet<Operation *, 16> recurrencesOf(SystemOp system) {
  llvm::MapVector<Operation *, SmallVector<Operation *>> readers, sources;
  for (Operation &op : system.getOps()) {
    readers[&op];
    sources[&op];
  }
  for (Operation &op : system.getOps())
    forArrays(op, [&](Operation *, Value array) {
      Operation *source = array.getDefiningOp();
      if (readers.contains(source)) {
        readers[source].push_back(&op);
        sources[&op].push_back(source);
      }
    });
  llvm::SmallPtrSet<Operation *, 16> left;
  for (auto &[op, own] : readers)
    left.insert(op);
  for (auto *before : {&sources, &readers}) {
    auto *after = before == &sources ? &readers : &sources;
    llvm::SmallDenseMap<Operation *, size_t> waiting;
    SmallVector<Operation *> free;
    for (auto &[op, own] : *before) {
      waiting[op] = llvm::count_if(
          own, [&](Operation *other) { return left.contains(other); });
      if (left.contains(op) && waiting[op] == 0)
        free.push_back(op);
    }
    while (!free.empty()) {
      Operation *op = free.pop_back_val();
      left.erase(op);
      for (Operation *other : (*after)[op])
        if (left.contains(other) && --waiting[other] == 0)
          free.push_back(other);
    }
  }
  llvm::EquivalenceClasses<Operation *> connected;
  SmallVector<Operation *> ordered;
  for (Operation *op : left) {
    connected.insert(op);
    for (Operation *source : sources[op])
      if (left.contains(source))
        connected.unionSets(op, source);
    forArrays(*op, [&](Operation *user, Value array) {
      if (!left.contains(array.getDefiningOp()))
        return;
      ReadOp read = plainRead(user, array);
      auto reader = dyn_cast<ComputeOp>(op);
      if (!read || !reader || !isAtOnlyPlaces(read, reader))
        ordered.push_back(op);
    });
  }
  llvm::SmallPtrSet<Operation *, 16> result;
  for (Operation *op : ordered)
    for (Operation *member : connected.members(op))
      result.insert(member);
  return result;
}

namespace {
struct DropIndices : fovea::attn::impl::DropIndicesBase<DropIndices> {
  using DropIndicesBase::DropIndicesBase;

  void runOnSystem(SystemOp system) {
    llvm::SetVector<Operation *> worklist;
    for (auto op : system.getOps<ComputeOp>())
      worklist.insert(op);
    if (ofOne) {
      for (Operation &op : llvm::make_early_inc_range(system.getOps()))
        if (isa<ParamOp, DataOp>(op))
          dropAxes(&op);
      worklist.remove_if([&, recurrent = recurrencesOf(system)](Operation *op) {
        return recurrent.contains(op);
      });
    }
    // The sums of the objective are the same whatever else is asked for.
    llvm::SetVector<Operation *> needed = neededBy(system, /*objective=*/true);
    while (!worklist.empty()) {
      auto op = cast<ComputeOp>(worklist.pop_back_val());
      llvm::SmallBitVector unused = unusedIndices(op, system, ofOne);
      // Without them, a sum may be a product.
      bool isSum = ofOne && op.getReducer() == Reducer::sum &&
                   isView(op.getResult().getType(), unused);
      bool isNeeded = needed.contains(op);
      std::optional<SmallVector<ReadOp>> reads = readsOf(
          op.getResult(), op, unused,
          [&](Operation *user) {
            return !isNeeded ||
                   needed.contains(
                       op->getBlock()->findAncestorOpInBlock(*user));
          },
          isSum, ofOne);
      if (unused.none() || !reads || (reads->empty() && !isSum))
        continue;
      // Its readers may not depend on the index any more either.
      for (ReadOp read : *reads)
        if (auto reader = read->getParentOfType<ComputeOp>(); reader && !ofOne)
          worklist.insert(reader);
      needed.remove(op);
      ComputeOp once = dropIndices(op, unused, *reads);
      if (isNeeded)
        needed.insert(once);
    }
  }

  void runOnOperation() override {
    for (auto system : getOperation().getOps<SystemOp>())
      runOnSystem(system);
  }
};
} // namespace
