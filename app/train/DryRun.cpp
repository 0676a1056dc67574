//===- DryRun.cpp - what a training will cost -----------------------------===//

#include "app/train/DryRun.h"

#include "passes/derive/Derive.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <chrono>
#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using fovea::runtime::Status;

/// Computes the gradient of a batch. Returns the seconds that it took.
static Status runGradient(const Training &training,
                          const runtime::OwnedMemory &weights, uint64_t seed,
                          const std::vector<int64_t> &indices,
                          double &seconds) {
  runtime::Binding binding = training.firstBinding(weights, seed);
  auto begin = std::chrono::steady_clock::now();
  Status status = runOver(*training.grad, training.data, indices, binding);
  seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  return status;
}

Status fovea::cli::dryRun(const Training &training, runtime::Learner &learner,
                          uint64_t seed, std::string &report) {
  const std::vector<int64_t> &sizes = training.data.sizes;
  auto batches = runtime::batchesBySize(sizes, training.order);
  auto sizeOf = [&](const std::vector<int64_t> &batch) {
    int64_t sum = 0;
    for (int64_t index : batch)
      sum += sizes[index];
    return sum;
  };
  llvm::sort(batches, [&](const auto &a, const auto &b) {
    return sizeOf(a) < sizeOf(b);
  });
  runtime::OwnedMemory weights = learner.weightsToLearn(seed, 1);
  double first = 0, seconds = 0;
  if (Status status =
          runGradient(training, weights, seed, batches.back(), first);
      status.failed())
    return status;
  int64_t arena = training.grad->workspace().arenaBytes();
  const std::vector<int64_t> &middle = batches[batches.size() / 2];
  if (Status status = runGradient(training, weights, seed, middle, seconds);
      status.failed())
    return status;
  // Counted like the speed in reports of a training.
  double choices = 0;
  for (int64_t index : middle)
    choices += training.data.choices[index];
  double speed =
      (choices > 0 ? choices : double(middle.size())) / std::max(seconds, 1e-9);
  int64_t updates =
      llvm::divideCeil(batches.size(), training.options.accumulate);
  report = fmt::format("examples      {}\n"
                       "updates       {} per epoch\n"
                       "activations   {:.1f} MB for the largest batch\n"
                       "optimiser     {:.1f} MB\n"
                       "gradient      {:.3g} s per update\n"
                       "speed         {:.0f} tokens/s\n"
                       "epoch         {:.3g} s without validation\n",
                       sizes.size(), updates, double(arena) / 1e6,
                       double(learner.stateBytes()) / 1e6,
                       seconds * double(training.options.accumulate), speed,
                       seconds * double(batches.size()));
  return Status::success();
}
