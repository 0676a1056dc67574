//===- Rollouts.h - what a policy generates in training -------------------===//
//
// Samples from the decoder with the weights of an update, scores the samples
// with the reward, and gives them as examples of the gradient program. Each
// carries its advantage, `state.policy`, which seeds the gradient of its log p.
// Batches and sums of gradients are the trainer's.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_TRAIN_ROLLOUTS_H
#define FOVEA_APP_TRAIN_ROLLOUTS_H

#include "app/data/ExampleStore.h"
#include "app/data/Inputs.h"
#include "app/model/CompiledDecoder.h"
#include "metrics/Metric.h"
#include "passes/derive/Derive.h"

namespace fovea::cli {

/// The samples of a batch.
struct Rollout {
  std::vector<runtime::Example> examples;
  /// log p of the choices of each, as the search had them, sorted.
  std::vector<std::vector<double>> logps;
  double reward = 0; // the sum over the samples
};

class Rollouts {
public:
  /// `given` names the training data, which `data` has. Null if something is
  /// wrong (diagnosed).
  static std::unique_ptr<Rollouts> create(Session &session,
                                          const Arguments &arguments,
                                          const Vocabularies &vocabularies,
                                          const attn::Policy &policy,
                                          const ExampleStore &data);

  /// Generates from these examples. `share` scales the advantages.
  runtime::Status generate(const runtime::OwnedMemory &weights, uint64_t seed,
                           int64_t update, const std::vector<int64_t> &indices,
                           double share, Rollout &rollout);
  /// Checks that the gradient program has the log p of the search, bit for bit.
  runtime::Status check(const Rollout &rollout,
                        const runtime::Workspace &gradient) const;

  /// The weight of the observed data beside what is generated.
  double likelihood() const { return policy.likelihood; }
  int64_t samples() const { return policy.samples; }
  /// Where the spec asks for the policy.
  mlir::Location place() const { return policy.place; }

private:
  Rollouts(const Vocabularies &vocabularies, attn::Policy policy,
           const ExampleStore &data)
      : vocabularies(vocabularies), policy(std::move(policy)), data(data) {}
  bool takeMetric(Session &session, const Arguments &arguments);
  bool checkEquation(Session &session);
  runtime::Example givenPart(const runtime::Example &example) const;
  double rewardOf(const runtime::Generated &made,
                  const runtime::Example &example, int64_t index) const;

  const Vocabularies &vocabularies;
  const attn::Policy policy;
  const ExampleStore &data;
  std::unique_ptr<Model> model;
  const DataInfo *target = nullptr;
  /// Lengths that only generated data have.
  std::vector<std::string> openLengths;
  std::unique_ptr<CompiledDecoder> decoder;
  metrics::MetricOptions metricOptions;
  /// The line of each example that the metric compares with.
  std::vector<std::string> references;
};

/// Fails if the gradient program has other log p of a sample's choices than the
/// search. The first are sorted as those of a `Rollout`, the others need not
/// be.
runtime::Status compareLogps(int64_t example,
                             const std::vector<double> &searched,
                             std::vector<double> trained);

/// Whether the training data have what the reward compares with. False is
/// reported.
bool hasReferences(const Arguments &arguments, const attn::Policy &policy);

} // namespace fovea::cli

#endif // FOVEA_APP_TRAIN_ROLLOUTS_H
