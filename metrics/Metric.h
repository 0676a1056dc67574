//===- Metric.h - a metric by its name ------------------------------------===//
//
// What `fovea eval` and validations in training share: a metric takes lines
// with their references, one after the other, and says what they are worth.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_METRICS_METRIC_H
#define FOVEA_METRICS_METRIC_H

#include "metrics/Bleu.h"
#include "metrics/Synonyms.h"

#include <memory>
#include <optional>

namespace fovea::metrics {

struct MetricOptions {
  /// Without a value 13a for BLEU, and none for all that counts tokens.
  std::optional<Tokeniser> tokeniser;
  Smoothing smoothing = Smoothing::Exp;
  /// Of floor (0.1) and add-k (1).
  std::optional<double> smoothingValue;
  /// Of METEOR; null: only equal words and stems are pairs.
  std::shared_ptr<const Synonyms> synonyms;
};

class Metric {
public:
  virtual ~Metric() = default;

  /// Adds a line with one reference or more; as many for each line.
  virtual void add(std::string_view hypothesis,
                   const std::vector<std::string_view> &references) = 0;
  /// What all lines are worth.
  virtual double value() const = 0;
  /// `NAME|SIGNATURE = VALUE ..`, with this many digits after the point.
  virtual std::string text(int digits) const = 0;
  virtual bool isHigherBetter() const { return true; }

  /// The metric of this name, null where there is none.
  static std::unique_ptr<Metric> create(std::string_view name,
                                        const MetricOptions &options);
  /// All names, in the order of the documentation.
  static const std::vector<std::string_view> &names();
};

} // namespace fovea::metrics

#endif // FOVEA_METRICS_METRIC_H
