//===- Addresses.cpp - where the elements of arrays lie in a kernel -------===//
//
// The part of BodyEmitter that computes the start of an array at the current
// place, and the strides of its elements.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/BodyEmitter.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

/// The address of the row at `step`.
Value BodyEmitter::startOfRow(const Storage &array, Value step) {
  Value count = builder.number(1);
  for (Attribute length : array.type.getShape())
    count = builder.mul(count, extent(length));
  return builder.add(start(storage.of(array.rowOf)), builder.mul(step, count));
}

/// Of a carry that is the row of the step before.
Value BodyEmitter::startOfCarry(const Storage &array, Value step) {
  auto scan = cast<ScanOp>(array.along->op);
  Value one = builder.number(1), before, exists;
  if (scan.getReverse()) {
    before = builder.add(step, one);
    exists = builder.less(
        before, extent(scan.getExtent(), [](StringRef) { return Value(); }));
  } else {
    before = builder.sub(step, one);
    exists = builder.atMost(builder.number(0), before);
  }
  // From the first row to the initial array, wherever that is.
  auto addressOf = [&](Value pointer) {
    return builder.create<LLVM::PtrToIntOp>(builder.i64(), pointer);
  };
  Type element = storage.elementOf(array.type.getElementType());
  int64_t bytes = std::max(8u, element.getIntOrFloatBitWidth()) / 8;
  Value distance =
      builder.sub(addressOf(base(storage.of(array.init))),
                  addressOf(builder.pointerSlot(place.frame, array.slot)));
  Value init = builder.create<arith::DivSIOp>(distance, builder.number(bytes));
  return builder.select(exists, startOfRow(array, before), init);
}

Value BodyEmitter::start(const Storage &array) {
  if (array.rowOf) {
    Value loopIndex = array.along->op->getRegion(0).getArgument(0);
    Value step = place.steps.lookup(loopIndex);
    return array.init ? startOfCarry(array, step) : startOfRow(array, step);
  }
  if (!array.perExample)
    return builder.number(0);
  return builder.mul(placesBefore(array),
                     builder.number(numbersIn(array.type)));
}

Value BodyEmitter::placesBefore(const Storage &array) {
  assert(place.example && "only an example has an array of its own");
  if (array.layout == 0)
    return array.ranks ? place.rank : place.example;
  return builder.entry(place.frame, storage.slotOfLayout(array.layout),
                       place.example);
}

/// The distance between neighbours along an axis.
Value BodyEmitter::stride(const Storage &array, size_t axis) {
  size_t rank = array.type.getRank();
  if (array.strip >= 0 && array.parts == 0 && axis == array.rowAxis)
    return place.strips[array.strip].stride;
  Value stride = builder.number(1);
  while (++axis < rank)
    stride = builder.mul(extent(array.type.getExtent(axis)), stride);
  return stride;
}

Value BodyEmitter::base(const Storage &array) {
  if (array.strip >= 0)
    return place.strips[array.strip].base;
  return builder.at(storage.elementOf(array.type.getElementType()),
                    builder.pointerSlot(place.frame, array.slot), start(array));
}

Index BodyEmitter::offset(const Storage &array, ArrayRef<Index> indices) {
  Index result = {builder.number(0)};
  Value stride = builder.number(1);
  SmallVector<Index> inStrip;
  bool isStrip = array.strip >= 0 && array.parts == 0;
  if (isStrip) {
    // All other axes except the last have one place here.
    inStrip = {indices[array.rowAxis], indices.back()};
    inStrip[0].base =
        builder.sub(inStrip[0].base, place.strips[array.strip].firstRow);
    indices = inStrip;
  }
  for (size_t axis = indices.size(); axis-- > 0;) {
    const Index &index = indices[axis];
    auto number = stride.getDefiningOp<arith::ConstantOp>();
    if (lanesOf(index.base) || lanesOf(result.base) ||
        (index.step != 0 && !number)) {
      Value part = builder.create<arith::MulIOp>(
          builder.splat(materialise(index), lanes),
          builder.splat(stride, lanes));
      result = {builder.create<arith::AddIOp>(
          builder.splat(materialise(result), lanes), part)};
    } else {
      result.base = builder.add(result.base, builder.mul(index.base, stride));
      if (index.step != 0)
        result.step +=
            index.step * cast<IntegerAttr>(number.getValue()).getInt();
    }
    if (axis != 0)
      stride = isStrip
                   ? this->stride(array, array.rowAxis)
                   : builder.mul(stride, extent(array.type.getExtent(axis)));
  }
  return array.parts > 1 ? inTurns(array, result) : result;
}

/// The address of a place in an array whose parts alternate, a vector of each.
Index BodyEmitter::inTurns(const Storage &array, const Index &index) {
  unsigned ofVector = storage.packedLanes();
  Value size = builder.number(ofVector);
  Value width = builder.number(numbersIn(array.type) / array.parts);
  Value part = builder.div(index.base, width);
  Value place = builder.rem(index.base, width);
  Value vector = builder.add(
      builder.mul(builder.div(place, size), builder.number(array.parts)), part);
  return {builder.add(builder.mul(vector, size), builder.rem(place, size)),
          index.step};
}

BodyEmitter::View BodyEmitter::view(const Storage &array,
                                    ArrayRef<AccessIndex> axes,
                                    ArrayRef<Index> indices) {
  View view;
  SmallVector<Index> at;
  for (auto [axis, index] : llvm::enumerate(axes)) {
    if (index.kind == AccessIndex::Iterator) {
      view.along[index.iterator] = stride(array, axis);
      at.push_back(indices[index.iterator]);
      continue;
    }
    Value number = builder.number(index.offset);
    if (index.kind == AccessIndex::Outer)
      number = builder.add(place.steps.lookup(index.value), number);
    at.push_back({number});
  }
  view.base = builder.at(storage.elementOf(array.type.getElementType()),
                         base(array), offset(array, at).base);
  return view;
}
