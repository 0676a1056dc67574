//===- Reads.cpp - elements of arrays in a body ---------------------------===//
//
// The reads of a body: an element in place, or the value that replaces one
// outside the array.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/BodyEmitter.h"
#include "passes/analysis/Batch.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using arith::CmpIPredicate;

Value BodyEmitter::readElement(const Storage &array, ArrayRef<Index> indices,
                               bool alwaysInside) {
  Type element = storage.elementOf(array.type.getElementType());
  Value start = base(array);
  Index where = offset(array, indices);
  auto load = [&](Type type, const Index &at) {
    return loadElement(type, start, at, alwaysInside);
  };
  const runtime::StorageFormat *format =
      array.strip < 0 ? storage.formatOf(array) : nullptr;
  return format ? readStored(array, *format, where, load)
                : load(element, where);
}

/// The elements of this type at `where` from an address, in each lane.
Value BodyEmitter::loadElement(Type element, Value start, const Index &where,
                               bool alwaysInside) {
  Value active = alwaysInside ? tail : builder.both(tail, guard);
  if (where.isUniform() && (alwaysInside || !guard))
    return builder.load(element, builder.at(element, start, where.base));
  active = active ? builder.splat(active, lanes) : active;
  if (where.step == 1)
    return builder.load(withLanes(element, lanes),
                        builder.at(element, start, where.base), active);
  return builder.gather(cast<VectorType>(withLanes(element, lanes)), start,
                        builder.splat(materialise(where), lanes), active);
}

/// Whether the array has an element at `indices`, in each lane.
Value BodyEmitter::isInside(const Storage &array, ArrayRef<Index> indices) {
  Value inside;
  for (auto [axis, index] : llvm::enumerate(indices)) {
    Value at = materialise(index);
    Value inner;
    Value bound = extent(array.type.getExtent(axis), [&](StringRef parent) {
      for (size_t before = axis; before-- > 0;)
        if (extentText(array.type.getExtent(before)) == parent) {
          inner = materialise(indices[before]);
          // If it is outside itself, any place will do.
          if (inside && !lanesOf(inner) && !lanesOf(inside))
            inner = builder.select(inside, inner, builder.number(0));
          break;
        }
      return inner && !lanesOf(inner) ? inner : Value();
    });
    if (inner && lanesOf(inner))
      bound = nestedLengths(
          storage.length(
              cast<StringAttr>(array.type.getExtent(axis)).getValue()),
          inner, inside);
    // One comparison: below 0 is very large without a sign.
    Value part = builder.compare(CmpIPredicate::ult, at,
                                 builder.splat(bound, lanesOf(at)));
    inside = builder.both(inside, part);
  }
  return inside ? inside : builder.truth(true);
}

/// Returns whether every index of a read belongs to the op or to a loop over
/// the same axis, or is a number inside it.
bool BodyEmitter::isAlwaysInside(ReadOp op) {
  auto compute = op->getParentOfType<ComputeOp>();
  for (auto [axis, index] : llvm::enumerate(op.getIndices())) {
    Attribute extent = op.getArrayType().getExtent(axis);
    // A nested length may belong to another parent.
    auto name = dyn_cast<StringAttr>(extent);
    if (op.getOtherwise() && name &&
        !storage.length(name.getValue()).parent.empty())
      return false;
    if (auto argument = dyn_cast<BlockArgument>(index)) {
      Operation *parent = argument.getOwner()->getParentOp();
      Attribute own = parent == compute
                          ? compute.getExtents()[argument.getArgNumber()]
                          : parent->getAttr("extent");
      if (own == extent)
        continue;
      auto a = dyn_cast_or_null<IntegerAttr>(own);
      auto b = dyn_cast<IntegerAttr>(extent);
      if (a && b && a.getInt() <= b.getInt())
        continue;
      return false;
    }
    if (auto step = index.getDefiningOp<StepOp>();
        step && step.getExtent() == extent)
      continue;
    auto constant = index.getDefiningOp<arith::ConstantOp>();
    auto bound = dyn_cast<IntegerAttr>(extent);
    if (!constant || !bound)
      return false;
    int64_t place = cast<IntegerAttr>(constant.getValue()).getInt();
    if (place < 0 || place >= bound.getInt())
      return false;
  }
  return true;
}

/// The value of case number `number` and the following ones, outside the array
/// itself.
Value BodyEmitter::readCase(ReadOp op, unsigned number, ArrayRef<Index> indices,
                            Value otherwise) {
  if (number == op.getAlternatives().size())
    return otherwise;
  Value alternative = op.getAlternatives()[number];
  const Storage &array = storage.of(alternative);
  auto places = cast<ArrayAttr>((*op.getPlaces())[number]);
  Value matches;
  SmallVector<bool> placed(indices.size());
  for (Attribute pair : places) {
    auto entry = cast<ArrayAttr>(pair);
    int64_t axis = cast<IntegerAttr>(entry[0]).getInt();
    placed[axis] = true;
    Value at = materialise(indices[axis]);
    Value wanted;
    if (auto at = dyn_cast<IntegerAttr>(entry[1]))
      wanted = builder.number(at.getInt());
    else
      wanted = extent(entry[1], [](StringRef) { return Value(); });
    matches = builder.both(matches,
                           builder.compare(CmpIPredicate::eq, at,
                                           builder.splat(wanted, lanesOf(at))));
  }
  SmallVector<Index> rest;
  for (auto [axis, index] : llvm::enumerate(indices))
    if (!placed[axis])
      rest.push_back(index);
  Type element = storage.elementOf(array.type.getScalarType());
  auto readHere = [&]() -> Value {
    Value zero = otherwise ? otherwise : builder.constant(element, 0);
    Value inside = isInside(array, rest);
    if (!lanesOf(inside) && !guard)
      return builder.choose(
          inside, [&] { return readElement(array, rest, true); },
          [&] { return zero; });
    llvm::SaveAndRestore guarded(guard, builder.both(guard, inside));
    return builder.select(inside, readElement(array, rest, false), zero);
  };
  auto readLater = [&] {
    return readCase(op, number + 1, indices,
                    otherwise ? otherwise : builder.constant(element, 0));
  };
  if (!matches)
    return readHere();
  if (!lanesOf(matches) && !guard)
    return builder.choose(matches, readHere, readLater);
  Value later = readLater();
  llvm::SaveAndRestore guarded(guard, builder.both(guard, matches));
  return builder.select(matches, readHere(), later);
}

/// Returns whether a sum computes functions of an array that it streams, as
/// additive attention does with the keys: more data than the near caches hold,
/// and slow enough for prefetching.
static bool isStreamed(ReadOp op) {
  auto compute = op->getParentOfType<ComputeOp>();
  if (!compute || compute.getReducer() == Reducer::none ||
      !isPerExample(op.getArray()))
    return false;
  auto isOfCompute = [&](Value index) {
    auto argument = dyn_cast<BlockArgument>(index);
    return argument && argument.getOwner()->getParentOp() == compute;
  };
  return llvm::count_if(op.getIndices(), isOfCompute) > 1 &&
         llvm::any_of(compute.getBody().getOps(), [](Operation &each) {
           return each.getDialect()->getNamespace() == "math" ||
                  isa<SigmoidOp>(each);
         });
}

/// Prefetches this read's element a few rows ahead.
void BodyEmitter::prefetchAhead(const Storage &array, ArrayRef<Index> indices) {
  constexpr int64_t distance = 4096; // bytes
  Index where = offset(array, indices);
  if (where.step != 1)
    return;
  Type element = storage.elementOf(array.type.getElementType());
  Value address = builder.at(element, base(array), where.base);
  builder.prefetch(builder.at(builder.getI8Type(), address, distance),
                   /*forWriting=*/false);
}

void BodyEmitter::emitRead(ReadOp op) {
  if (Value element = place.elements.lookup(op.getArray())) {
    values[op.getResult()] = element;
    return;
  }
  const Storage &array = storage.of(op.getArray());
  SmallVector<Index> indices;
  for (Value index : op.getIndices())
    indices.push_back(indexOf(index));
  bool always = isAlwaysInside(op);
  if (always || (op.getAlternatives().empty() && !op.getOtherwise())) {
    if (isStreamed(op))
      prefetchAhead(array, indices);
    values[op.getResult()] = readElement(array, indices, always);
    return;
  }
  Type element = storage.elementOf(op.getResult().getType());
  Value otherwise = op.getOtherwise() ? valueOf(op.getOtherwise())
                                      : builder.constant(element, 0);
  Value inside = isInside(array, indices);
  if (!lanesOf(inside) && !guard) {
    values[op.getResult()] = builder.choose(
        inside, [&] { return readElement(array, indices, true); },
        [&] { return readCase(op, 0, indices, otherwise); });
    return;
  }
  Value outside = builder.create<arith::XOrIOp>(
      inside, builder.splat(builder.truth(true), lanesOf(inside)));
  Value elsewhere, here;
  {
    llvm::SaveAndRestore guarded(guard, builder.both(guard, outside));
    elsewhere = readCase(op, 0, indices, otherwise);
  }
  llvm::SaveAndRestore guarded(guard, builder.both(guard, inside));
  here = readElement(array, indices, false);
  values[op.getResult()] = builder.select(inside, here, elsewhere);
}
