//===- ValidMetrics.h - what a model in training generates ----------------===//
//
// Decodes the examples of the validation greedily, with the weights as they
// are, and says what that is worth beside what they should have been.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_TRAIN_VALIDMETRICS_H
#define FOVEA_DRIVER_TRAIN_VALIDMETRICS_H

#include "driver/data/ExampleStore.h"
#include "driver/data/Inputs.h"
#include "driver/model/CompiledDecoder.h"
#include "runtime/train/Team.h"

namespace fovea::cli {

class ValidMetrics {
public:
  /// `names` are metrics, `bleu` or `bleu(tgt)`; `valid` are the examples that
  /// `--valid` gives. Null when something is wrong (diagnosed).
  static std::unique_ptr<ValidMetrics>
  create(Session &session, const Arguments &arguments,
         const Vocabularies &vocabularies,
         const std::vector<std::string> &names, const ExampleStore &valid);

  /// Gives the value of each metric; where a signal asks to stop, nothing that
  /// is of use. A team shares the examples out, and all get the values.
  runtime::Status measure(const runtime::OwnedMemory &weights,
                          runtime::Team &team, std::vector<double> &values);

  /// What a metric is called in the log.
  const std::string &name(size_t number) const { return wanted[number].name; }
  bool isHigherBetter(size_t number) const;
  /// The metric that `name` means (`bleu(tgt)` is `bleu`).
  size_t numberOf(const std::string &name) const;

private:
  struct Wanted {
    std::string name;
    const DataInfo *data = nullptr; // what is compared
    std::vector<std::string> references;
  };

  explicit ValidMetrics(const Vocabularies &vocabularies)
      : vocabularies(vocabularies) {}
  bool add(Session &session, const Arguments &arguments,
           const std::string &text, const ExampleStore &valid);
  bool readReferences(Session &session, const Arguments &arguments,
                      const ExampleStore &valid, Wanted &metric) const;

  runtime::Status decode(size_t first, size_t end,
                         std::vector<std::string> &lines);

  const Vocabularies &vocabularies;
  std::unique_ptr<Model> model;
  std::vector<runtime::Example> examples;
  std::unique_ptr<CompiledDecoder> decoder;
  std::vector<Wanted> wanted;
};

} // namespace fovea::cli

#endif // FOVEA_DRIVER_TRAIN_VALIDMETRICS_H
