//===- Divergence.cpp - how much more a guide knows -----------------------===//

#include "passes/derive/Divergence.h"
#include "passes/derive/EquationBuilder.h"
#include "runtime/Functions.h"

#include <limits>
#include <numbers>

using namespace mlir;
using namespace fovea::attn;

namespace {

class Divergence : EquationBuilder {
public:
  Divergence(const OpBuilder &builder, ChoiceOp choice, ChoiceOp guide)
      : EquationBuilder(builder), choice(choice), guide(guide),
        label(("kl." + choice.getTarget()).str()) {
    loc = choice.getLoc();
    auto type = cast<ArrayType>(choice.getResult().getType());
    axes.assign(type.getShape().begin(), type.getShape().end());
  }

  Value ofFinite();
  Value ofNormals();
  Value byDraw(Value drawn);

private:
  Value logProbabilities(ChoiceOp of);

  ChoiceOp choice, guide;
  std::string label;
  SmallVector<Attribute> axes;
};

} // namespace

/// log p of each category, or of a bit that is 0 and that is 1.
Value Divergence::logProbabilities(ChoiceOp of) {
  Value given = of.getParameters()[0];
  bool isBit = of.getDistribution() == Distribution::bernoulli;
  bool isLogit = cast<StringAttr>(of.getParameterNames()[0])
                     .getValue()
                     .starts_with("logit");
  Attribute event =
      isBit ? Attribute(builder.getI64IntegerAttr(2)) : lastExtent(given);
  if (isLogit && !isBit)
    return compute("log_p." + choice.getTarget(), axes, Reducer::log_softmax,
                   event, [&](Scalars &at) { return at.read(given); });
  SmallVector<Attribute> all(axes);
  all.push_back(event);
  return compute(
      "log_p." + choice.getTarget(), all, Reducer::none, {}, [&](Scalars &at) {
        Value value = at.read(given);
        return isBit ? at.logOfBit(value, isLogit) : at.logOfProbability(value);
      });
}

/// The sum over all values of q (log q - log p), nothing of what q excludes.
Value Divergence::ofFinite() {
  Value known = logProbabilities(guide), prior = logProbabilities(choice);
  return compute(
      label, axes, Reducer::sum, lastExtent(known), [&](Scalars &at) {
        Value log = at.read(known),
              none = at.constant(-std::numeric_limits<double>::infinity());
        return at.either(
            at.less(none, log),
            [&] {
              Value q = math::ExpOp::create(at.builder, loc, log);
              return at.mul(q, at.sub(log, at.read(prior)));
            },
            [&] { return at.constant(0); });
      });
}

Value Divergence::ofNormals() {
  return compute(label, axes, Reducer::none, {}, [&](Scalars &at) {
    Value mean = at.read(guide.getParameters()[0]);
    Value sd = at.read(guide.getParameters()[1]);
    Value prior = at.read(choice.getParameters()[0]);
    Value width = at.read(choice.getParameters()[1]);
    Value spread = at.square(at.div(sd, width));
    Value away = at.square(at.div(at.sub(mean, prior), width));
    Value squares = at.mul(at.constant(0.5), at.add(spread, away));
    Value logs = at.sub(at.log(width), at.log(sd));
    return at.sub(at.add(logs, squares), at.constant(0.5));
  });
}

/// log of the density at a value.
static Value logDensity(Scalars &at, ChoiceOp choice, Value x) {
  Value first = at.read(choice.getParameters()[0]);
  Value second = at.read(choice.getParameters()[1]);
  if (choice.getDistribution() == Distribution::uniform)
    return at.either(
        at.within(first, x, second),
        [&] { return at.negate(at.log(at.sub(second, first))); },
        [&] { return at.constant(-std::numeric_limits<double>::infinity()); });
  Value distance = at.square(at.div(at.sub(x, first), second));
  Value exponent = at.mul(at.constant(-0.5), distance);
  Value norm =
      at.add(at.log(second),
             at.constant(0.5 * fovea::runtime::logOf(2 * std::numbers::pi)));
  return at.sub(exponent, norm);
}

Value Divergence::byDraw(Value drawn) {
  return compute(label, axes, Reducer::none, {}, [&](Scalars &at) {
    Value x = at.read(drawn), density = logDensity(at, guide, x);
    return at.sub(density, logDensity(at, choice, x));
  });
}

Value fovea::attn::divergenceOf(const OpBuilder &builder, ChoiceOp choice,
                                ChoiceOp guide, Value drawn) {
  Divergence divergence(builder, choice, guide);
  Type element = cast<ArrayType>(choice.getResult().getType()).getElementType();
  if (!element.isF64())
    return divergence.ofFinite();
  bool areNormal = choice.getDistribution() == Distribution::normal &&
                   guide.getDistribution() == Distribution::normal;
  return areNormal ? divergence.ofNormals() : divergence.byDraw(drawn);
}
