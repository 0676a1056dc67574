//===- LogProbability.cpp - log p of choices, as equations ----------------===//
//
// One function per distribution. For softmax or sigmoid probabilities, computes
// the log before the probabilities, because some of them would be 0.
//
//===----------------------------------------------------------------------===//

#include "passes/derive/LogProbability.h"
#include "dialect/Distributions.h"
#include "passes/analysis/Equations.h"
#include "passes/analysis/Orders.h"
#include "passes/derive/EnumeratePlaces.h"
#include "runtime/Functions.h"

#include <limits>
#include <numbers>

using namespace mlir;
using namespace fovea::attn;

/// What the choice observes, or makes.
static Value chosenBy(ChoiceOp choice) {
  return choice.getObserved() ? choice.getObserved() : choice.getResult();
}

/// Makes `choice` the current one.
void LogProbability::begin(ChoiceOp choice) {
  loc = choice.getLoc();
  name = choice.getTarget();
  auto type = cast<ArrayType>(chosenBy(choice).getType());
  axes.assign(type.getShape().begin(), type.getShape().end());
  // The last axis of pairs belongs to the value.
  axes.truncate(axes.size() - numValueAxes(choice));
  smoothed = nullptr;
  kept.clear();
  numValues = 0;
  if (auto over = choice->getAttrOfType<DictionaryAttr>(overName)) {
    for (StringRef which : {"current", "previous"})
      numValues += over.getAs<BoolAttr>(which).getValue();
    for (unsigned number = 0; number < numValues; ++number)
      kept.push_back(number);
    for (Attribute place : over.getAs<ArrayAttr>("places"))
      kept.push_back(numValues + cast<IntegerAttr>(place).getInt());
  }
  weights.clear();
  if (choice.getWeight())
    weights.push_back(choice.getWeight());
}

/// Uncounted values need not be possible.
Value LogProbability::weighted(Scalars &at, Body one) {
  if (weights.empty())
    return one(at);
  Value weight = at.read(weights.front());
  for (Value more : ArrayRef<Value>(weights).drop_front())
    weight = at.mul(weight, at.read(more));
  Value zero = at.constant(0);
  return at.either(
      at.less(zero, at.square(weight)), [&] { return at.mul(weight, one(at)); },
      [&] { return at.constant(0); });
}

Value LogProbability::overPlaces(const Twine &label, Body body) {
  if (kept.empty())
    return sum(label, axes, body);
  Value all = compute(label, axes, Reducer::none, {}, body);
  SmallVector<Attribute> over, rest;
  SmallVector<unsigned> order(kept);
  for (unsigned number : kept)
    over.push_back(axes[number]);
  for (unsigned number = 0; number < axes.size(); ++number)
    if (!llvm::is_contained(kept, number)) {
      rest.push_back(axes[number]);
      order.push_back(number);
    }
  if (llvm::is_sorted(order) && rest.empty())
    return all;
  Value result =
      compute(label, over, rest.empty() ? Reducer::none : Reducer::sum, rest,
              [&](Scalars &at) {
                SmallVector<Value> place(axes.size());
                for (auto [index, number] : llvm::zip_equal(at.indices, order))
                  place[number] = index;
                Value read = ReadOp::create(at.builder, loc, all, place);
                return read;
              });
  // A search adds up one symbol after the other.
  if (!rest.empty())
    cast<ComputeOp>(result.getDefiningOp())
        .setOrderAttr(orderInSteps(builder.getContext()));
  return result;
}

// The same two equations whether or not per-choice values are requested: so the
// sum has one order.
Value LogProbability::sumOfLogps(Body one) {
  auto body = [&](Scalars &at) { return weighted(at, one); };
  if (!kept.empty())
    return overPlaces("logp." + name, body);
  StringRef label = axes.empty() ? "logp." : "logps.";
  Value array = compute(label + name, axes, Reducer::none, {}, body);
  if (each)
    OutputOp::create(builder, loc,
                     builder.getStringAttr("logp/" + Twine(eachName)), array);
  if (axes.empty())
    return array;
  return sum("logp." + name, axes, [&](Scalars &at) { return at.read(array); });
}

//===----------------------------------------------------------------------===//
// log p by distribution
//===----------------------------------------------------------------------===//

/// Returns the array that `array` is an alias of, or itself.
static Value throughCopies(Value array) {
  auto op = array.getDefiningOp<ComputeOp>();
  Value source = op ? copiedBy(op) : Value();
  return source ? throughCopies(source) : array;
}

/// Returns the log of `probs` if it is a softmax: the log of an underflowed
/// probability would be lost.
static Value logOfSoftmax(OpBuilder &builder, Value probs) {
  auto softmax = throughCopies(probs).getDefiningOp<ComputeOp>();
  if (!softmax || softmax.getReducer() != Reducer::softmax ||
      softmax.hasCondition())
    return {};
  auto logs = cast<ComputeOp>(builder.clone(*softmax));
  logs.setReducer(Reducer::log_softmax);
  return logs.getResult();
}

/// Returns the argument of the sigmoid `probability`.
static Value logitOfSigmoid(OpBuilder &builder, Value probability) {
  auto sigmoid = throughCopies(probability).getDefiningOp<ComputeOp>();
  if (!sigmoid || sigmoid.getReducer() != Reducer::none ||
      sigmoid.hasCondition() ||
      !sigmoid.getYielded().getDefiningOp<SigmoidOp>())
    return {};
  auto logit = cast<ComputeOp>(builder.clone(*sigmoid));
  Operation *yield = logit.getBody().front().getTerminator();
  yield->setOperand(
      0, yield->getOperand(0).getDefiningOp<SigmoidOp>().getOperand());
  return logit.getResult();
}

/// log_softmax(logits)[.., observed], or log(probs[.., observed]).
Value LogProbability::logOfCategorical(ChoiceOp choice) {
  Value given = choice.getParameters()[0], observed = choice.getObserved();
  bool fromLogits =
      cast<StringAttr>(choice.getParameterNames()[0]).getValue() == "logits";
  Attribute event = cast<ArrayType>(given.getType()).getExtent(axes.size());
  Value table =
      fromLogits ? compute("log_p." + name, axes, Reducer::log_softmax, event,
                           [&](Scalars &at) { return at.read(given); })
                 : logOfSoftmax(builder, given);
  bool isLog = bool(table);
  if (!isLog)
    table = given;
  auto asLog = [&](Scalars &at, Value value) {
    return isLog ? value : at.logOfProbability(value);
  };
  Value logp = sumOfLogps([&](Scalars &at) {
    Value symbol = at.asPlace(at.read(observed));
    return asLog(at, at.read(table, symbol));
  });
  if (smooth == 0)
    return logp;

  // Label smoothing: (1 - s) * log p + s * mean over v of log p_v.
  Value mean = compute("mean_log_p." + name, axes, Reducer::mean, event,
                       [&](Scalars &at) { return asLog(at, at.read(table)); });
  Value means = overPlaces("means." + name, [&](Scalars &at) {
    return weighted(at, [&](Scalars &) { return at.read(mean); });
  });
  ArrayRef<Attribute> over =
      cast<ArrayType>(logp.getType()).getShape().getValue();
  smoothed =
      compute("smoothed." + name, over, Reducer::none, {}, [&](Scalars &at) {
        Value exact = at.mul(at.constant(1 - smooth), at.read(logp));
        Value spread = at.mul(at.constant(smooth), at.read(means));
        return at.add(exact, spread);
      });
  return logp;
}

/// A bit x of logit l: -softplus(-l) for 1 and -softplus(l) for 0, which never
/// overflows; of probability p: log p and log(1 - p).
Value LogProbability::logOfBernoulli(ChoiceOp choice) {
  Value given = choice.getParameters()[0], observed = choice.getObserved();
  bool fromLogit =
      cast<StringAttr>(choice.getParameterNames()[0]).getValue() == "logit";
  if (Value logit = fromLogit ? Value() : logitOfSigmoid(builder, given)) {
    given = logit;
    fromLogit = true;
  }
  return sumOfLogps([&](Scalars &at) {
    Value isSet = at.isSet(at.read(observed)), value = at.read(given);
    if (fromLogit) {
      Value against = at.select(isSet, at.negate(value), value);
      return at.negate(at.softplus(against));
    }
    return at.either(
        isSet, [&] { return at.logOfProbability(value); },
        [&] { return at.logOfProbability(at.sub(at.constant(1), value)); });
  });
}

namespace {
/// See `logOfEachValue`.
class EachValue : EquationBuilder {
public:
  EachValue(const OpBuilder &builder, ChoiceOp choice)
      : EquationBuilder(builder), choice(choice),
        given(choice.getParameters()[0]) {
    loc = choice.getLoc();
  }
  Value of();

private:
  ChoiceOp choice;
  Value given;
};
} // namespace

Value EachValue::of() {
  auto type = cast<ArrayType>(choice.getResult().getType());
  ArrayRef<Attribute> axes = type.getShape().getValue();
  auto name = cast<StringAttr>(choice.getParameterNames()[0]).getValue();
  std::string label = ("log_p." + choice.getTarget()).str();
  if (name == "logits")
    return compute(label, axes, Reducer::log_softmax, lastExtent(given),
                   [&](Scalars &at) { return at.read(given); });
  bool isBit = choice.getDistribution() == Distribution::bernoulli;
  bool isLogit = name == "logit";
  SmallVector<Attribute> all(axes);
  if (isBit) {
    all.push_back(builder.getI64IntegerAttr(2));
    if (Value logit = isLogit ? Value() : logitOfSigmoid(builder, given)) {
      given = logit;
      isLogit = true;
    }
  } else {
    all.push_back(lastExtent(given));
    if (Value logs = logOfSoftmax(builder, given))
      return logs;
  }
  return compute(label, all, Reducer::none, {}, [&](Scalars &at) {
    Value value = at.read(given);
    return isBit ? at.logOfBit(value, isLogit) : at.logOfProbability(value);
  });
}

Value fovea::attn::logOfEachValue(const OpBuilder &builder, ChoiceOp choice) {
  return EachValue(builder, choice).of();
}

namespace {
/// See `addDensity`.
class Density : LogProbability {
public:
  Density(const OpBuilder &builder, ChoiceOp choice)
      : LogProbability(builder, /*smooth=*/0, /*each=*/true) {
    begin(choice);
    weights.clear();
    eachName = name.str();
    logOf(choice);
  }
};
} // namespace

void fovea::attn::addDensity(const OpBuilder &builder, ChoiceOp choice) {
  Density(builder, choice);
}

/// -((x - mean) / sd)^2 / 2 - log sd - log(2 pi) / 2
static Value logOfNormalAt(Scalars &at, Value x, Value mean, Value sd) {
  Value distance = at.square(at.div(at.sub(x, mean), sd));
  Value exponent = at.mul(at.constant(-0.5), distance);
  Value norm =
      at.add(at.log(sd),
             at.constant(0.5 * fovea::runtime::logOf(2 * std::numbers::pi)));
  return at.sub(exponent, norm);
}

Value LogProbability::logOfNormal(ChoiceOp choice) {
  Value mean = choice.getParameters()[0], sd = choice.getParameters()[1];
  return sumOfLogps([&](Scalars &at) {
    Value scale = at.read(sd);
    return logOfNormalAt(at, at.read(chosenBy(choice)), at.read(mean), scale);
  });
}

/// -log(high - low) inside, minus infinity outside. Between equal bounds, the
/// value is certain.
Value LogProbability::logOfUniform(ChoiceOp choice) {
  Value lows = choice.getParameters()[0], highs = choice.getParameters()[1];
  if (lows == highs)
    return sumOfLogps([](Scalars &at) { return at.constant(0); });
  return sumOfLogps([&](Scalars &at) {
    Value low = at.read(lows), high = at.read(highs);
    Value inside = at.within(low, at.read(chosenBy(choice)), high);
    return at.either(
        inside, [&] { return at.negate(at.log(at.sub(high, low))); },
        [&] { return at.constant(-std::numeric_limits<double>::infinity()); });
  });
}

/// Log of the sum over m of weight[m] times the density of component m: a
/// normal, or for pairs a bivariate normal (Graves 2013, equations 23 to 25).
Value LogProbability::logOfMixture(ChoiceOp choice) {
  Value logit = choice.getParameters()[0], mean = choice.getParameters()[1];
  Value sd = choice.getParameters()[2];
  Value correlation =
      numValueAxes(choice) == 1 ? choice.getParameters()[3] : Value();
  Attribute event = cast<ArrayType>(logit.getType()).getExtent(axes.size());
  Value weight = compute("log_weight." + name, axes, Reducer::log_softmax,
                         event, [&](Scalars &at) { return at.read(logit); });
  Value density = compute(
      "log_p." + name, axes, Reducer::logsumexp, event, [&](Scalars &at) {
        if (!correlation) {
          Value x = at.read(chosenBy(choice));
          Value component = logOfNormalAt(at, x, at.read(mean), at.read(sd));
          return at.add(at.read(weight), component);
        }
        // norm = log(2 pi sd1 sd2 sqrt(1 - rho^2))
        Value rho = at.read(correlation);
        Value rest = at.sub(at.constant(1), at.square(rho));
        Value norm =
            at.add(at.constant(fovea::runtime::logOf(2 * std::numbers::pi)),
                   at.mul(at.constant(0.5), at.log(rest)));
        SmallVector<Value, 2> z;
        for (int64_t k : {0, 1}) {
          Value axis = at.place(k), scale = at.read(sd, axis);
          Value away =
              at.sub(at.read(chosenBy(choice), axis), at.read(mean, axis));
          z.push_back(at.div(away, scale));
          norm = at.add(norm, at.log(scale));
        }
        Value squares = at.add(at.square(z[0]), at.square(z[1]));
        Value cross = at.mul(rho, at.mul(z[0], z[1]));
        Value distance = at.sub(squares, at.mul(at.constant(2), cross));
        Value exponent = at.div(distance, at.mul(at.constant(2), rest));
        return at.sub(at.sub(at.read(weight), norm), exponent);
      });
  return sumOfLogps([&](Scalars &at) { return at.read(density); });
}

Value LogProbability::logOf(ChoiceOp choice) {
  switch (choice.getDistribution()) {
  case Distribution::categorical:
    return logOfCategorical(choice);
  case Distribution::bernoulli:
    return logOfBernoulli(choice);
  case Distribution::normal:
    return logOfNormal(choice);
  case Distribution::uniform:
    return logOfUniform(choice);
  case Distribution::mixture:
    return logOfMixture(choice);
  }
  llvm_unreachable("every distribution has a log p");
}

//===----------------------------------------------------------------------===//
// Entropies
//===----------------------------------------------------------------------===//

/// The sum of the entropies of the current choice.
Value LogProbability::entropyOf(ChoiceOp choice) {
  Value first = choice.getParameters()[0];
  bool isLogit = cast<StringAttr>(choice.getParameterNames()[0])
                     .getValue()
                     .starts_with("logit");
  // -p log p, and 0 of what is impossible.
  auto share = [](Scalars &at, Value p) {
    Value zero = at.constant(0);
    return at.either(
        at.less(zero, p), [&] { return at.negate(at.mul(p, at.log(p))); },
        [&] { return at.constant(0); });
  };
  switch (choice.getDistribution()) {
  case Distribution::categorical: {
    Attribute event = lastExtent(first);
    Value probs = first;
    if (isLogit)
      probs = compute("probabilities." + name, axes, Reducer::softmax, event,
                      [&](Scalars &at) { return at.read(first); });
    SmallVector<Attribute> all(axes);
    all.push_back(event);
    return sum("entropy." + name, all,
               [&](Scalars &at) { return share(at, at.read(probs)); });
  }
  case Distribution::bernoulli:
    return sum("entropy." + name, axes, [&](Scalars &at) {
      Value value = at.read(first);
      if (isLogit) {
        Value mean = at.mul(value, at.sigmoid(value));
        return at.sub(at.softplus(value), mean);
      }
      Value yes = share(at, value);
      return at.add(yes, share(at, at.sub(at.constant(1), value)));
    });
  case Distribution::normal:
    return sum("entropy." + name, axes, [&](Scalars &at) {
      Value spread = at.log(at.read(choice.getParameters()[1]));
      double rest =
          0.5 * fovea::runtime::logOf(2 * std::numbers::pi * std::numbers::e);
      return at.add(spread, at.constant(rest));
    });
  case Distribution::uniform:
    return sum("entropy." + name, axes, [&](Scalars &at) {
      Value low = at.read(first);
      return at.log(at.sub(at.read(choice.getParameters()[1]), low));
    });
  case Distribution::mixture:
    break;
  }
  llvm_unreachable("mixtures are not drawn");
}
