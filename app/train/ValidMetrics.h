//===- ValidMetrics.h - what a model in training generates ----------------===//
//
// Decodes the validation examples greedily with the current weights, and scores
// the outputs against the references.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_TRAIN_VALIDMETRICS_H
#define FOVEA_APP_TRAIN_VALIDMETRICS_H

#include "app/data/ExampleStore.h"
#include "app/data/Inputs.h"
#include "app/model/CompiledDecoder.h"
#include "metrics/Metric.h"
#include "runtime/train/Team.h"

namespace fovea::cli {

/// Adds what `--valid-ref` names to the hash of a validation. Returns false
/// after a diagnostic.
bool addMoreReferences(Session &session, const Arguments &arguments,
                       std::string &hash);

class ValidMetrics {
public:
  /// `names` are metrics, `bleu` or `bleu(tgt)`; `valid` are the examples that
  /// `--valid` gives. Null when something is wrong (diagnosed).
  static std::unique_ptr<ValidMetrics>
  create(Session &session, const Arguments &arguments,
         const Vocabularies &vocabularies,
         const std::vector<std::string> &names, const ExampleStore &valid);

  /// Returns the value of each metric; undefined if a signal requests the end.
  /// A team shares the examples, and all get the values.
  runtime::Status measure(const runtime::OwnedMemory &weights,
                          runtime::Team &team, std::vector<double> &values);

  /// The name of a metric in the log.
  const std::string &name(size_t number) const { return wanted[number].name; }
  bool isHigherBetter(size_t number) const;
  /// Returns the metric called `name` (`bleu(tgt)` is `bleu`).
  size_t numberOf(const std::string &name) const;

private:
  struct Wanted {
    std::string name;
    const DataInfo *data = nullptr;                   // what is compared
    std::vector<std::vector<std::string>> references; // of each example
  };

  explicit ValidMetrics(const Vocabularies &vocabularies)
      : vocabularies(vocabularies) {}
  bool add(Session &session, const Arguments &arguments,
           const std::string &text, const ExampleStore &valid);
  bool readMoreReferences(Session &session, const Arguments &arguments,
                          Wanted &metric) const;

  runtime::Status decode(size_t first, size_t end,
                         std::vector<std::string> &lines);

  const Vocabularies &vocabularies;
  std::unique_ptr<Model> model;
  std::vector<runtime::Example> examples;
  std::unique_ptr<CompiledDecoder> decoder;
  std::vector<Wanted> wanted;
  metrics::MetricOptions options; // METEOR's resources
};

/// Reads the lines that outputs are compared with: those of a text file among
/// `given`, otherwise made of the values in `examples`.
bool readReferences(Session &session, const std::vector<std::string> &given,
                    const ExampleStore &examples, const DataInfo &data,
                    const Vocabularies &vocabularies,
                    std::vector<std::string> &lines);

} // namespace fovea::cli

#endif // FOVEA_APP_TRAIN_VALIDMETRICS_H
