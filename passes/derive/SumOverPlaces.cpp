//===- SumOverPlaces.cpp - the sum over all ways to choose ----------------===//
//
// Where each place is chosen by itself, the sum of a product is a product of
// sums. Where it is chosen from the one before, it is the forward recursion of
// a hidden Markov model (Rabiner 1989), in logs: what all ways add up to that
// end in a value. The way with the largest p is that of Viterbi (1967).
//
//===----------------------------------------------------------------------===//

#include "passes/derive/SumOverPlaces.h"
#include "passes/derive/EnumeratePlaces.h"
#include "passes/derive/EquationBuilder.h"

#include <limits>

using namespace mlir;
using namespace fovea::attn;

namespace {

class PlaceSum : EquationBuilder {
public:
  PlaceSum(const OpBuilder &builder, const Places &places, bool trained);

  Value total();
  void replaceBest();

private:
  Value logTable(ChoiceOp op, ArrayRef<Attribute> over);
  Value score(Scalars &at, Value current, Value previous);
  Value atStart(Scalars &at, ArrayRef<Value> rest, Value value);
  Value lastOf(Scalars &at, Value array, ArrayRef<Value> rest, Value value);
  Value recursion(Reducer reducer);
  SmallVector<Value> moved(ArrayRef<Value> place, int64_t by, Scalars &at);

  const Places &places;
  ChoiceOp choice;
  StringRef name;
  bool isTrained, isChain, fromBefore;
  unsigned axis = 0; // of a chain
  Attribute values;
  SmallVector<Attribute> axes, rest; // of the choice; without that of the chain
  Value table, start;
};

} // namespace

PlaceSum::PlaceSum(const OpBuilder &builder, const Places &places, bool trained)
    : EquationBuilder(builder), places(places), choice(places.choice),
      name(choice.getTarget()), isTrained(trained),
      fromBefore(choice->getAttrOfType<BoolAttr>(overName).getValue()) {
  loc = choice.getLoc();
  auto shape = cast<ArrayType>(choice.getObserved().getType()).getShape();
  axes.assign(shape.begin() + fromBefore, shape.end());
  values = this->builder.getI64IntegerAttr(2);
  if (choice.getDistribution() == Distribution::categorical)
    values = lastExtent(choice.getParameters()[0]);
  int64_t along = choice->getAttrOfType<IntegerAttr>(chainName).getInt();
  isChain = along >= 0;
  if (isChain)
    axis = static_cast<unsigned>(along);
  for (auto [number, extent] : llvm::enumerate(axes))
    if (!isChain || number != axis)
      rest.push_back(extent);
  SmallVector<Attribute> over(shape.begin(), shape.end());
  table = logTable(choice, over);
  if (places.start)
    start = logTable(places.start, rest);
}

/// log p of each value of the choice, over `over` and the values.
Value PlaceSum::logTable(ChoiceOp op, ArrayRef<Attribute> over) {
  Value given = op.getParameters()[0];
  bool isLogit = cast<StringAttr>(op.getParameterNames()[0])
                     .getValue()
                     .starts_with("logit");
  SmallVector<Attribute> all(over);
  all.push_back(values);
  std::string label = ("log_p." + name).str();
  if (op.getDistribution() == Distribution::categorical && isLogit)
    return compute(label, over, Reducer::log_softmax, values,
                   [&](Scalars &at) { return at.read(given); });
  // The log of 0 is no number that anybody looks at.
  auto logOf = [&](Scalars &at, Value p) {
    return at.either(
        at.less(at.constant(0), p), [&] { return at.log(p); },
        [&] { return at.constant(-std::numeric_limits<double>::infinity()); });
  };
  return compute(label, all, Reducer::none, {}, [&](Scalars &at) {
    if (op.getDistribution() == Distribution::categorical)
      return logOf(at, at.read(given));
    Value value = ReadOp::create(at.builder, loc, given,
                                 ArrayRef<Value>(at.indices).drop_back());
    Value isNone =
        arith::CmpIOp::create(at.builder, loc, arith::CmpIPredicate::eq,
                              at.indices.back(), at.place(0));
    if (isLogit) {
      Value against = at.select(isNone, value, at.negate(value));
      return at.negate(at.softplus(against));
    }
    Value other = at.sub(at.constant(1), value);
    return logOf(at, at.select(isNone, other, value));
  });
}

/// log p of a value, and of the data there, at the place that the first indices
/// are.
Value PlaceSum::score(Scalars &at, Value current, Value previous) {
  ArrayRef<Value> place = ArrayRef<Value>(at.indices).take_front(axes.size());
  SmallVector<Value> prior;
  if (fromBefore)
    prior.push_back(previous);
  llvm::append_range(prior, place);
  prior.push_back(current);
  Value sum = ReadOp::create(at.builder, loc, table, prior);
  for (const Places::Evidence &one : places.evidence) {
    SmallVector<Value> where;
    if (one.current)
      where.push_back(current);
    if (one.previous)
      where.push_back(previous);
    llvm::append_range(where, place);
    Value logp = ReadOp::create(at.builder, loc,
                                isTrained ? one.trained : one.logp, where);
    sum = at.add(sum, logp);
  }
  return sum;
}

/// log p of a value ahead of the first place: what is chosen there, or one
/// value that stands for whatever is given.
Value PlaceSum::atStart(Scalars &at, ArrayRef<Value> rest, Value value) {
  if (start) {
    SmallVector<Value> where(rest);
    where.push_back(value);
    Value logp = ReadOp::create(at.builder, loc, start, where);
    return logp;
  }
  Value isFirst = arith::CmpIOp::create(
      at.builder, loc, arith::CmpIPredicate::eq, value, at.place(0));
  return at.select(isFirst, at.constant(0),
                   at.constant(-std::numeric_limits<double>::infinity()));
}

/// `place` moved along the chain.
SmallVector<Value> PlaceSum::moved(ArrayRef<Value> place, int64_t by,
                                   Scalars &at) {
  SmallVector<Value> result(place);
  result[axis] =
      arith::AddIOp::create(at.builder, loc, result[axis], at.place(by));
  return result;
}

/// What all ways add up to, or the best one has, that end in a value at a
/// place: over the places and the values.
Value PlaceSum::recursion(Reducer reducer) {
  SmallVector<Attribute> all(axes);
  all.push_back(values);
  Value self =
      UnrealizedConversionCastOp::create(
          builder, loc, ArrayType::get(all, builder.getF64Type()), ValueRange())
          .getResult(0);
  auto body = [&](Scalars &at) {
    Value previous = at.indices.back(), current = at.indices[axes.size()];
    SmallVector<Value> place(
        ArrayRef<Value>(at.indices).take_front(axes.size()));
    SmallVector<Value> others(place);
    others.erase(others.begin() + axis);
    SmallVector<Value> where = moved(place, -1, at);
    where.push_back(previous);
    Value before = at.readOr(self, where, atStart(at, others, previous));
    return at.add(before, score(at, current, previous));
  };
  Value ways = compute((reducer == Reducer::max ? "best." : "ways.") + name,
                       all, reducer, values, body);
  self.replaceAllUsesWith(ways);
  self.getDefiningOp()->erase();
  return ways;
}

/// What an array of `recursion` has at the last place.
Value PlaceSum::lastOf(Scalars &at, Value array, ArrayRef<Value> rest,
                       Value value) {
  Value last;
  if (auto known = dyn_cast<IntegerAttr>(axes[axis]))
    last = at.place(known.getInt() - 1);
  else
    last = at.before(ExtentOp::create(
        at.builder, loc, cast<StringAttr>(axes[axis]), Value(), UnitAttr()));
  SmallVector<Value> where(rest);
  where.insert(where.begin() + axis, last);
  where.push_back(value);
  Value read = ReadOp::create(at.builder, loc, array, where);
  return read;
}

Value PlaceSum::total() {
  if (!isChain) {
    Value each =
        compute("log_sum." + name, axes, Reducer::logsumexp, values,
                [&](Scalars &at) { return score(at, at.indices.back(), {}); });
    return sum("log_sums." + name, axes,
               [&](Scalars &at) { return at.read(each); });
  }
  Value ways = recursion(Reducer::logsumexp);
  Value each = compute(
      "log_sum." + name, rest, Reducer::logsumexp, values, [&](Scalars &at) {
        ArrayRef<Value> place(at.indices);
        return lastOf(at, ways, place.drop_back(), place.back());
      });
  return sum("log_sums." + name, rest,
             [&](Scalars &at) { return at.read(each); });
}

void PlaceSum::replaceBest() {
  Type whole = builder.getI64Type();
  Value best, before;
  if (!isChain) {
    best = compute(
        "", axes, Reducer::argmax, values,
        [&](Scalars &at) { return score(at, at.indices.back(), {}); }, whole);
  } else {
    Value ways = recursion(Reducer::max);
    SmallVector<Attribute> all(axes);
    all.push_back(values);
    // From where the best way to each value comes.
    Value from = compute(
        "", all, Reducer::argmax, values,
        [&](Scalars &at) {
          Value previous = at.indices.back(), current = at.indices[axes.size()];
          SmallVector<Value> place(
              ArrayRef<Value>(at.indices).take_front(axes.size()));
          SmallVector<Value> others(place);
          others.erase(others.begin() + axis);
          SmallVector<Value> where = moved(place, -1, at);
          where.push_back(previous);
          Value way = at.readOr(ways, where, atStart(at, others, previous));
          return at.add(way, score(at, current, previous));
        },
        whole);
    Value last = compute(
        "", rest, Reducer::argmax, values,
        [&](Scalars &at) {
          ArrayRef<Value> place(at.indices);
          return lastOf(at, ways, place.drop_back(), place.back());
        },
        whole);
    Value self = UnrealizedConversionCastOp::create(
                     builder, loc, ArrayType::get(axes, whole), ValueRange())
                     .getResult(0);
    best = compute(
        "", axes, Reducer::none, {},
        [&](Scalars &at) -> Value {
          SmallVector<Value> others(at.indices);
          others.erase(others.begin() + axis);
          Value end = ReadOp::create(at.builder, loc, last, others);
          SmallVector<Value> where = moved(at.indices, 1, at);
          Value none = arith::ConstantIntOp::create(at.builder, loc, 0, 64);
          Value next = at.readOr(self, where, none);
          where.push_back(at.asPlace(next));
          return at.readOr(from, where, end);
        },
        whole);
    self.replaceAllUsesWith(best);
    self.getDefiningOp()->erase();
    before = compute(
        "", axes, Reducer::none, {},
        [&](Scalars &at) -> Value {
          SmallVector<Value> where(at.indices);
          where.push_back(at.asPlace(at.read(best)));
          return ReadOp::create(at.builder, loc, from, where);
        },
        whole);
  }
  auto asDrawn = [&](Value array) {
    Type element =
        cast<ArrayType>(choice.getObserved().getType()).getElementType();
    if (!element.isInteger(1))
      return array;
    return compute(
        "", axes, Reducer::none, {},
        [&](Scalars &at) { return at.isSet(at.read(array)); }, element);
  };
  for (auto op :
       llvm::to_vector(choice->getParentOfType<SystemOp>().getOps<ComputeOp>()))
    for (auto [attribute, array] :
         {std::pair(StringRef(bestName), best),
          std::pair(StringRef(bestBeforeName), before)})
      if (array && op->getAttr(attribute) == choice.getTargetAttr()) {
        op.getResult().replaceAllUsesWith(asDrawn(array));
        op.erase();
        break;
      }
}

Value fovea::attn::sumOverPlaces(const OpBuilder &builder, const Places &places,
                                 bool trained) {
  return PlaceSum(builder, places, trained).total();
}

void fovea::attn::findMostProbable(const OpBuilder &builder,
                                   const Places &places) {
  PlaceSum(builder, places, /*trained=*/false).replaceBest();
}
