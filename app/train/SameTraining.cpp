//===- SameTraining.cpp - whether all processes train the same ------------===//

#include "app/train/SameTraining.h"
#include "app/machines/Agreement.h"
#include "runtime/data/Checksum.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;

std::string fovea::cli::findOddTraining(const Identity &identity,
                                        const Arguments &arguments,
                                        uint64_t seed) {
  Identity own = identity;
  auto add = [&](const char *what, const auto &value) {
    own[what] = value ? fmt::format("{}", *value) : "none";
  };
  add("steps", arguments.steps);
  add("epochs", arguments.epochs);
  add("minutes", arguments.minutes);
  add("save-every", arguments.saveEvery);
  own["report-every"] = std::to_string(arguments.reportEvery);
  own["seed"] = std::to_string(seed);
  own["dtype"] = arguments.dtype;
  own["precision"] = arguments.precision;
  own["cache"] = arguments.cache;
  own["metric"] = llvm::join(arguments.metrics, ", ");
  own["shard-optimiser"] = arguments.shardsOptimiser ? "yes" : "no";
  return findOdd(own);
}

std::string fovea::cli::findOddGradient(const Training &training,
                                        runtime::Learner &learner,
                                        const Model &model, uint64_t seed) {
  if (team().isAlone())
    return "";
  std::vector<int64_t> indices =
      runtime::batchesBySize(training.data.sizes, training.order).front();
  runtime::OwnedMemory weights = learner.weightsToLearn(seed, 1);
  runtime::Binding binding = training.firstBinding(weights, seed);
  // An error here also occurs in the first update, which reports
  // it.
  runtime::Status status =
      runOver(*training.grad, training.data, indices, binding);
  std::string sums = status.text();
  for (const ParameterInfo &parameter : model.parameters) {
    if (status.failed())
      break;
    int64_t count = 1;
    for (int64_t extent : parameter.shape)
      count *= extent;
    std::vector<double> sum(count);
    training.grad->workspace().addOutput("grad/" + parameter.path, sum.data());
    sums += runtime::wideChecksum(
        {reinterpret_cast<const char *>(sum.data()), count * sizeof(double)});
  }
  return findOdd({{"bits of a gradient", runtime::wideChecksum(sums)}});
}
