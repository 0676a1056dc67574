//===- DrawLatents.cpp - equations in the place of latent choices ---------===//
//
// Decides the replacement of a latent choice: a sample, its
// mode, or, where equations read an array at a chosen place, an
// expectation over places. The part of log p that an estimator
// needs remains, as a choice whose observed value is the
// sample.
//
//===----------------------------------------------------------------------===//

#include "dialect/Distributions.h"
#include "passes/Passes.h"
#include "passes/derive/Derive.h"
#include "passes/derive/Divergence.h"
#include "passes/derive/EnumeratePlaces.h"
#include "passes/derive/EquationBuilder.h"
#include "passes/derive/ReadMeans.h"
#include "passes/derive/SumOverPlaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>
#include <numbers>

namespace fovea::attn {
#define GEN_PASS_DEF_DRAWLATENTS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

namespace {

/// The equations of one latent choice.
class Draw : EquationBuilder {
public:
  /// `guide`: what it is drawn from instead, or null. `ordinal`: the first of
  /// the free numbers of random streams.
  Draw(ChoiceOp choice, ChoiceOp guide, int64_t &ordinal)
      : EquationBuilder(OpBuilder(choice)), choice(choice), guide(guide),
        source(guide ? guide : choice), ordinal(ordinal),
        name(choice.getTarget()),
        type(cast<ArrayType>(choice.getResult().getType())),
        axes(type.getShape().begin(), type.getShape().end()) {
    loc = choice.getLoc();
  }

  LogicalResult run();

  /// The number of samples that its estimator requests.
  int64_t samples() { return static_cast<int64_t>(number("samples", 1)); }

private:
  /// The estimator or the treatment; empty: none.
  StringRef kind() {
    DictionaryAttr treatment = choice.getTreatmentAttr();
    auto kind = treatment ? treatment.getAs<StringAttr>("kind") : StringAttr();
    return kind ? kind.getValue() : "";
  }
  double number(StringRef key, double otherwise);
  /// The number, or the result of the named equation.
  std::function<Value(Scalars &)> argument(StringRef key, double otherwise);
  Value parameter(StringRef key);

  /// A separate number for each element; `word` as in attn.random.
  Value random(Scalars &at, int64_t number, int64_t word = 0);
  int64_t fresh() { return ordinal++; }

  // Of categories and bits.
  Value probabilities();
  // The replacement of the choice.
  Value drawn();
  Value drawnCategory();
  Value categoryOf(Value probs, Type element, const Twine &label);
  Value ofComponent(StringRef key, Value component);
  Value drawnNumber();
  Value correlated(Value noise, Value correlation);
  void leaveGuide(Value value);
  Value mode();
  Value enumerated();
  /// A one-hot vector for categories; the bit itself for a bit.
  Value indicator(Value value);
  Value relaxed();

  /// Replaces every read at the chosen place by the expectation with `weights`;
  /// if `coin` is given, only where it holds.
  LogicalResult readMeans(Value weights, Value coin) {
    return readMeansOf(choice, kind(), weights, coin);
  }

  ChoiceOp choice, guide;
  ChoiceOp source; // which of both is drawn from
  int64_t &ordinal;
  StringRef name;
  ArrayType type;
  SmallVector<Attribute> axes;
};

} // namespace

double Draw::number(StringRef key, double otherwise) {
  DictionaryAttr treatment = choice.getTreatmentAttr();
  auto given = treatment ? treatment.getAs<FloatAttr>(key) : FloatAttr();
  return given ? given.getValueAsDouble() : otherwise;
}

std::function<Value(Scalars &)> Draw::argument(StringRef key,
                                               double otherwise) {
  if (Value given = scheduleOf(choice, key))
    return [given](Scalars &at) { return at.read(given); };
  double value = number(key, otherwise);
  return [value](Scalars &at) { return at.constant(value); };
}

Value Draw::parameter(StringRef key) {
  for (auto [known, array] :
       llvm::zip_equal(source.getParameterNames().getAsValueRange<StringAttr>(),
                       source.getParameters()))
    if (known == key)
      return array;
  return {};
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

Value Draw::random(Scalars &at, int64_t number, int64_t word) {
  OpBuilder &b = at.builder;
  Value place = RandomOp::placeOf(b, loc, at.indices, axes);
  return RandomOp::create(b, loc, b.getF64Type(), place, Value(), number, word);
}

Value Draw::probabilities() {
  if (source.getDistribution() == Distribution::bernoulli) {
    if (Value given = parameter("prob"))
      return given;
    Value logit = parameter("logit");
    return compute("probability." + name, axes, Reducer::none, {},
                   [&](Scalars &at) { return at.sigmoid(at.read(logit)); });
  }
  if (Value given = parameter("probs"))
    return given;
  Value logits = parameter("logits");
  Attribute event = lastExtent(logits);
  return compute("probabilities." + name, axes, Reducer::softmax, event,
                 [&](Scalars &at) { return at.read(logits); });
}

Value Draw::drawnCategory() {
  return categoryOf(probabilities(), builder.getI64Type(), name);
}

/// The last possible category whose cumulative probability before it is below a
/// uniform number.
Value Draw::categoryOf(Value probs, Type element, const Twine &label) {
  Attribute event = lastExtent(probs);
  Value sums = compute("cumulated." + name, axes, Reducer::cumsum, event,
                       [&](Scalars &at) { return at.read(probs); });
  int64_t number = fresh();
  Value uniform = compute("uniform." + name, axes, Reducer::none, {},
                          [&](Scalars &at) { return random(at, number); });
  unsigned last = axes.size();
  return compute(
      label, axes, Reducer::max, event,
      [&](Scalars &at) { return at.asWhole(at.indices[last]); }, element,
      [&](Scalars &at) {
        Value zero = at.constant(0);
        SmallVector<Value> before(ArrayRef<Value>(at.indices).take_front(last));
        before.push_back(at.before(at.indices[last]));
        Value below = at.readOr(sums, before, zero);
        Value isReached = at.atMost(below, at.read(uniform));
        Value isPossible = at.less(zero, at.read(probs));
        return at.both(isPossible, isReached);
      });
}

/// The value of `parameter` for a mixture's sampled component, or for the most
/// likely one; for pairs, both numbers.
Value Draw::ofComponent(StringRef key, Value component) {
  Value given = parameter(key);
  SmallVector<Attribute> all(type.getShape().begin(), type.getShape().end());
  return compute(
      (key + "." + name).str(), all, Reducer::none, {}, [&](Scalars &at) {
        SmallVector<Value> place(
            ArrayRef<Value>(at.indices).take_front(axes.size()));
        place.push_back(at.asPlace(at.read(component)));
        if (cast<ArrayType>(given.getType()).getRank() > int64_t(place.size()))
          llvm::append_range(
              place, ArrayRef<Value>(at.indices).drop_front(axes.size()));
        Value read = ReadOp::create(at.builder, loc, given, place);
        return read;
      });
}

/// Of a normal by Box and Muller.
Value Draw::drawnNumber() {
  int64_t number = fresh();
  Value low = source.getParameters()[0], high = source.getParameters()[1];
  Value correlation;
  bool isNormal = source.getDistribution() != Distribution::uniform;
  if (source.getDistribution() == Distribution::mixture) {
    Value logit = parameter("logit");
    axes.truncate(axes.size() - numValueAxes(source));
    Value weights =
        compute("weights." + name, axes, Reducer::softmax, lastExtent(logit),
                [&](Scalars &at) { return at.read(logit); });
    Value component =
        categoryOf(weights, builder.getI64Type(), "component." + name);
    low = ofComponent("mean", component);
    high = ofComponent("sd", component);
    if (parameter("correlation"))
      correlation = ofComponent("correlation", component);
    axes.assign(type.getShape().begin(), type.getShape().end());
  }
  Value noise =
      compute("noise." + name, axes, Reducer::none, {}, [&](Scalars &at) {
        Value first = random(at, number);
        if (!isNormal)
          return first;
        Value minusTwo = at.constant(-2);
        Value radius = at.sqrt(at.mul(minusTwo, at.log(first)));
        Value turn = at.constant(2 * std::numbers::pi);
        Value angle = at.mul(turn, random(at, number, 1));
        return at.mul(radius, at.cos(angle));
      });
  if (correlation)
    noise = correlated(noise, correlation);
  return compute(name, axes, Reducer::none, {}, [&](Scalars &at) {
    Value base = at.read(low), scale = at.read(high);
    if (!isNormal)
      scale = at.sub(scale, base);
    Value value = at.add(base, at.mul(scale, at.read(noise)));
    return kind() == "reparameterised" ? value : at.stop(value);
  });
}

/// Correlated pairs from independent numbers: the first, and r times it plus
/// sqrt(1 - r^2) times the second.
Value Draw::correlated(Value noise, Value correlation) {
  return compute("pair." + name, axes, Reducer::none, {}, [&](Scalars &at) {
    auto numberAt = [&](int64_t which) {
      SmallVector<Value> place(ArrayRef<Value>(at.indices).drop_back());
      place.push_back(at.place(which));
      Value read = ReadOp::create(at.builder, loc, noise, place);
      return read;
    };
    Value isFirst =
        arith::CmpIOp::create(at.builder, loc, arith::CmpIPredicate::eq,
                              at.indices.back(), at.place(0));
    Value first = numberAt(0), r = at.read(correlation);
    Value rest = at.sqrt(at.sub(at.constant(1), at.square(r)));
    Value second = at.add(at.mul(r, first), at.mul(rest, numberAt(1)));
    return at.select(isFirst, first, second);
  });
}

Value Draw::drawn() {
  switch (source.getDistribution()) {
  case Distribution::categorical:
    return drawnCategory();
  case Distribution::bernoulli: {
    Value probs = probabilities();
    int64_t number = fresh();
    return compute(
        name, axes, Reducer::none, {},
        [&](Scalars &at) {
          Value uniform = random(at, number);
          return at.less(uniform, at.read(probs));
        },
        type.getElementType());
  }
  default:
    return drawnNumber();
  }
}

Value Draw::mode() {
  switch (source.getDistribution()) {
  case Distribution::categorical: {
    Value scores = source.getParameters()[0];
    Attribute event = lastExtent(scores);
    return compute(
        name, axes, Reducer::argmax, event,
        [&](Scalars &at) { return at.read(scores); }, builder.getI64Type());
  }
  case Distribution::bernoulli: {
    Value score = source.getParameters()[0];
    double half = parameter("logit") ? 0 : 0.5;
    return compute(
        name, axes, Reducer::none, {},
        [&](Scalars &at) {
          Value bound = at.constant(half);
          return at.less(bound, at.read(score));
        },
        type.getElementType());
  }
  case Distribution::mixture: {
    Value logit = parameter("logit");
    axes.truncate(axes.size() - numValueAxes(source));
    return ofComponent("mean", compute(
                                   "component." + name, axes, Reducer::argmax,
                                   lastExtent(logit),
                                   [&](Scalars &at) { return at.read(logit); },
                                   builder.getI64Type()));
  }
  case Distribution::uniform:
    return compute(name, axes, Reducer::none, {}, [&](Scalars &at) {
      Value low = at.read(source.getParameters()[0]);
      Value high = at.read(source.getParameters()[1]);
      return at.mul(at.constant(0.5), at.add(low, high));
    });
  default:
    return compute(name, axes, Reducer::none, {}, [&](Scalars &at) {
      return at.read(source.getParameters()[0]);
    });
  }
}

/// Every possible value; attn-repeat-samples makes it an axis.
Value Draw::enumerated() {
  Attribute values = builder.getI64IntegerAttr(2);
  if (choice.getDistribution() == Distribution::categorical)
    values = lastExtent(choice.getParameters()[0]);
  Value value = compute(
      name, {}, Reducer::none, {},
      [&](Scalars &at) -> Value {
        return arith::ConstantOp::create(
            at.builder, loc, builder.getZeroAttr(type.getElementType()));
      },
      type.getElementType());
  value.getDefiningOp()->setAttr(enumeratedName, values);
  return value;
}

Value Draw::indicator(Value value) {
  if (source.getDistribution() == Distribution::bernoulli)
    return compute("bit." + name, axes, Reducer::none, {},
                   [&](Scalars &at) { return at.asNumber(at.read(value)); });
  Attribute event = lastExtent(source.getParameters()[0]);
  SmallVector<Attribute> all(axes);
  all.push_back(event);
  return compute("indicator." + name, all, Reducer::none, {}, [&](Scalars &at) {
    Value chosen = at.asPlace(at.read(value));
    Value isChosen =
        arith::CmpIOp::create(at.builder, loc, arith::CmpIPredicate::eq, chosen,
                              at.indices[axes.size()]);
    return at.asNumber(isChosen);
  });
}

/// Jang et al. (2017), Maddison et al. (2017): the softmax of log p with noise,
/// sharper the lower the temperature.
Value Draw::relaxed() {
  auto temperature = argument("temperature", 1);
  Value probs = probabilities();
  int64_t number = fresh();
  if (source.getDistribution() == Distribution::bernoulli)
    return compute("relaxed." + name, axes, Reducer::none, {},
                   [&](Scalars &at) {
                     Value one = at.constant(1);
                     Value p = at.read(probs), u = random(at, number);
                     Value odds = at.sub(at.log(p), at.log(at.sub(one, p)));
                     Value noise = at.sub(at.log(u), at.log(at.sub(one, u)));
                     Value sum = at.add(odds, noise);
                     return at.sigmoid(at.div(sum, temperature(at)));
                   });
  Attribute event = lastExtent(probs);
  SmallVector<Attribute> own(axes);
  axes.push_back(event);
  Value noise =
      compute("noise." + name, axes, Reducer::none, {}, [&](Scalars &at) {
        Value u = random(at, number);
        return at.negate(at.log(at.negate(at.log(u))));
      });
  axes = own;
  // Impossible values stay impossible.
  return compute("relaxed." + name, axes, Reducer::softmax, event,
                 [&](Scalars &at) {
                   Value p = at.read(probs);
                   Value sum = at.add(at.log(p), at.read(noise));
                   return at.div(sum, temperature(at));
                 });
}

//===----------------------------------------------------------------------===//
// Estimators and treatments
//===----------------------------------------------------------------------===//

/// The guide's extra knowledge is a part of the objective, and the guide is
/// removed. Without a gradient, the guide gets none.
void Draw::leaveGuide(Value value) {
  if (!guide)
    return;
  if (kind() == "no_gradient")
    for (OpOperand &operand : guide->getOpOperands()) {
      Value array = operand.get();
      ArrayRef<Attribute> all =
          cast<ArrayType>(array.getType()).getShape().getValue();
      operand.set(compute("", all, Reducer::none, {}, [&](Scalars &at) {
        return at.stop(at.read(array));
      }));
    }
  auto penalty = PenaltyOp::create(builder, loc,
                                   divergenceOf(builder, choice, guide, value));
  penalty->setAttr(termName, builder.getStringAttr("nll"));
  guide.erase();
}

LogicalResult Draw::run() {
  if (kind().empty())
    return choice.emitError() << "'" << name
                              << "' is a latent choice that nothing says how "
                                 "to treat";
  StringRef how = kind();
  if (how == "expected") {
    bool isFinite = type.getElementType().isF64() == false;
    Value means = isFinite ? probabilities() : mode();
    if (failed(readMeans(means, {})))
      return failure();
    leaveGuide(means);
    // A request for the choice itself returns the most probable value.
    choice.getResult().replaceAllUsesWith(mode());
    choice.erase();
    return success();
  }
  if (how == "gumbel") {
    Value weights = relaxed();
    if (failed(readMeans(weights, {})))
      return failure();
    leaveGuide(weights);
    Attribute event;
    if (source.getDistribution() == Distribution::categorical)
      event = lastExtent(weights);
    choice.getResult().replaceAllUsesWith(
        event ? compute(
                    name, axes, Reducer::argmax, event,
                    [&](Scalars &at) { return at.read(weights); },
                    builder.getI64Type())
              : compute(
                    name, axes, Reducer::none, {},
                    [&](Scalars &at) {
                      Value half = at.constant(0.5);
                      return at.less(half, at.read(weights));
                    },
                    type.getElementType()));
    choice.erase();
    return success();
  }
  if (how == "mode") {
    choice.getResult().replaceAllUsesWith(mode());
    choice.erase();
    return success();
  }
  Value value = how == "enumerate" ? enumerated() : drawn();
  if (how == "straight_through") {
    // The sample, with the derivative of the probabilities.
    Value probs = probabilities(), chosen = indicator(value);
    SmallVector<Attribute> all(
        cast<ArrayType>(probs.getType()).getShape().begin(),
        cast<ArrayType>(probs.getType()).getShape().end());
    Value weights =
        compute("through." + name, all, Reducer::none, {}, [&](Scalars &at) {
          Value p = at.read(probs);
          Value none = at.sub(p, at.stop(p));
          return at.add(at.read(chosen), none);
        });
    if (failed(readMeans(weights, {})))
      return failure();
  } else if (how == "reinforce" || how == "enumerate") {
    Value weight;
    if (number("expected", 0) > 0 || scheduleOf(choice, "expected")) {
      auto share = argument("expected", 0);
      int64_t number = fresh();
      Value coin = compute(
          "coin." + name, {}, Reducer::none, {},
          [&](Scalars &at) {
            Value uniform =
                RandomOp::create(at.builder, loc, builder.getF64Type(),
                                 at.place(0), Value(), number, 0);
            return at.less(uniform, share(at));
          },
          builder.getI1Type());
      bool isFinite = !type.getElementType().isF64();
      if (failed(readMeans(isFinite ? probabilities() : mode(), coin)))
        return failure();
      // With an expectation, nothing was chosen.
      weight =
          compute("chosen." + name, {}, Reducer::none, {}, [&](Scalars &at) {
            Value one = at.constant(1), zero = at.constant(0);
            return at.select(at.read(coin), zero, one);
          });
    }
    ChoiceOp::create(builder, loc, Type(), choice.getTargetAttr(),
                     source.getDistributionAttr(),
                     source.getParameterNamesAttr(), source.getParameters(),
                     value, weight, choice.getReward(), choice.getBaseline(),
                     Attribute(), builder.getUnitAttr(),
                     choice.getTreatmentAttr());
  }
  leaveGuide(value);
  choice.getResult().replaceAllUsesWith(value);
  choice.erase();
  return success();
}

namespace {

struct DrawLatents : fovea::attn::impl::DrawLatentsBase<DrawLatents> {
  void runOnOperation() override {
    bool isChanged = false;
    for (StringRef name : {"training", "decoding"}) {
      auto system = getOperation().lookupSymbol<SystemOp>(name);
      if (!system)
        continue;
      int64_t ordinal = 0, samples = 1;
      // Dropout has its own random numbers.
      system.walk([&](RandomOp op) {
        ordinal = std::max<int64_t>(ordinal, op.getOrdinal() + 1);
      });
      SmallVector<ChoiceOp> latents;
      llvm::StringMap<ChoiceOp> guides;
      for (auto choice : system.getOps<ChoiceOp>()) {
        DictionaryAttr treatment = choice.getTreatmentAttr();
        auto kind =
            treatment ? treatment.getAs<StringAttr>("kind") : StringAttr();
        if (kind && kind.getValue() == "guide")
          guides[choice.getTarget()] = choice;
        else if (choice.getLatent() && choice.getResult())
          latents.push_back(choice);
      }
      auto kindOf = [](ChoiceOp choice) {
        DictionaryAttr treatment = choice.getTreatmentAttr();
        auto kind =
            treatment ? treatment.getAs<StringAttr>("kind") : StringAttr();
        return kind ? kind.getValue() : StringRef();
      };
      auto rankOf = [](ChoiceOp choice) {
        return cast<ArrayType>(choice.getResult().getType()).getRank();
      };
      // A choice at each of several places, and that at its boundary.
      llvm::MapVector<StringRef, ChoiceOp> several;
      llvm::StringMap<ChoiceOp> starts;
      for (ChoiceOp choice : latents)
        if ((kindOf(choice) == "enumerate" && rankOf(choice) > 0) ||
            kindOf(choice) == "marginal") {
          ChoiceOp &known = several[choice.getTarget()];
          if (!known || rankOf(known) < rankOf(choice))
            known = choice;
        }
      for (ChoiceOp choice : latents)
        if (ChoiceOp all = several.lookup(choice.getTarget());
            all && all != choice)
          starts[choice.getTarget()] = choice;
      llvm::erase_if(latents, [&](ChoiceOp choice) {
        return several.count(choice.getTarget()) != 0;
      });
      // The sum over a chain is inside the sum over a single choice.
      SmallVector<ChoiceOp> summed;
      for (bool isInside : {true, false})
        for (auto &[name, choice] : several)
          if ((rankOf(choice) > 0) == isInside)
            summed.push_back(choice);
      for (ChoiceOp choice : summed) {
        isChanged = true;
        bool isSummed = kindOf(choice) == "marginal";
        ChoiceOp start = starts.lookup(choice.getTarget());
        if (failed(isSummed ? generateFromSum(choice, start, summed.size() == 1)
                            : enumeratePlaces(choice, start)))
          return signalPassFailure();
      }
      for (ChoiceOp choice : latents) {
        isChanged = true;
        Draw draw(choice, guides.lookup(choice.getTarget()), ordinal);
        samples = std::max(samples, draw.samples());
        if (failed(draw.run()))
          return signalPassFailure();
      }
      if (samples > 1)
        system->setAttr(
            "attn.samples",
            Builder(system.getContext()).getI64IntegerAttr(samples));
    }
    if (!isChanged)
      markAllAnalysesPreserved();
  }
};

} // namespace
