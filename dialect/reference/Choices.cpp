//===- Choices.cpp - log p, mode and draws of distributions ---------------===//

#include "dialect/reference/Choices.h"
#include "dialect/Distributions.h"
#include "dialect/reference/Orders.h"
#include "dialect/reference/Scalars.h"
#include "runtime/Functions.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

using namespace mlir;
using namespace fovea;
using namespace fovea::reference;
using attn::Distribution;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double logTwoPi = 1.8378770664093453;

Value reference::chosenArray(attn::ChoiceOp op) {
  return op.getObserved() ? Value(op.getObserved()) : op.getResult();
}

unsigned reference::numChoiceAxes(attn::ChoiceOp op) {
  unsigned rank = cast<attn::ArrayType>(chosenArray(op).getType()).getRank();
  return rank - attn::numValueAxes(op);
}

ArrayRef<double> ChoiceDistribution::parameter(StringRef name) const {
  for (const auto &[known, values] : parameters)
    if (known == name)
      return values;
  return {};
}

Status
ChoiceDistribution::take(attn::ChoiceOp op, int64_t group,
                         ArrayRef<int64_t> indices, const LengthTable &lengths,
                         llvm::function_ref<const Array &(Value)> arrayOf,
                         llvm::function_ref<int64_t(StringRef)> loopIndex,
                         const Inputs &inputs) {
  kind = op.getDistribution();
  name = op.getTarget().str();
  parameters.clear();
  std::vector<Traced> traced;
  unsigned axes = numChoiceAxes(op);
  bool isShort = false;
  for (auto [nameAttr, value] :
       llvm::zip_equal(op.getParameterNames(), op.getParameters())) {
    const Array &array = arrayOf(value);
    auto type = cast<attn::ArrayType>(value.getType());
    int64_t size = 1;
    for (unsigned axis = axes; axis < type.getRank(); ++axis)
      size *= array.shape[axis];
    auto &[known, values] = parameters.emplace_back();
    known = cast<StringAttr>(nameAttr).str();
    if (type.getRank() > axes)
      if (auto extent =
              dyn_cast<IntegerAttr>(type.getShape().getValue().back()))
        isShort |= known == "logits" && extent.getInt() < 4;
    SmallVector<int64_t> place(indices);
    for (int64_t i = 0; i < size; ++i) {
      // Places past a nested length are not symbols.
      if (type.getRank() == axes + 1) {
        place.resize(axes);
        place.push_back(i);
        if (!lengths.isInside(type, place, loopIndex))
          break;
      }
      values.push_back(array.values[group * size + i]);
      traced.push_back(array.at(group * size + i));
    }
  }
  for (const auto &[known, values] : parameters)
    if (values.empty())
      return Status::error(fmt::format("'{}' has nothing to choose from", name),
                           placeOf(op));
  if (kind == Distribution::mixture) {
    size_t count = parameter("logit").size();
    size_t size = valueSize();
    size_t means = parameter("mean").size(),
           deviations = parameter("sd").size(),
           correlations = parameter("correlation").size();
    if (means != size * count || deviations != size * count ||
        (size == 2 && correlations != count)) {
      std::string others =
          size == 2
              ? fmt::format("{} means, {} deviations and {} correlations",
                            means / 2, deviations / 2, correlations)
              : fmt::format("{} means and {} deviations", means, deviations);
      return Status::error(
          fmt::format("the mixture of '{}' has {} weights but {}", name, count,
                      others),
          placeOf(op));
    }
  }
  if (inputs.trees)
    inputs.trees->keepChoice(name, traced);
  findLogps(inputs.single, isShort);
  return Status::success();
}

static std::vector<double> logSoftmax(ArrayRef<double> logits) {
  double largest = -infinity, sum = 0;
  for (double logit : logits)
    largest = std::max(largest, logit);
  if (largest == -infinity)
    return std::vector<double>(logits.size(), -infinity);
  for (double logit : logits)
    sum += runtime::expOf(logit - largest);
  std::vector<double> result;
  for (double logit : logits)
    result.push_back(logit - largest - runtime::logOf(sum));
  return result;
}

/// As compiled code has it, in f32. Fewer than four places make a chain.
static std::vector<double> logSoftmaxSingle(ArrayRef<double> logits,
                                            bool isShort) {
  std::vector<double> result;
  std::vector<Term> terms;
  for (auto [place, logit] : llvm::enumerate(logits))
    terms.push_back(
        {static_cast<float>(logit), 1, unsigned(place % 16), int64_t(place)});
  for (Traced logp :
       normaliseSingle(/*isLog=*/true, {/*inLanes=*/!isShort, /*fused=*/false},
                       terms, Arithmetic(nullptr)))
    result.push_back(logp.value);
  return result;
}

void ChoiceDistribution::findLogps(bool single, bool isShort) {
  logps = parameter("logp");
  if (!logps.empty())
    return;
  if (kind == Distribution::categorical) {
    if (!parameter("logits").empty())
      logps = single ? logSoftmaxSingle(parameter("logits"), isShort)
                     : logSoftmax(parameter("logits"));
    else
      for (double prob : parameter("probs"))
        logps.push_back(runtime::logOf(prob));
  } else if (kind == Distribution::bernoulli) {
    if (!parameter("logit").empty()) {
      double x = parameter("logit")[0];
      logps = {-softplus(x), -softplus(-x)};
    } else {
      double p = parameter("prob")[0];
      logps = {runtime::log1pOf(-p), runtime::logOf(p)};
    }
  } else if (kind == Distribution::mixture) {
    logps = logSoftmax(parameter("logit"));
  }
}

ChoiceDistribution
ChoiceDistribution::meanOf(ArrayRef<ChoiceDistribution> all) {
  ChoiceDistribution mean = all.front();
  mean.parameters.clear();
  for (size_t symbol = 0; symbol < mean.logps.size(); ++symbol) {
    double largest = -infinity, sum = 0;
    for (const ChoiceDistribution &one : all)
      largest = std::max(largest, one.logps[symbol]);
    if (std::isinf(largest))
      largest = 0;
    for (const ChoiceDistribution &one : all)
      sum += runtime::expOf(one.logps[symbol] - largest);
    mean.logps[symbol] =
        largest + runtime::logOf(sum / static_cast<double>(all.size()));
  }
  return mean;
}

/// A normal density; of pairs Graves (2013), equation 24.
double ChoiceDistribution::componentLogDensity(size_t m,
                                               ArrayRef<double> value) const {
  ArrayRef<double> mean = parameter("mean"), sd = parameter("sd");
  if (valueSize() == 1) {
    double away = (value[0] - mean[m]) / sd[m];
    return -0.5 * away * away - runtime::logOf(sd[m]) - 0.5 * logTwoPi;
  }
  double rho = parameter("correlation")[m];
  double x = (value[0] - mean[2 * m]) / sd[2 * m];
  double y = (value[1] - mean[2 * m + 1]) / sd[2 * m + 1];
  double rest = 1 - rho * rho;
  return -(x * x + y * y - 2 * rho * x * y) / (2 * rest) - logTwoPi -
         runtime::logOf(sd[2 * m]) - runtime::logOf(sd[2 * m + 1]) -
         0.5 * runtime::logOf(rest);
}

Status ChoiceDistribution::logp(ArrayRef<double> value, double &result) const {
  if (isDiscrete()) {
    double symbol = value[0];
    if (!(symbol >= 0 && symbol < static_cast<double>(logps.size())) ||
        symbol != std::floor(symbol))
      return Status::error(fmt::format("'{}' has the value {}, outside 0..{}",
                                       name, symbol, logps.size() - 1));
    result = logps[static_cast<size_t>(symbol)];
  } else if (kind == Distribution::normal) {
    double sd = parameter("sd")[0];
    double x = (value[0] - parameter("mean")[0]) / sd;
    result = -0.5 * x * x - runtime::logOf(sd) - 0.5 * logTwoPi;
  } else if (kind == Distribution::uniform) {
    double low = parameter("low")[0], high = parameter("high")[0];
    bool inside = value[0] >= low && value[0] <= high;
    // Between equal bounds the value is certain.
    double size = low == high ? 1 : high - low;
    result = inside ? -runtime::logOf(size) : -infinity;
  } else {
    double largest = -infinity, sum = 0;
    std::vector<double> terms;
    for (size_t m = 0; m < logps.size(); ++m) {
      terms.push_back(logps[m] + componentLogDensity(m, value));
      largest = std::max(largest, terms.back());
    }
    for (double term : terms)
      sum += runtime::expOf(term - largest);
    result = std::isinf(largest) ? largest : largest + runtime::logOf(sum);
  }
  return Status::success();
}

bool ChoiceDistribution::exclude(double symbol) {
  logps[static_cast<size_t>(symbol)] = -infinity;
  return llvm::any_of(logps, [](double logp) { return logp > -infinity; });
}

static size_t findMode(ArrayRef<double> logps) {
  size_t best = 0;
  for (size_t i = 1; i < logps.size(); ++i)
    if (logps[i] > logps[best])
      best = i;
  return best;
}

std::vector<double> ChoiceDistribution::mode() const {
  if (isDiscrete())
    return {static_cast<double>(findMode(logps))};
  if (kind == Distribution::normal)
    return {parameter("mean")[0]};
  if (kind == Distribution::uniform)
    return {(parameter("low")[0] + parameter("high")[0]) / 2};
  size_t m = findMode(logps);
  if (valueSize() == 1)
    return {parameter("mean")[m]};
  return {parameter("mean")[2 * m], parameter("mean")[2 * m + 1]};
}

size_t reference::symbolAt(ArrayRef<double> logps, double uniform) {
  double total = 0;
  for (double logp : logps)
    total += runtime::expOf(logp);
  double rest = uniform * total;
  size_t last = 0;
  for (size_t i = 0; i < logps.size(); ++i) {
    double p = runtime::expOf(logps[i]);
    if (p > 0)
      last = i;
    if (rest < p)
      return i;
    rest -= p;
  }
  return last; // what rounding left over
}

std::vector<double>
ChoiceDistribution::draw(std::array<double, 3> uniform) const {
  if (isDiscrete())
    return {static_cast<double>(symbolAt(logps, uniform[0]))};
  if (kind == Distribution::uniform) {
    double low = parameter("low")[0];
    return {low + uniform[0] * (parameter("high")[0] - low)};
  }
  // Box and Muller; 1 - u is never 0.
  double radius = std::sqrt(-2 * runtime::logOf(1 - uniform[1]));
  double x = radius * runtime::cosOfTurns(uniform[2]);
  double y = radius * runtime::sinOfTurns(uniform[2]);
  if (kind == Distribution::normal)
    return {parameter("mean")[0] + parameter("sd")[0] * x};
  size_t m = symbolAt(logps, uniform[0]);
  ArrayRef<double> mean = parameter("mean"), sd = parameter("sd");
  if (valueSize() == 1)
    return {mean[m] + sd[m] * x};
  double rho = parameter("correlation")[m];
  return {mean[2 * m] + sd[2 * m] * x,
          mean[2 * m + 1] +
              sd[2 * m + 1] * (rho * x + std::sqrt(1 - rho * rho) * y)};
}
