//===- Metric.h - a metric by its name ------------------------------------===//
//
// `fovea eval` and validations during training share this interface: a metric
// counts something on each line beside its references, and computes a value
// from the sum of the counts.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_METRICS_METRIC_H
#define FOVEA_METRICS_METRIC_H

#include "metrics/Bleu.h"
#include "metrics/Cider.h"
#include "metrics/Synonyms.h"

#include <memory>
#include <optional>

namespace fovea::metrics {

struct MetricOptions {
  /// Default: 13a for BLEU, METEOR's for METEOR, none for all others.
  std::optional<Tokeniser> tokeniser;
  /// Compares lines in lower case. TER and METEOR always do.
  bool isLower = false;
  Smoothing smoothing = Smoothing::Exp;
  /// The constant of floor (0.1) and add-k (1).
  std::optional<double> smoothingValue;
  /// For METEOR; null: only equal words and stems are pairs.
  std::shared_ptr<const Synonyms> synonyms;
  /// The n-grams that CIDEr weighs by; null: those of the lines that are added.
  std::shared_ptr<const NgramCorpus> corpus;
};

class Metric {
public:
  virtual ~Metric() = default;

  /// Adds a line with its references, at least one. Lines may have different
  /// numbers of them.
  void add(std::string_view hypothesis,
           const std::vector<std::string_view> &references);
  size_t size() const { return lines.size(); }

  /// Returns the counts of a line. They may depend on the references of all
  /// lines.
  virtual Statistics statistics(size_t line) const { return lines[line]; }
  /// Returns the value that a sum of counts has.
  virtual double valueOf(const Statistics &sum) const = 0;
  /// Returns the value of all lines, 0 of no line.
  double value() const;
  /// Returns the value of one line alone.
  virtual double lineValue(size_t line) const {
    return valueOf(statistics(line));
  }

  /// Returns `NAME|..`, what the value depends on.
  virtual std::string signature() const = 0;
  virtual std::string lineSignature() const { return signature(); }
  /// Returns `SIGNATURE = VALUE ..`, with this many digits after the point.
  std::string text(int digits) const;
  virtual bool isHigherBetter() const { return true; }
  /// Whether the value of one line depends on a corpus.
  virtual bool needsCorpus() const { return false; }
  /// The value that counts as 1 in a reward: 100 of percentages.
  virtual double unit() const { return 100; }

  /// Creates the metric with this name, or returns null if there is none.
  static std::unique_ptr<Metric> create(std::string_view name,
                                        const MetricOptions &options);
  /// Returns all names, in the order of the documentation.
  static const std::vector<std::string_view> &names();

protected:
  explicit Metric(bool isLower) : isLower(isLower) {}

  virtual Statistics count(std::string_view hypothesis,
                           const std::vector<std::string_view> &references) = 0;
  virtual bool ignoresCase() const { return isLower; }
  /// Returns what `text` prints after the value.
  virtual std::string details(const Statistics &, int) const { return ""; }
  /// Returns the sum over all lines.
  Statistics sum() const;
  /// Returns `nrefs:N|case:..` as in sacreBLEU's signature; N is `var` if lines
  /// have different numbers of references.
  std::string common() const;

private:
  bool isLower;
  size_t fewest = 0, most = 0;
  std::vector<Statistics> lines;
};

} // namespace fovea::metrics

#endif // FOVEA_METRICS_METRIC_H
