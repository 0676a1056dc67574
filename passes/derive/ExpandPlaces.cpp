//===- ExpandPlaces.cpp - an axis for every value of a choice -------------===//

#include "passes/analysis/Equations.h"
#include "passes/derive/EnumeratePlaces.h"
#include "passes/derive/Enumeration.h"

using namespace mlir;
using namespace fovea::attn;

SmallVector<Attribute> Enumeration::longer(const Dependence &of,
                                           ArrayRef<Attribute> extents) {
  SmallVector<Attribute> all(of.count(), values);
  llvm::append_range(all, extents);
  return all;
}

/// `array`, with an axis for each value that is wanted. What depends on the
/// choice has its axes already.
Value Enumeration::spread(Value array, const Dependence &wanted) {
  Dependence own = found.lookup(array);
  if (own.count() == wanted.count())
    return array;
  auto shape = cast<ArrayType>(array.getType());
  SmallVector<Attribute> extents =
      longer(wanted, shape.getShape().getValue().drop_front(own.count()));
  return compute(
      "", extents, Reducer::none, {},
      [&](Scalars &at) {
        SmallVector<Value> place;
        if (own.current)
          place.push_back(at.indices[0]);
        if (own.previous)
          place.push_back(at.indices[wanted.current]);
        llvm::append_range(
            place, ArrayRef<Value>(at.indices).drop_front(wanted.count()));
        Value read = ReadOp::create(at.builder, loc, array, place);
        return read;
      },
      shape.getElementType());
}

/// The choice itself is the number of an axis.
void Enumeration::expandValue(ReadOp read, ComputeOp op, Value current,
                              Value previous) {
  SmallVector<unsigned> places;
  bool isBefore = *isShifted(indicesOf(read, std::nullopt),
                             found.lookup(choice.getResult()), op, places);
  OpBuilder at(read);
  Location where = read.getLoc();
  Value number = arith::IndexCastOp::create(at, where, at.getI64Type(),
                                            isBefore ? previous : current);
  if (type.getElementType().isInteger(1))
    number = arith::TruncIOp::create(at, where, at.getI1Type(), number);
  // The value before the first place is given.
  Value given = read.getOtherwise();
  if (read.getAlternatives().size() == 1 &&
      !(start && read.getAlternatives().front() == start.getResult())) {
    SmallVector<Value> rest(read.getIndices());
    rest.erase(rest.begin() + *axis);
    given = ReadOp::create(at, where, read.getAlternatives().front(), rest);
  }
  if (given) {
    Value zero = arith::ConstantIndexOp::create(at, where, 0);
    Value isInside =
        arith::CmpIOp::create(at, where, arith::CmpIPredicate::sge,
                              read.getIndices()[axis.value_or(0)], zero);
    number = arith::SelectOp::create(at, where, isInside, number, given);
  }
  read.getResult().replaceAllUsesWith(number);
  read.erase();
}

/// Returns whether an array, or one of its cases, depends on the choice.
bool Enumeration::isFound(ReadOp read) {
  return found.count(read.getArray()) ||
         llvm::any_of(read.getAlternatives(),
                      [&](Value one) { return found.count(one) != 0; });
}

/// Returns whether the arrays of `read` are read at the previous place; nullopt
/// if only some are. `of` gets how they depend on the choice.
std::optional<bool> Enumeration::shiftOf(ReadOp read, ComputeOp op,
                                         Dependence &of) {
  std::optional<bool> shift;
  SmallVector<unsigned> places;
  bool isOne = true;
  auto look = [&](Value array, std::optional<size_t> number) {
    auto it = found.find(array);
    if (it == found.end())
      return;
    bool own = *isShifted(indicesOf(read, number), it->second, op, places);
    isOne &= !shift || *shift == own;
    shift = own;
    of.current |= it->second.current;
    of.previous |= it->second.previous;
  };
  look(read.getArray(), std::nullopt);
  for (auto [number, one] : llvm::enumerate(read.getAlternatives()))
    look(one, number);
  return isOne ? std::optional(shift.value_or(false)) : std::nullopt;
}

void Enumeration::expand(ReadOp read, ComputeOp op, Value current,
                         Value previous) {
  if (read.getArray() == choice.getResult())
    return expandValue(read, op, current, previous);
  // All possible results have the same leading axes.
  Dependence of;
  bool isBefore = *shiftOf(read, op, of);
  SmallVector<Value> indices;
  if (of.current)
    indices.push_back(isBefore ? previous : current);
  if (of.previous)
    indices.push_back(previous);
  llvm::append_range(indices, read.getIndices());
  read.getIndicesMutable().assign(indices);
  for (OpOperand &operand : read->getOpOperands())
    if (isa<ArrayType>(operand.get().getType()))
      operand.set(spread(operand.get(), of));
  std::optional<ArrayAttr> cases = read.getPlaces();
  if (!cases)
    return;
  SmallVector<Attribute> moved;
  for (Attribute one : *cases) {
    SmallVector<Attribute> pairs;
    for (Attribute pair : cast<ArrayAttr>(one)) {
      auto both = cast<ArrayAttr>(pair);
      int64_t number = cast<IntegerAttr>(both[0]).getInt() + of.count();
      pairs.push_back(
          builder.getArrayAttr({builder.getI64IntegerAttr(number), both[1]}));
    }
    moved.push_back(builder.getArrayAttr(pairs));
  }
  read.setPlacesAttr(builder.getArrayAttr(moved));
}

void Enumeration::expand(ComputeOp op) {
  const Dependence own = found.lookup(op.getResult());
  // The reads are looked at with the indices that the op has now.
  for (Region *region : {&op.getCondition(), &op.getBody()}) {
    if (region->empty())
      continue;
    Block &block = region->front();
    // After all others until the reads are expanded.
    Value current, previous;
    if (own.current)
      current = block.addArgument(builder.getIndexType(), op.getLoc());
    if (own.previous)
      previous = block.addArgument(builder.getIndexType(), op.getLoc());
    SmallVector<ReadOp> reads;
    region->walk([&](ReadOp read) {
      if (isFound(read))
        reads.push_back(read);
    });
    for (ReadOp read : reads)
      expand(read, op, current, previous);
    unsigned position = 0;
    for (Value number : {current, previous}) {
      if (!number)
        continue;
      Value front =
          block.insertArgument(position++, builder.getIndexType(), op.getLoc());
      number.replaceAllUsesWith(front);
    }
    block.eraseArguments(block.getNumArguments() - own.count(), own.count());
  }
  SmallVector<Attribute> names;
  if (own.current)
    names.push_back(builder.getStringAttr("value"));
  if (own.previous)
    names.push_back(builder.getStringAttr("before"));
  llvm::append_range(names, op.getIndices());
  SmallVector<int64_t> lower(own.count(), 0);
  llvm::append_range(lower, op.getLower());
  op.setIndicesAttr(builder.getArrayAttr(names));
  op.setExtentsAttr(
      builder.getArrayAttr(longer(own, op.getExtents().getValue())));
  op.setLower(lower);
  op.setNumParallel(op.getNumParallel() + own.count());
  op.setOrderAttr(movedBy(own.count(), op.getOrderAttr()));
}

/// Choices of data for each value of the latent one.
void Enumeration::expand(ChoiceOp op) {
  Dependence all;
  for (Value parameter : op.getParameters())
    if (auto it = found.find(parameter); it != found.end()) {
      all.current |= it->second.current;
      all.previous |= it->second.previous;
      all.places = it->second.places;
    }
  for (OpOperand &operand : op->getOpOperands()) {
    Value array = operand.get();
    bool isNumber = cast<ArrayType>(array.getType()).getRank() == 0 &&
                    array == op.getWeight();
    if (!isNumber)
      operand.set(spread(array, all));
  }
  SmallVector<int64_t> places(all.places.begin(), all.places.end());
  op->setAttr(
      overName,
      builder.getDictionaryAttr(
          {builder.getNamedAttr("of", choice.getTargetAttr()),
           builder.getNamedAttr("current", builder.getBoolAttr(all.current)),
           builder.getNamedAttr("previous", builder.getBoolAttr(all.previous)),
           builder.getNamedAttr("places", builder.getI64ArrayAttr(places))}));
}

/// A requested equation returns its value at the most probable values.
void Enumeration::expand(EquationOp op) {
  Value array = op.getValue();
  if (array == choice.getResult()) {
    op.getValueMutable().assign(best);
    return;
  }
  const Dependence own = found.lookup(array);
  auto shape = cast<ArrayType>(array.getType());
  Value shown = compute(
      "", shape.getShape().getValue().drop_front(own.count()), Reducer::none,
      {},
      [&](Scalars &at) {
        SmallVector<Value> where, place;
        for (unsigned number : own.places)
          where.push_back(at.indices[number]);
        for (auto [isWanted, values] : {std::pair(own.current, best),
                                        std::pair(own.previous, bestBefore)})
          if (isWanted) {
            Value value = ReadOp::create(at.builder, loc, values, where);
            if (value.getType().isInteger(1))
              value = arith::ExtUIOp::create(at.builder, loc,
                                             at.builder.getI64Type(), value);
            place.push_back(at.asPlace(value));
          }
        llvm::append_range(place, at.indices);
        Value read = ReadOp::create(at.builder, loc, array, place);
        return read;
      },
      shape.getElementType());
  op.getValueMutable().assign(shown);
}

/// The choice, for the objective: its parameters, and their dependence on the
/// previous place. Its observed value has no meaning.
void Enumeration::leaveChoice() {
  Dependence own;
  for (Value parameter : choice.getParameters())
    if (auto it = found.find(parameter); it != found.end())
      own.previous = true;
  auto leave = [&](ChoiceOp op, const Dependence &of, StringRef name) {
    auto result = cast<ArrayType>(op.getResult().getType());
    SmallVector<Value> parameters;
    for (Value parameter : op.getParameters())
      parameters.push_back(spread(parameter, of));
    Value none = compute(
        "", longer(of, result.getShape().getValue()), Reducer::none, {},
        [&](Scalars &at) -> Value {
          return arith::ConstantOp::create(
              at.builder, loc, builder.getZeroAttr(result.getElementType()));
        },
        result.getElementType());
    auto left = ChoiceOp::create(
        builder, loc, Type(), op.getTargetAttr(), op.getDistributionAttr(),
        op.getParameterNamesAttr(), parameters, none, Value(), Value(), Value(),
        Attribute(), builder.getUnitAttr(), op.getTreatmentAttr());
    int64_t along = axis ? static_cast<int64_t>(*axis) : -1;
    left->setAttr(name, builder.getI64IntegerAttr(along));
    left->setAttr(overName, builder.getBoolAttr(of.previous));
  };
  leave(choice, own, chainName);
  if (start)
    leave(start, {}, startName);
}
