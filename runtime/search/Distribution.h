//===- Distribution.h - what one choice of a search can be ----------------===//
//
// log p of the values of one choice, where compiled code left its parameters.
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
/// nothing overflows, and the mean of equals is exact. What is no number, or
/// beyond all, stays so.
double logMean(const std::vector<double> &logps);

class Distribution {
public:
  using Kind = Decoder::Distribution;

  explicit Distribution(Kind kind = Kind::Categorical) : kind(kind) {}

  /// A parameter of the distribution, with the numbers of this choice. Of
  /// `logp`, log p of each symbol, the memory stays where it is while it is
  /// asked about.
  void add(const std::string &name, const std::byte *memory,
           Program::Element element, int64_t count);
  /// After all parameters. False: there is nothing to choose from.
  bool finish();
  /// The mean of the probabilities of discrete choices among the same symbols.
  static Distribution meanOf(const std::vector<Distribution> &all);

  bool isDiscrete() const {
    return kind == Kind::Categorical || kind == Kind::Bernoulli;
  }
  /// How many numbers a value is.
  int64_t valueSize() const { return parameter("correlation").empty() ? 1 : 2; }
  /// log p of each symbol of a discrete choice, or the logarithms of the
  /// weights of a mixture.
  const std::vector<double> &logps() const {
    load();
    return values;
  }
  /// Calls `use(symbol, log p)`, in order, for the symbols whose log p is above
  /// `bound()` or no number, and maybe for others.
  void eachAbove(const std::function<double()> &bound,
                 const std::function<void(int64_t, double)> &use) const;
  void exclude(int64_t symbol);
  /// Whether any symbol is possible.
  bool isPossible() const;
  /// Whether log p of any symbol is not a number.
  bool hasNoNumber() const;

  /// log p, or the log of the density; not a number: no such value.
  double logp(const std::vector<double> &value) const;
  /// The most probable value: the lowest symbol among equals, the mean, the
  /// middle of an interval, the mean of the most probable component.
  std::vector<double> mode() const;
  /// A value drawn with three uniform numbers. Of symbols the probable ones:
  /// `topK` (0: all), and the fewest that have the probability `topP`.
  std::vector<double> draw(const std::array<double, 3> &uniform,
                           double temperature, int64_t topK, double topP) const;

private:
  const std::vector<double> &parameter(const char *name) const;
  double componentLogDensity(size_t number,
                             const std::vector<double> &value) const;

  void load() const;

  Kind kind;
  std::vector<std::pair<std::string, std::vector<double>>> parameters;
  /// Where log p of each symbol lies, while `values` does not have it.
  const std::byte *memory = nullptr;
  Program::Element element = Program::Element::F64;
  int64_t count = 0;
  mutable std::vector<double> values;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_SEARCH_DISTRIBUTION_H
