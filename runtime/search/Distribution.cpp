//===- Distribution.cpp - what one choice of a search can be --------------===//

#include "runtime/search/Distribution.h"
#include "runtime/Element.h"
#include "runtime/Functions.h"
#include "runtime/device/SharedMemory.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

using namespace fovea::runtime;

static constexpr double infinity = std::numeric_limits<double>::infinity();

void Distribution::add(const std::string &name, const std::byte *from,
                       Program::Element type, int64_t size) {
  if (name != "logp") {
    HostView view(from, size * sizeOf(type));
    parameters.emplace_back(name, loadNumbers(view.data(), type, size));
    return;
  }
  memory = from;
  element = type;
  count = size;
}

void Distribution::load() const {
  if (!memory || !values.empty())
    return;
  HostView view(memory, count * sizeOf(element));
  values = loadNumbers(view.data(), element, count);
}

/// Skips symbols by the block: most of them are improbable.
template <typename T>
static void eachAboveIn(const T *logps, int64_t count,
                        const std::function<double()> &bound,
                        const std::function<void(int64_t, double)> &use) {
  constexpr int64_t block = 64;
  for (int64_t first = 0; first < count; first += block) {
    int64_t end = std::min(count, first + block);
    // Slightly lower, so that rounding skips nothing.
    T limit = std::nextafter(static_cast<T>(bound()),
                             -std::numeric_limits<T>::infinity());
    int some = 0;
    for (int64_t symbol = first; symbol < end; ++symbol)
      some |= !(logps[symbol] <= limit);
    if (some == 0)
      continue;
    for (int64_t symbol = first; symbol < end; ++symbol)
      if (!(logps[symbol] <= limit))
        use(symbol, static_cast<double>(logps[symbol]));
  }
}

void Distribution::eachAbove(
    const std::function<double()> &bound,
    const std::function<void(int64_t, double)> &use) const {
  if (isOwn(memory))
    load();
  if (!memory || isOwn(memory))
    eachAboveIn(values.data(), values.size(), bound, use);
  else if (element == Program::Element::F32)
    eachAboveIn(reinterpret_cast<const float *>(memory), count, bound, use);
  else
    eachAboveIn(reinterpret_cast<const double *>(memory), count, bound, use);
}

double fovea::runtime::logMean(const std::vector<double> &logps) {
  double largest = -infinity, sum = 0;
  for (double logp : logps)
    largest = std::max(largest, logp);
  if (std::isinf(largest))
    largest = 0;
  for (double logp : logps)
    sum += expOf(logp - largest);
  return largest + logOf(sum / static_cast<double>(logps.size()));
}

Distribution Distribution::meanOf(const std::vector<Distribution> &all) {
  Distribution result(all.front().kind);
  for (size_t symbol = 0; symbol < all.front().logps().size(); ++symbol) {
    std::vector<double> logps;
    for (const Distribution &one : all)
      logps.push_back(one.logps()[symbol]);
    result.values.push_back(logMean(logps));
  }
  return result;
}

const std::vector<double> &Distribution::parameter(const char *name) const {
  static const std::vector<double> none;
  for (const auto &[known, numbers] : parameters)
    if (known == name)
      return numbers;
  return none;
}

static double softplus(double x) {
  return std::max(x, 0.0) + log1pOf(expOf(-std::abs(x)));
}

// A derived decoder gives log p of every value. Probabilities and logits come
// from IR that is written by hand.
bool Distribution::finish() {
  if (memory)
    return count > 0;
  for (const auto &[name, numbers] : parameters)
    if (numbers.empty())
      return false;
  if (kind == Kind::Categorical) {
    for (double probability : parameter("probs"))
      values.push_back(logOf(probability));
    return !values.empty();
  }
  if (kind == Kind::Bernoulli && values.empty()) {
    if (!parameter("logit").empty()) {
      double x = parameter("logit")[0];
      values = {-softplus(x), -softplus(-x)};
    } else {
      double p = parameter("prob")[0];
      values = {log1pOf(-p), logOf(p)};
    }
  } else if (kind == Kind::Mixture) {
    values = parameter("logit");
    double largest = -infinity, sum = 0;
    for (double logit : values)
      largest = std::max(largest, logit);
    for (double logit : values)
      sum += expOf(logit - largest);
    double logSum = logOf(sum);
    for (double &logit : values)
      logit = logit - largest - logSum;
  }
  return true;
}

void Distribution::keep() {
  load();
  memory = nullptr;
}

void Distribution::exclude(int64_t symbol) {
  keep();
  values[symbol] = -infinity;
}

bool Distribution::hasNoNumber() const {
  load();
  return std::any_of(values.begin(), values.end(),
                     [](double logp) { return std::isnan(logp); });
}

bool Distribution::isPossible() const {
  load();
  return std::any_of(values.begin(), values.end(),
                     [](double logp) { return logp > -infinity; });
}

double Distribution::logp(const std::vector<double> &value) const {
  if (!isDiscrete())
    return 0;
  load();
  return values[static_cast<size_t>(value[0])];
}

static size_t largestOf(const std::vector<double> &values) {
  return std::max_element(values.begin(), values.end()) - values.begin();
}

std::vector<double> Distribution::mode() const {
  load();
  if (isDiscrete())
    return {static_cast<double>(largestOf(values))};
  if (kind == Kind::Normal)
    return {parameter("mean")[0]};
  if (kind == Kind::Uniform)
    return {(parameter("low")[0] + parameter("high")[0]) / 2};
  size_t number = largestOf(values);
  if (valueSize() == 1)
    return {parameter("mean")[number]};
  return {parameter("mean")[2 * number], parameter("mean")[2 * number + 1]};
}

/// The symbol at a uniform number's place in the cumulative distribution.
static size_t symbolAt(const std::vector<double> &logps, double uniform) {
  std::vector<double> probabilities(logps.size());
  double total = 0;
  for (size_t symbol = 0; symbol < logps.size(); ++symbol)
    total += probabilities[symbol] = expOf(logps[symbol]);
  double rest = uniform * total;
  size_t last = 0;
  for (size_t symbol = 0; symbol < logps.size(); ++symbol) {
    double p = probabilities[symbol];
    if (p > 0)
      last = symbol;
    if (rest < p)
      return symbol;
    rest -= p;
  }
  return last; // what rounding left over
}

/// log p of the candidate symbols at a temperature; the others are
/// impossible.
static std::vector<double> tempered(const std::vector<double> &logps,
                                    double temperature, int64_t topK,
                                    double topP) {
  std::vector<double> result(logps);
  double largest = -infinity, sum = 0;
  for (double &logp : result)
    largest = std::max(largest, logp /= temperature);
  for (double &logp : result)
    sum += expOf(logp -= largest);
  double logSum = logOf(sum);
  for (double &logp : result)
    logp -= logSum;
  if (topK <= 0 && topP >= 1)
    return result;
  // Sorts only as many as can be kept.
  std::vector<size_t> order(result.size());
  std::iota(order.begin(), order.end(), 0);
  auto isBefore = [&](size_t a, size_t b) {
    return result[a] != result[b] ? result[a] > result[b] : a < b;
  };
  size_t most = topK > 0 ? std::min<size_t>(topK, order.size()) : order.size();
  std::partial_sort(order.begin(), order.begin() + most, order.end(), isBefore);
  double mass = 0;
  size_t kept = 0;
  while (kept < most && (kept == 0 || mass < topP))
    mass += expOf(result[order[kept++]]);
  for (size_t rank = kept; rank < order.size(); ++rank)
    result[order[rank]] = -infinity;
  return result;
}

std::vector<double> Distribution::draw(const std::array<double, 3> &uniform,
                                       double temperature, int64_t topK,
                                       double topP) const {
  load();
  if (isDiscrete())
    return {static_cast<double>(
        symbolAt(tempered(values, temperature, topK, topP), uniform[0]))};
  if (kind == Kind::Uniform) {
    double low = parameter("low")[0];
    return {low + uniform[0] * (parameter("high")[0] - low)};
  }
  // Box and Muller; 1 - u is never 0.
  double radius = std::sqrt(-2 * logOf(1 - uniform[1]));
  double x = radius * cosOfTurns(uniform[2]);
  double y = radius * sinOfTurns(uniform[2]);
  if (kind == Kind::Normal)
    return {parameter("mean")[0] + parameter("sd")[0] * x};
  size_t number = symbolAt(values, uniform[0]);
  int64_t size = valueSize();
  const double *mean = &parameter("mean")[size * number];
  const double *sd = &parameter("sd")[size * number];
  if (size == 1)
    return {mean[0] + sd[0] * x};
  double rho = parameter("correlation")[number];
  return {mean[0] + sd[0] * x,
          mean[1] + sd[1] * (rho * x + std::sqrt(1 - rho * rho) * y)};
}
