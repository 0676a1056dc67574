//===- SumOverPlaces.cpp - the sum over all ways to choose ----------------===//
//
// If places are independent, the sum of a product is a product of sums. If each
// depends on the previous one, it is the forward recursion of a hidden Markov
// model (Rabiner 1989), in logs: the total over all paths that end in a value.
// The path with the largest p is Viterbi's (1967).
//
//===----------------------------------------------------------------------===//

#include "passes/derive/SumOverPlaces.h"
#include "passes/derive/Derive.h"
#include "passes/derive/EnumeratePlaces.h"
#include "passes/derive/EquationBuilder.h"

#include <limits>

using namespace mlir;
using namespace fovea::attn;

namespace {

class PlaceSum : EquationBuilder {
public:
  PlaceSum(const OpBuilder &builder, const Places &places, bool trained);

  LogSums total();
  void replaceBest();
  LogicalResult drawFromSum(ChoiceOp generated, bool isWhole);

private:
  Value logTable(ChoiceOp op, ArrayRef<Attribute> over, Attribute values);
  Value sumBefore(ChoiceOp generated, Value logps);
  Value logOfRow(ChoiceOp generated, Value logits);
  Places withGenerated(ChoiceOp generated, Value logps, const Places &places);
  Value score(Scalars &at, Value current, Value previous);
  Value atStart(Scalars &at, ArrayRef<Value> rest, Value value);
  Value lastOf(Scalars &at, Value array, ArrayRef<Value> rest, Value value);
  Value step(Scalars &at, Value ways, Value current, Value previous);
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
  Value ways; // of the total of a chain
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
  table = logTable(choice, over, values);
  if (places.start)
    start = logTable(places.start, rest, values);
}

/// log p of each of the `values` of a choice, over `over` and the values.
Value PlaceSum::logTable(ChoiceOp op, ArrayRef<Attribute> over,
                         Attribute values) {
  Value given = op.getParameters()[0];
  bool isLogit = cast<StringAttr>(op.getParameterNames()[0])
                     .getValue()
                     .starts_with("logit");
  SmallVector<Attribute> all(over);
  all.push_back(values);
  std::string label = ("log_p." + op.getTarget()).str();
  if (op.getDistribution() == Distribution::categorical && isLogit)
    return compute(label, over, Reducer::log_softmax, values,
                   [&](Scalars &at) { return at.read(given); });
  return compute(label, all, Reducer::none, {}, [&](Scalars &at) {
    Value value = at.read(given);
    return op.getDistribution() == Distribution::bernoulli
               ? at.logOfBit(value, isLogit)
               : at.logOfProbability(value);
  });
}

/// log p of a value, and of the data there, at the place given by the first
/// indices.
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

/// log p of a value before the first place: the choice there, or a single dummy
/// value.
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

/// The total of the paths to the value `previous` at the previous place,
/// extended by a step to `current` at the current place.
Value PlaceSum::step(Scalars &at, Value ways, Value current, Value previous) {
  ArrayRef<Value> place = ArrayRef<Value>(at.indices).take_front(axes.size());
  SmallVector<Value> others(place);
  others.erase(others.begin() + axis);
  SmallVector<Value> where = moved(place, -1, at);
  where.push_back(previous);
  Value before = at.readOr(ways, where, atStart(at, others, previous));
  return at.add(before, score(at, current, previous));
}

/// The total, or the best, of all paths that end in a value at a place: over
/// the places and the values.
Value PlaceSum::recursion(Reducer reducer) {
  SmallVector<Attribute> all(axes);
  all.push_back(values);
  Value self =
      UnrealizedConversionCastOp::create(
          builder, loc, ArrayType::get(all, builder.getF64Type()), ValueRange())
          .getResult(0);
  Value ways = compute((reducer == Reducer::max ? "best." : "ways.") + name,
                       all, reducer, values, [&](Scalars &at) {
                         return step(at, self, at.indices[axes.size()],
                                     at.indices.back());
                       });
  self.replaceAllUsesWith(ways);
  self.getDefiningOp()->erase();
  return ways;
}

/// The value of `recursion` at the last place.
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

LogSums PlaceSum::total() {
  if (!isChain) {
    Value each =
        compute("log_sum." + name, axes, Reducer::logsumexp, values,
                [&](Scalars &at) { return score(at, at.indices.back(), {}); });
    return {each, sum("log_sums." + name, axes,
                      [&](Scalars &at) { return at.read(each); })};
  }
  ways = recursion(Reducer::logsumexp);
  Value each = compute(
      "log_sum." + name, rest, Reducer::logsumexp, values, [&](Scalars &at) {
        ArrayRef<Value> place(at.indices);
        return lastOf(at, ways, place.drop_back(), place.back());
      });
  return {each, sum("log_sums." + name, rest,
                    [&](Scalars &at) { return at.read(each); })};
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
    // The predecessor on the best path to each value.
    Value from = compute(
        "", all, Reducer::argmax, values,
        [&](Scalars &at) {
          return step(at, ways, at.indices[axes.size()], at.indices.back());
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

//===----------------------------------------------------------------------===//
// In decoding
//===----------------------------------------------------------------------===//

/// log p of all that was generated ahead of a place of `generated`, which has
/// an axis more than the choice: over its places and the values of the choice.
/// `logps`: of each symbol.
Value PlaceSum::sumBefore(ChoiceOp generated, Value logps) {
  auto shape = cast<ArrayType>(generated.getResult().getType()).getShape();
  SmallVector<Attribute> all(shape.begin(), shape.end());
  all.push_back(values);
  Value self =
      UnrealizedConversionCastOp::create(
          builder, loc, ArrayType::get(all, builder.getF64Type()), ValueRange())
          .getResult(0);
  // At the previous place, and for the symbol generated there.
  Value sums =
      compute("sum_log_p." + generated.getTarget(), all, Reducer::none, {},
              [&](Scalars &at) {
                ArrayRef<Value> place = ArrayRef<Value>(at.indices).drop_back();
                Value value = at.indices.back();
                SmallVector<Value> before(place);
                before.back() = at.before(place.back());
                before.push_back(value);
                ArrayRef<Value> there = ArrayRef<Value>(before).drop_back();
                Value none = arith::ConstantOp::create(
                    at.builder, loc,
                    at.builder.getZeroAttr(
                        cast<ArrayType>(generated.getResult().getType())
                            .getElementType()));
                Value symbol = at.readOr(generated.getResult(), there, none);
                SmallVector<Value> where = {value};
                llvm::append_range(where, there);
                where.push_back(at.asPlace(symbol));
                Value zero = at.constant(0);
                Value sum = at.readOr(self, before, zero);
                return at.add(sum, at.readOr(logps, where, zero));
              });
  self.replaceAllUsesWith(sums);
  self.getDefiningOp()->erase();
  return sums;
}

/// log p of a row: what its last symbol adds to the row before it is in the
/// number of that symbol.
Value PlaceSum::logOfRow(ChoiceOp generated, Value logits) {
  auto row = cast<ArrayType>(generated.getResult().getType()).getShape();
  Value each = compute(
      "log_p_so_far." + generated.getTarget(), row.getValue(), Reducer::none,
      {}, [&](Scalars &at) {
        return at.read(logits, at.asPlace(at.read(generated.getResult())));
      });
  return compute("log_sum." + name, {}, Reducer::none, {}, [&](Scalars &at) {
    Value length = ExtentOp::create(at.builder, loc, cast<StringAttr>(row[0]),
                                    Value(), UnitAttr());
    return at.readOr(each, at.before(length), at.constant(0));
  });
}

/// The places, with log p of what is generated as the last evidence: as if it
/// were observed, by the equations of the objective.
Places PlaceSum::withGenerated(ChoiceOp generated, Value logps,
                               const Places &places) {
  auto over = generated->getAttrOfType<DictionaryAttr>(overName);
  bool hasCurrent = over.getAs<BoolAttr>("current").getValue();
  bool hasPrevious = over.getAs<BoolAttr>("previous").getValue();
  auto own = cast<ArrayType>(generated.getResult().getType()).getShape();
  auto shape = cast<ArrayType>(logps.getType()).getShape().getValue();
  std::string name = generated.getTarget().str();
  Value logp = compute(
      "log_p." + name, shape.drop_back(), Reducer::none, {}, [&](Scalars &at) {
        ArrayRef<Value> place(at.indices);
        Value symbol = ReadOp::create(at.builder, loc, generated.getResult(),
                                      place.take_back(own.size()));
        SmallVector<Value> there(place);
        there.push_back(at.asPlace(symbol));
        Value read = ReadOp::create(at.builder, loc, logps, there);
        return read;
      });
  Places result = places;
  result.evidence.push_back({hasCurrent, hasPrevious, logp, logp});
  return result;
}

/// Replaces what is generated. `isWhole`: log p of all of it is an output.
LogicalResult PlaceSum::drawFromSum(ChoiceOp generated, bool isWhole) {
  auto shape = cast<ArrayType>(generated.getResult().getType()).getShape();
  auto over = generated->getAttrOfType<DictionaryAttr>(overName);
  bool hasCurrent = over.getAs<BoolAttr>("current").getValue();
  bool hasPrevious = over.getAs<BoolAttr>("previous").getValue();
  bool isBit = generated.getDistribution() == Distribution::bernoulli;
  SmallVector<Attribute> own(shape.begin(), shape.end());
  SmallVector<int64_t> where;
  for (Attribute place : over.getAs<ArrayAttr>("places"))
    where.push_back(cast<IntegerAttr>(place).getInt());
  bool isFirst = true; // whether the axes are those of the choice, then others
  for (auto [number, place] : llvm::enumerate(where))
    isFirst &= place == int64_t(number);
  bool isFinite =
      isBit || generated.getDistribution() == Distribution::categorical;
  bool isOwn = own.size() == axes.size();
  if (!isFinite || !isFirst ||
      (!isOwn && (isChain || own.size() != axes.size() + 1))) {
    auto diag = generated.emitError()
                << "'marginal' of '" << name << "' cannot sum over what '"
                << generated.getTarget() << "' is drawn from";
    diag.attachNote(loc) << (isFinite ? "its places are others than those of "
                                        "the choice, or several for one"
                                      : "only symbols, places and bits have a "
                                        "sum that can be drawn from");
    return failure();
  }
  Attribute symbols = isBit ? Attribute(builder.getI64IntegerAttr(2))
                            : lastExtent(generated.getParameters()[0]);
  SmallVector<Attribute> all(unsigned(hasCurrent) + unsigned(hasPrevious),
                             values);
  llvm::append_range(all, own);
  Value logps = logTable(generated, all, symbols), whole, before;
  if (isChain) {
    Places seen = withGenerated(generated, logps, places);
    PlaceSum known(builder, seen, /*trained=*/false);
    whole = known.total().total;
    // The outputs so far are included in the paths to the previous place.
    ways = known.ways;
  } else if (!isOwn) {
    before = sumBefore(generated, logps);
  }
  // Over the places, the symbols, and the values of the choice.
  SmallVector<Attribute> kept(own);
  kept.push_back(symbols);
  auto logpAt = [&](Scalars &at, Value current, Value previous) {
    SmallVector<Value> where;
    if (hasCurrent)
      where.push_back(current);
    if (hasPrevious)
      where.push_back(previous);
    llvm::append_range(where,
                       ArrayRef<Value>(at.indices).take_front(own.size() + 1));
    Value read = ReadOp::create(at.builder, loc, logps, where);
    return read;
  };
  Value logits;
  if (isChain) {
    SmallVector<Attribute> both(kept);
    both.push_back(values);
    Value each =
        compute("", both, Reducer::logsumexp, values, [&](Scalars &at) {
          Value previous = at.indices.back();
          Value current = at.indices[own.size() + 1];
          return at.add(step(at, ways, current, previous),
                        logpAt(at, current, previous));
        });
    logits =
        compute("logits." + generated.getTarget(), kept, Reducer::logsumexp,
                values, [&](Scalars &at) { return at.read(each); });
  } else {
    logits = compute("logits." + generated.getTarget(), kept,
                     Reducer::logsumexp, values, [&](Scalars &at) {
                       Value value = at.indices.back();
                       auto valueAt = [&](Value array, size_t count) {
                         SmallVector<Value> place(
                             ArrayRef<Value>(at.indices).take_front(count));
                         place.push_back(value);
                         Value read =
                             ReadOp::create(at.builder, loc, array, place);
                         return read;
                       };
                       Value logp = logpAt(at, value, {});
                       if (before)
                         logp = at.add(valueAt(before, own.size()), logp);
                       return at.add(valueAt(table, axes.size()), logp);
                     });
  }
  Value sums = logits;
  if (isBit)
    logits = compute("logit." + generated.getTarget(), own, Reducer::none, {},
                     [&](Scalars &at) {
                       Value set = at.read(logits, at.place(1));
                       return at.sub(set, at.read(logits, at.place(0)));
                     });
  auto drawn = ChoiceOp::create(
      builder, generated.getLoc(), generated.getResult().getType(),
      generated.getTargetAttr(), generated.getDistributionAttr(),
      builder.getStrArrayAttr({isBit ? "logit" : "logits"}), {logits}, Value(),
      Value(), Value(), Value(), generated.getEndAttr(), UnitAttr(),
      DictionaryAttr());
  if (generated->hasAttr(continuedName) && before && axes.empty())
    whole = logOfRow(drawn, sums);
  if (isWhole && whole)
    OutputOp::create(builder, generated.getLoc(),
                     builder.getStringAttr("logp/sum/" + generated.getTarget()),
                     whole);
  generated.getResult().replaceAllUsesWith(drawn.getResult());
  generated.erase();
  return success();
}

LogSums fovea::attn::sumOverPlaces(const OpBuilder &builder,
                                   const Places &places, bool trained) {
  return PlaceSum(builder, places, trained).total();
}

void fovea::attn::findMostProbable(const OpBuilder &builder,
                                   const Places &places) {
  PlaceSum(builder, places, /*trained=*/false).replaceBest();
}

LogicalResult fovea::attn::generateFromSum(ChoiceOp choice, ChoiceOp start,
                                           bool isWhole) {
  auto system = choice->getParentOfType<SystemOp>();
  StringAttr name = choice.getTargetAttr();
  Location loc = choice.getLoc();
  if (failed(enumeratePlaces(choice, start)))
    return failure();
  Places places;
  SmallVector<ChoiceOp> generated;
  for (auto op : system.getOps<ChoiceOp>()) {
    auto over = op->getAttrOfType<DictionaryAttr>(overName);
    if (op->hasAttr(chainName) && op.getTargetAttr() == name)
      places.choice = op;
    else if (op->hasAttr(startName) && op.getTargetAttr() == name)
      places.start = op;
    else if (over && over.get("of") == name)
      generated.push_back(op);
  }
  if (generated.size() > 1) {
    auto diag = emitError(loc) << "'marginal' of '" << name.getValue()
                               << "' sums for one generated name, but '"
                               << generated[0].getTarget() << "' and '"
                               << generated[1].getTarget() << "' depend on it";
    diag.attachNote(generated[1].getLoc()) << "this is the second";
    return failure();
  }
  auto builder = OpBuilder::atBlockEnd(places.choice->getBlock());
  for (ChoiceOp one : generated)
    if (failed(PlaceSum(builder, places, /*trained=*/false)
                   .drawFromSum(one, isWhole)))
      return failure();
  findMostProbable(builder, places);
  for (ChoiceOp left : {places.choice, places.start})
    if (left)
      left.erase();
  return success();
}
