//===- Distribution.h - what one choice of a search can be ----------------===//
//
// log p of the values of one choice, from the parameters that compiled code
// computed.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_SEARCH_DISTRIBUTION_H
#define FOVEA_RUNTIME_SEARCH_DISTRIBUTION_H

#include "runtime/Decoder.h"

#include <array>
#include <functional>
#include <utility>

namespace fovea::runtime {

/// The log of the mean of probabilities, given their logs. From the largest on:
/// nothing overflows, and the mean of equals is exact. NaNs and infinities
/// stay.
double logMean(const std::vector<double> &logps);

class Distribution {
public:
  using Kind = Decoder::Distribution;

  explicit Distribution(Kind kind = Kind::Categorical) : kind(kind) {}

  /// A parameter of the distribution, with this choice's numbers. Of
  /// `logp`, log p of each symbol, the memory stays where it is while it is
  /// asked about, or until `keep`.
  void add(const std::string &name, const std::byte *memory,
           Program::Element element, int64_t count);
  /// Copies log p out of its memory.
  void keep();
  /// Call after all parameters. Returns false if there is nothing to choose
  /// from.
  bool finish();
  /// The mean of the probabilities of discrete choices among the same symbols.
  static Distribution meanOf(const std::vector<Distribution> &all);

  bool isDiscrete() const {
    return kind == Kind::Categorical || kind == Kind::Bernoulli;
  }
  /// How many numbers one value has.
  int64_t valueSize() const { return parameter("correlation").empty() ? 1 : 2; }
  /// log p of each symbol of a discrete choice, or the log weights of a
  /// mixture.
  const std::vector<double> &logps() const {
    load();
    return values;
  }
  /// Calls `use(symbol, log p)`, in order, for the symbols whose log p is above
  /// `bound()` or no number, and maybe for others.
  void eachAbove(const std::function<double()> &bound,
                 const std::function<void(int64_t, double)> &use) const;
  void exclude(int64_t symbol);
  /// Returns whether any symbol is possible.
  bool isPossible() const;
  /// Returns whether log p of any symbol is NaN.
  bool hasNoNumber() const;

  /// log p of a symbol. Of a real number 0: the program gives its density.
  double logp(const std::vector<double> &value) const;
  /// The most probable value: the lowest symbol among equals, the mean, the
  /// middle of an interval, the mean of the most probable component.
  std::vector<double> mode() const;
  /// A value sampled with three uniform numbers. For symbols, among the
  /// candidates:
  /// `topK` (0: all), and the fewest that have the probability `topP`.
  std::vector<double> draw(const std::array<double, 3> &uniform,
                           double temperature, int64_t topK, double topP) const;

private:
  const std::vector<double> &parameter(const char *name) const;

  void load() const;

  Kind kind;
  std::vector<std::pair<std::string, std::vector<double>>> parameters;
  /// The address of the symbols' log p, while `values` does not contain them.
  const std::byte *memory = nullptr;
  Program::Element element = Program::Element::F64;
  int64_t count = 0;
  mutable std::vector<double> values;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_SEARCH_DISTRIBUTION_H
