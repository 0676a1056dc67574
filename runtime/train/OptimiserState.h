//===- OptimiserState.h - what continues a training -----------------------===//
//
// The optimiser state in a weights file, under names that no parameter has:
// `optimiser/first/out.weight`. A compiled model that has made updates
// saves the state and continues from it. Other readers of weights remove it
// first.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_TRAIN_OPTIMISERSTATE_H
#define FOVEA_RUNTIME_TRAIN_OPTIMISERSTATE_H

#include "runtime/train/Learner.h"

namespace fovea::runtime {

struct OptimiserState {
  /// `adam`; empty: a file of weights alone.
  std::string rule;
  /// The number of updates made.
  int64_t updates = 0;
  /// `first/out.weight`.
  std::map<std::string, Tensor> tensors;
};

/// Adds the state after `updates` updates to a weights file.
void storeOptimiser(Learner &learner, Rule rule, int64_t updates,
                    TensorFile &file);

/// Removes the state from a weights file, and returns it. Messages use `name`
/// for the file.
Status takeOptimiser(TensorFile &file, const std::string &name,
                     OptimiserState &state);

/// Continues from the state, which belongs to the learner's weights. Ignores
/// the state of another rule.
Status loadOptimiser(OptimiserState state, Rule rule, bool isDouble,
                     Learner &learner, int64_t &updates,
                     const std::string &name);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_TRAIN_OPTIMISERSTATE_H
