//===- DeriveObjective.cpp - what training minimises ----------------------===//
//
// One function per distribution: log p of a choice, as equations of the same
// system. Batches, and how the sums are averaged over them, are decided by who
// runs `@loss`.
//
//===----------------------------------------------------------------------===//

#include "dialect/Distributions.h"
#include "passes/Passes.h"
#include "passes/analysis/Equations.h"
#include "passes/derive/Causality.h"
#include "passes/derive/Derive.h"
#include "passes/derive/EnumeratePlaces.h"
#include "passes/derive/EquationBuilder.h"
#include "passes/derive/SampledSoftmax.h"
#include "passes/derive/SumOverPlaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SaveAndRestore.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace fovea::attn {
#define GEN_PASS_DEF_DERIVEOBJECTIVE
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

namespace {

/// The equations of one objective, added to the end of a system.
class Objective : EquationBuilder {
public:
  Objective(SystemOp system, double smooth, bool each,
            const llvm::StringMap<Value> &equations)
      : EquationBuilder(OpBuilder::atBlockEnd(&system.getBody().front())),
        smooth(smooth), each(each), equations(equations) {}

  void addChoice(ChoiceOp choice);
  void addPenalty(PenaltyOp penalty);
  /// Adds the outputs `nll`, `logp`, `choices` and `penalty`, and what is
  /// differentiated in their place where latents were drawn.
  void finish(Location place);

private:
  /// The sum of what the elements of the present choice give; where a latent
  /// is summed over, one for each of its places and values.
  Value overPlaces(const Twine &label, Body body);
  /// log p of the present choice, given that of one element.
  Value sumOfLogps(Body one);
  /// What one element gives, as often as the present choice counts.
  Value weighted(Scalars &at, Body one);

  // log p, summed over all elements of the present choice.
  Value logOfCategorical(ChoiceOp choice);
  Value logOfBernoulli(ChoiceOp choice);
  Value logOfNormal(ChoiceOp choice);
  Value logOfUniform(ChoiceOp choice);
  Value logOfMixture(ChoiceOp choice);
  Value logOf(ChoiceOp choice);
  Value ranking(ChoiceOp choice);
  Value countOf();
  void addSums();
  Value entropyOf(ChoiceOp choice);

  // Estimators of latents.
  void begin(ChoiceOp choice);
  Value score(ChoiceOp choice, Value reward, StringRef suffix);
  Value rewardLeft(ChoiceOp latent, Value reward);
  void addSurrogate(StringRef root, Value objective);

  /// An argument of how the present choice is treated: a number, or what the
  /// equation gives that it names.
  Value argument(Scalars &at, ChoiceOp choice, StringRef key, double otherwise);

  double smooth;
  bool each; // log p of each element is an output, too
  /// Those of the model, by name.
  const llvm::StringMap<Value> &equations;
  // The present choice: its name, and the axes over which it makes one choice
  // per element.
  StringRef name;
  SmallVector<Attribute> axes;
  /// Of a choice that depends on a latent that is summed over: those axes that
  /// are of its values and places, and how many are of values.
  SmallVector<unsigned> kept;
  unsigned numValues = 0;
  /// log p after label smoothing, where that differs.
  Value smoothed;
  /// How often log p of the present choice counts: the product of these.
  SmallVector<Value> weights;
  SmallVector<ChoiceOp> latents, enumerated;
  SmallVector<ChoiceOp> observed;
  SmallVector<Value> logps, trained, counts, penalties, gaps;
  llvm::MapVector<StringRef, Places> summed;
  /// What an update takes for `trained` and `logps`, where one is sampled.
  SmallVector<Value> estimates;
  bool isEstimated = false;
};

} // namespace

/// What counts for nothing need not be possible.
Value Objective::weighted(Scalars &at, Body one) {
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

Value Objective::overPlaces(const Twine &label, Body body) {
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
  return compute(label, over, rest.empty() ? Reducer::none : Reducer::sum, rest,
                 [&](Scalars &at) {
                   SmallVector<Value> place(axes.size());
                   for (auto [index, number] :
                        llvm::zip_equal(at.indices, order))
                     place[number] = index;
                   Value read = ReadOp::create(at.builder, loc, all, place);
                   return read;
                 });
}

Value Objective::sumOfLogps(Body one) {
  auto body = [&](Scalars &at) { return weighted(at, one); };
  if (!each)
    return overPlaces("logp." + name, body);
  Value array = compute("logps." + name, axes, Reducer::none, {}, body);
  OutputOp::create(builder, loc,
                   builder.getStringAttr("logp/" + Twine(logps.size())), array);
  return sum("logp." + name, axes, [&](Scalars &at) { return at.read(array); });
}

//===----------------------------------------------------------------------===//
// log p by distribution
//===----------------------------------------------------------------------===//

/// The array that `array` is another name for, or itself.
static Value behindCopies(Value array) {
  auto op = array.getDefiningOp<ComputeOp>();
  Value source = op ? copiedBy(op) : Value();
  return source ? behindCopies(source) : array;
}

/// What `probs` is the softmax of, as the log of it: the log of a probability
/// that is too small for a number is none.
static Value logOfSoftmax(OpBuilder &builder, Value probs) {
  auto softmax = behindCopies(probs).getDefiningOp<ComputeOp>();
  if (!softmax || softmax.getReducer() != Reducer::softmax ||
      softmax.hasCondition())
    return {};
  auto logs = cast<ComputeOp>(builder.clone(*softmax));
  logs.setReducer(Reducer::log_softmax);
  return logs.getResult();
}

/// What `probability` is the sigmoid of.
static Value logitOfSigmoid(OpBuilder &builder, Value probability) {
  auto sigmoid = behindCopies(probability).getDefiningOp<ComputeOp>();
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
Value Objective::logOfCategorical(ChoiceOp choice) {
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
    return isLog ? value : at.log(value);
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
Value Objective::logOfBernoulli(ChoiceOp choice) {
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
        isSet, [&] { return at.log(value); },
        [&] { return at.log(at.sub(at.constant(1), value)); });
  });
}

/// -((x - mean) / sd)^2 / 2 - log sd - log(2 pi) / 2
static Value logOfNormalAt(Scalars &at, Value x, Value mean, Value sd) {
  Value distance = at.square(at.div(at.sub(x, mean), sd));
  Value exponent = at.mul(at.constant(-0.5), distance);
  Value norm =
      at.add(at.log(sd), at.constant(0.5 * std::log(2 * std::numbers::pi)));
  return at.sub(exponent, norm);
}

Value Objective::logOfNormal(ChoiceOp choice) {
  Value mean = choice.getParameters()[0], sd = choice.getParameters()[1];
  return sumOfLogps([&](Scalars &at) {
    Value scale = at.read(sd);
    return logOfNormalAt(at, at.read(choice.getObserved()), at.read(mean),
                         scale);
  });
}

/// -log(high - low) inside, minus infinity outside.
Value Objective::logOfUniform(ChoiceOp choice) {
  Value lows = choice.getParameters()[0], highs = choice.getParameters()[1];
  return sumOfLogps([&](Scalars &at) {
    Value low = at.read(lows), high = at.read(highs);
    Value inside = at.within(low, at.read(choice.getObserved()), high);
    return at.either(
        inside, [&] { return at.negate(at.log(at.sub(high, low))); },
        [&] { return at.constant(-std::numeric_limits<double>::infinity()); });
  });
}

/// Log of the sum over m of weight[m] times the density of component m: a
/// normal, or for pairs a bivariate normal (Graves 2013, equations 23 to 25).
Value Objective::logOfMixture(ChoiceOp choice) {
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
          Value x = at.read(choice.getObserved());
          Value component = logOfNormalAt(at, x, at.read(mean), at.read(sd));
          return at.add(at.read(weight), component);
        }
        // norm = log(2 pi sd1 sd2 sqrt(1 - rho^2))
        Value rho = at.read(correlation);
        Value rest = at.sub(at.constant(1), at.square(rho));
        Value norm = at.add(at.constant(std::log(2 * std::numbers::pi)),
                            at.mul(at.constant(0.5), at.log(rest)));
        SmallVector<Value, 2> z;
        for (int64_t k : {0, 1}) {
          Value axis = at.place(k), scale = at.read(sd, axis);
          Value away =
              at.sub(at.read(choice.getObserved(), axis), at.read(mean, axis));
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

Value Objective::logOf(ChoiceOp choice) {
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
// The objective
//===----------------------------------------------------------------------===//

/// Makes `choice` the present one.
void Objective::begin(ChoiceOp choice) {
  loc = choice.getLoc();
  name = choice.getTarget();
  auto type = cast<ArrayType>(choice.getObserved().getType());
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

void Objective::addChoice(ChoiceOp choice) {
  if (choice->hasAttr(chainName)) {
    summed[choice.getTarget()].choice = choice;
    return;
  }
  if (choice->hasAttr(startName)) {
    summed[choice.getTarget()].start = choice;
    return;
  }
  if (choice.getLatent()) {
    auto kind = choice.getTreatment()->getAs<StringAttr>("kind");
    (kind.getValue() == "enumerate" ? enumerated : latents).push_back(choice);
    return;
  }
  observed.push_back(choice);
  begin(choice);
  llvm::SaveAndRestore eachIfAlone(each, each && kept.empty());
  Value logp = logOf(choice);
  counts.push_back(countOf());
  if (auto over = choice->getAttrOfType<DictionaryAttr>(overName)) {
    auto of = over.getAs<StringAttr>("of").getValue();
    summed[of].evidence.push_back({over.getAs<BoolAttr>("current").getValue(),
                                   over.getAs<BoolAttr>("previous").getValue(),
                                   logp, smoothed ? smoothed : logp});
    return;
  }
  DictionaryAttr treatment = choice.getTreatmentAttr();
  auto kind = treatment ? treatment.getAs<StringAttr>("kind") : StringAttr();
  if (kind && kind.getValue() == "margin")
    smoothed = ranking(choice);
  logps.push_back(logp);
  trained.push_back(smoothed ? smoothed : logp);
  estimates.push_back(trained.back());
  if (isSampled(choice)) {
    llvm::SaveAndRestore notEach(each, false);
    Value estimate = sampledLogp(builder, choice);
    isEstimated = true;
    estimates.back() =
        sumOfLogps([&](Scalars &at) { return at.read(estimate); });
  }
}

/// How many choices the present one makes.
Value Objective::countOf() {
  return sum("choices." + name, ArrayRef<Attribute>(axes).drop_front(numValues),
             [&](Scalars &at) {
               if (weights.empty())
                 return at.constant(1);
               Value weight = weights.front();
               if (cast<ArrayType>(weight.getType()).getRank() == 0)
                 return at.read(weight);
               // The weight is the same for all values.
               SmallVector<Value> place(numValues, at.place(0));
               llvm::append_range(place, at.indices);
               place.resize(cast<ArrayType>(weight.getType()).getRank());
               Value read = ReadOp::create(at.builder, loc, weight, place);
               return read;
             });
}

/// log p of the data that depend on choices at several places.
void Objective::addSums() {
  for (auto &[latent, places] : summed) {
    loc = places.choice.getLoc();
    Value logp = sumOverPlaces(builder, places, /*trained=*/false), used = logp;
    if (llvm::any_of(places.evidence, [](const Places::Evidence &one) {
          return one.logp != one.trained;
        }))
      used = sumOverPlaces(builder, places, /*trained=*/true);
    logps.push_back(logp);
    trained.push_back(used);
    estimates.push_back(used);
    findMostProbable(builder, places);
  }
}

Value Objective::argument(Scalars &at, ChoiceOp choice, StringRef key,
                          double otherwise) {
  DictionaryAttr treatment = choice.getTreatmentAttr();
  if (auto name = treatment.getAs<StringAttr>(key))
    return at.read(equations.lookup(name.getValue()));
  auto given = treatment.getAs<FloatAttr>(key);
  return at.constant(given ? given.getValueAsDouble() : otherwise);
}

/// What the logits of the others lack to be below that of the right one by a
/// margin, with a minus: trained in the place of log p (Weston et al. 2015).
Value Objective::ranking(ChoiceOp choice) {
  Value logits = choice.getParameters()[0];
  SmallVector<Attribute> all(axes);
  all.push_back(lastExtent(logits));
  return sum("ranking." + name, all, [&](Scalars &at) {
    return weighted(at, [&](Scalars &) {
      Value right = at.asPlace(at.read(choice.getObserved()));
      Value isOther = arith::CmpIOp::create(
          at.builder, loc, arith::CmpIPredicate::ne, right, at.indices.back());
      return at.either(
          isOther,
          [&] {
            Value margin = argument(at, choice, "margin", 1);
            Value rest = at.sub(margin, at.read(logits, right));
            Value lack = at.add(rest, at.read(logits));
            Value zero = at.constant(0);
            Value hinge =
                arith::MaximumFOp::create(at.builder, loc, zero, lack);
            return at.negate(hinge);
          },
          [&] { return at.constant(0); });
    });
  });
}

void Objective::addPenalty(PenaltyOp penalty) {
  loc = penalty.getLoc();
  Value value = penalty.getValue();
  auto type = cast<ArrayType>(value.getType());
  if (type.getRank() > 0)
    value = sum("penalty", type.getShape().getValue(),
                [&](Scalars &at) { return at.read(penalty.getValue()); });
  // What a bound on log p lacks is a part of -log p.
  auto term = penalty->getAttrOfType<StringAttr>(termName);
  (term && term.getValue() == "nll" ? gaps : penalties).push_back(value);
}

void Objective::finish(Location place) {
  addSums();
  loc = place;
  Value gap = gaps.empty() ? Value() : total("gap", gaps);
  auto lessGap = [&](StringRef label, Value likelihood) {
    return !gap ? likelihood : sum(label, {}, [&](Scalars &at) {
      Value whole = at.read(likelihood);
      return at.sub(whole, at.read(gap));
    });
  };
  Value likelihood = lessGap("bound", total("trained", trained));
  Value nll = sum("nll", {},
                  [&](Scalars &at) { return at.negate(at.read(likelihood)); });
  OutputOp::create(builder, loc, "nll", nll);
  // What the sum over all values weighs each with.
  for (ChoiceOp choice : enumerated) {
    llvm::SaveAndRestore noSmoothing(smooth, 0.0);
    llvm::SaveAndRestore notEach(each, false);
    begin(choice);
    OutputOp::create(builder, loc, "surrogate.prior", logOf(choice));
  }
  OutputOp::create(builder, loc, "logp", lessGap("logp", total("logp", logps)));
  // Where log p is estimated, it is for an update alone.
  if (isEstimated) {
    Value estimate = lessGap("estimate", total("estimate", estimates));
    nll = sum("estimate.nll", {},
              [&](Scalars &at) { return at.negate(at.read(estimate)); });
    OutputOp::create(builder, loc, "estimate.nll", nll);
    OutputOp::create(builder, loc, "estimate.logp", estimate);
  }
  OutputOp::create(builder, loc, "choices", total("choices", counts));
  Value penalty = total("penalty", penalties);
  OutputOp::create(builder, loc, "penalty", penalty);
  if (latents.empty())
    return;
  // What estimates is no part of what is reported.
  smooth = 0;
  each = false;
  Value objective = nll;
  for (ChoiceOp latent : latents) {
    Attribute share = latent.getTreatment()->get("entropy");
    auto number = dyn_cast_or_null<FloatAttr>(share);
    if (!share || (number && number.getValueAsDouble() == 0))
      continue;
    begin(latent);
    Value entropy = entropyOf(latent);
    Value before = objective;
    objective = sum("objective", {}, [&](Scalars &at) {
      Value weight = argument(at, latent, "entropy", 0);
      Value bonus = at.mul(weight, at.read(entropy));
      return at.sub(at.read(before), bonus);
    });
  }
  addSurrogate("nll", objective);
  if (!penalties.empty())
    addSurrogate("penalty", penalty);
}

//===----------------------------------------------------------------------===//
// Estimators
//===----------------------------------------------------------------------===//

/// The sum of the entropies of the present choice.
Value Objective::entropyOf(ChoiceOp choice) {
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
      double rest = 0.5 * std::log(2 * std::numbers::pi * std::numbers::e);
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

/// Of a choice at each place: the reward without log p of the data that stand
/// before the place, and do not depend on what is chosen there.
Value Objective::rewardLeft(ChoiceOp latent, Value reward) {
  std::optional<unsigned> axis;
  SmallVector<Value> earlier;
  for (ChoiceOp data : observed) {
    std::optional<Causal> causal = dependsOnEarlier(latent, data);
    if (!causal || (axis && *axis != causal->ofLatent))
      continue;
    axis = causal->ofLatent;
    begin(data);
    kept = {causal->ofData};
    earlier.push_back(logOf(data));
  }
  begin(latent);
  if (!axis)
    return reward;
  Attribute extent = axes[*axis];
  Value sums =
      compute("earlier." + name, {}, Reducer::cumsum, extent, [&](Scalars &at) {
        Value sum = at.constant(0);
        for (Value one : earlier)
          sum = at.add(sum, at.read(one));
        return sum;
      });
  return compute("left." + name, axes, Reducer::none, {}, [&](Scalars &at) {
    Value before = at.before(at.indices[*axis]);
    return at.sub(at.read(reward), at.readOr(sums, before, at.constant(0)));
  });
}

/// What has the derivative that REINFORCE says: log p of what was drawn, times
/// what it lacked of the reward that was expected (Williams 1992).
Value Objective::score(ChoiceOp choice, Value reward, StringRef suffix) {
  begin(choice);
  Value baseline = suffix.empty() ? choice.getBaseline() : Value();
  if (choice.getTreatment()->getAs<FloatAttr>("baseline")) {
    auto state = builder.getStringAttr("state." + name + suffix);
    baseline = DataOp::create(builder, loc,
                              ArrayType::get({}, builder.getF64Type()), state);
    OutputOp::create(builder, loc, state, reward);
  }
  if (choice.getTreatment()->getAs<FloatAttr>("later") && !choice.getReward())
    reward = rewardLeft(choice, reward);
  // As many axes as the one of them that has more.
  ArrayRef<Attribute> over(axes);
  int64_t rank = 0;
  for (Value array : {reward, baseline})
    if (array)
      rank =
          std::max<int64_t>(rank, cast<ArrayType>(array.getType()).getRank());
  over = over.take_front(rank);
  Value lack =
      compute("lack." + name, over, Reducer::none, {}, [&](Scalars &at) {
        Value rest = at.negate(at.read(reward));
        if (baseline)
          rest = at.add(at.read(baseline), rest);
        return at.stop(rest);
      });
  weights.push_back(lack);
  return logOf(choice);
}

void Objective::addSurrogate(StringRef root, Value objective) {
  SmallVector<Value> parts = {objective};
  Value reward = sum(
      "reward", {}, [&](Scalars &at) { return at.negate(at.read(objective)); });
  for (ChoiceOp latent : latents) {
    if (!latent.getReward())
      parts.push_back(
          score(latent, reward, root == "penalty" ? ".penalty" : ""));
    else if (root == "nll")
      parts.push_back(score(latent, latent.getReward(), ""));
  }
  OutputOp::create(builder, loc, ("surrogate." + root).str(),
                   total("surrogate", parts));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// What is no log p cannot be added to that of a latent.
static LogicalResult checkSummed(ChoiceOp choice) {
  auto over = choice->getAttrOfType<DictionaryAttr>(overName);
  DictionaryAttr treatment = choice.getTreatmentAttr();
  if (!over || !treatment || !treatment.getAs<StringAttr>("kind"))
    return success();
  return choice.emitError()
         << "'enumerate' of '" << over.getAs<StringAttr>("of").getValue()
         << "' sums over log p of '" << choice.getTarget() << "', but '"
         << treatment.getAs<StringAttr>("kind").getValue()
         << "' trains something else";
}

/// `smooth` of the module's `attn.train`, 0 where it is not given.
static double smoothingOf(ModuleOp module) {
  auto train = module->getAttrOfType<DictionaryAttr>("attn.train");
  Attribute given = train ? train.get("smooth") : Attribute();
  if (auto real = dyn_cast_or_null<FloatAttr>(given))
    return real.getValueAsDouble();
  if (auto whole = dyn_cast_or_null<IntegerAttr>(given))
    return static_cast<double>(whole.getInt());
  return 0;
}

namespace {

struct DeriveObjective
    : fovea::attn::impl::DeriveObjectiveBase<DeriveObjective> {
  using DeriveObjectiveBase::DeriveObjectiveBase;

  void runOnOperation() override {
    auto system = getOperation().lookupSymbol<SystemOp>("training");
    if (!system)
      return markAllAnalysesPreserved();
    llvm::StringMap<Value> equations;
    for (auto equation : system.getOps<EquationOp>())
      equations[equation.getTarget()] = equation.getValue();
    if (failed(refuseLatents(system)) ||
        failed(resolveEquations(system, equationsToGet(system, get))))
      return signalPassFailure();
    double smooth = smoothingOf(getOperation());
    Objective objective(system, smooth, each, equations);
    SmallVector<Operation *> replaced;
    for (auto choice : system.getOps<ChoiceOp>()) {
      if (failed(checkSampled(choice, smooth != 0)) ||
          failed(checkSummed(choice)))
        return signalPassFailure();
      objective.addChoice(choice);
      replaced.push_back(choice);
    }
    for (auto penalty : system.getOps<PenaltyOp>()) {
      objective.addPenalty(penalty);
      replaced.push_back(penalty);
    }
    objective.finish(system.getLoc());
    for (Operation *op : replaced)
      op->erase();
    system.setSymName("loss");
    eraseDeadArrays(system);
  }
};

} // namespace
