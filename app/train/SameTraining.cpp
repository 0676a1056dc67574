//===- SameTraining.cpp - whether all processes train the same ------------===//

#include "app/train/SameTraining.h"
#include "app/machines/Agreement.h"
#include "runtime/data/Checksum.h"
#include "runtime/train/RowGradients.h"
#include "runtime/train/RowNames.h"

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

/// A checksum of the rows that a gradient lists.
template <typename T>
static std::string rowsChecksum(const runtime::Workspace &workspace,
                                const std::string &path, int64_t rows,
                                int64_t count) {
  auto own = runtime::readRows<T>(workspace, path, rows, count / rows);
  auto sumOf = [](const auto &numbers) {
    return runtime::wideChecksum(
        {reinterpret_cast<const char *>(numbers.data()),
         numbers.size() * sizeof(numbers[0])});
  };
  return sumOf(own.rows) + sumOf(own.values);
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
    const runtime::Workspace &workspace = training.grad->workspace();
    if (runtime::listsRows(workspace, parameter.path)) {
      std::string terms = runtime::termsName(0, parameter.path);
      auto checksumOf = workspace.wholeOutput<double>(terms)
                            ? rowsChecksum<double>
                            : rowsChecksum<float>;
      sums += checksumOf(workspace, parameter.path, parameter.shape[0], count);
      continue;
    }
    std::vector<double> sum(count);
    training.grad->workspace().addOutput("grad/" + parameter.path, sum.data());
    sums += runtime::wideChecksum(
        {reinterpret_cast<const char *>(sum.data()), count * sizeof(double)});
  }
  return findOdd({{"bits of a gradient", runtime::wideChecksum(sums)}});
}
