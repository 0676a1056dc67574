//===- Data.h - random examples and weights of a random spec --------------===//
//
// Lengths are 1 to 4 or a limit (nested ones 0 to 3), reals are in [-1, 1],
// weights in [-0.7, 0.7].
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TEST_RANDOM_DATA_H
#define FOVEA_TEST_RANDOM_DATA_H

#include "dialect/reference/Interpreter.h"
#include "runtime/memory/Workspace.h"
#include "test/random/Generator.h"
#include "test/random/Rng.h"

namespace fovea::random {

/// The reward of an example less its baseline: the data that seeds the gradient
/// of -log p of what a policy generated.
inline constexpr const char *policyName = "state.policy";

/// One example: every length and every data name, the generated ones too.
reference::Inputs randomExample(const Spec &spec, Rng &random,
                                int64_t longest = 4);

/// The example without what is generated, and without its free lengths.
reference::Inputs withoutGenerated(const Spec &spec,
                                   const reference::Inputs &example);

reference::Array randomWeights(std::vector<int64_t> shape, Rng &random);

/// All examples, which outlive it.
inline runtime::Batch
wholeBatch(const std::vector<runtime::Example> &examples) {
  runtime::Batch batch;
  for (const runtime::Example &example : examples)
    batch.push_back(&example);
  return batch;
}

} // namespace fovea::random

#endif // FOVEA_TEST_RANDOM_DATA_H
