//===- Rollouts.cpp - what a policy generates in training -----------------===//

#include "app/train/Rollouts.h"
#include "app/model/Programs.h"
#include "app/show/Metrics.h"
#include "app/train/ValidMetrics.h"
#include "compiler/Contents.h"
#include "dialect/reference/Batch.h"
#include "runtime/Philox.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using runtime::Status;

//===----------------------------------------------------------------------===//
// What is generated, and what it is compared with
//===----------------------------------------------------------------------===//

bool Rollouts::takeMetric(Session &session, const Arguments &arguments) {
  std::string problem;
  std::unique_ptr<metrics::Metric> metric =
      createMetric(policy.metric, {}, problem);
  if (!metric) {
    mlir::emitError(policy.place) << "the reward '" << policy.metric
                                  << "' cannot be computed: " << problem;
    return false;
  }
  if (!readReferences(session, arguments.data, data, *target, vocabularies,
                      references))
    return false;
  if (metric->needsCorpus()) {
    auto corpus = std::make_shared<metrics::NgramCorpus>();
    for (const std::string &line : references)
      corpus->add({metrics::tokenise(line, metrics::Tokeniser::None)});
    metricOptions.corpus = std::move(corpus);
  }
  return true;
}

/// The reward must be one number.
bool Rollouts::checkEquation(Session &session) {
  for (const compiler::Equation &equation :
       compiler::equationsIn(*model->module, "decoding")) {
    if (equation.name != policy.equation)
      continue;
    if (equation.extents.empty())
      return true;
    mlir::emitError(policy.place)
        << "the reward '" << policy.equation
        << "' must be one number for each example, but it has the extents ["
        << llvm::join(equation.extents, ", ")
        << "]; help: sum it over its indices";
    return false;
  }
  llvm_unreachable("both systems have the same equations");
}

bool fovea::cli::hasReferences(const Arguments &arguments,
                               const attn::Policy &policy) {
  bool isGiven =
      llvm::any_of(splitData(arguments.data), [&](const GivenData &given) {
        return given.name.empty() || given.name == policy.target;
      });
  if (policy.metric.empty() || isGiven)
    return true;
  mlir::emitError(policy.place)
      << "the reward '" << policy.metric << "' compares '" << policy.target
      << "' with references, but the data lack '" << policy.target
      << "'; help: add --data " << policy.target << "=FILE";
  return false;
}

std::unique_ptr<Rollouts> Rollouts::create(Session &session,
                                           const Arguments &arguments,
                                           const Vocabularies &vocabularies,
                                           const attn::Policy &policy,
                                           const ExampleStore &data) {
  std::unique_ptr<Rollouts> made(new Rollouts(vocabularies, policy, data));
  made->model = session.openToExecute();
  if (!made->model)
    return nullptr;
  dropSystem(*made->model, "training");
  assert(made->model->module->lookupSymbol("decoding") &&
         "a model with a choice generates");
  std::vector<runtime::DataSpec> known = describeAllData(*made->model);
  std::set<std::string> givenLengths;
  for (const DataInfo &info : made->model->data) {
    if (info.name == policy.target)
      made->target = &info;
    if (info.isChosen && info.isContinued) {
      mlir::emitError(policy.place) << "'policy' cannot train '" << info.name
                                    << "': decoding continues its given rows";
      return nullptr;
    }
    for (const runtime::DataSpec &spec : known)
      for (const runtime::DataAxis &axis : spec.axes)
        if (spec.name == info.name && !info.isChosen)
          givenLengths.insert(axis.length);
  }
  for (const std::string &length : made->model->lengths)
    if (!givenLengths.count(length))
      made->openLengths.push_back(length);
  Request request;
  request.stopAfter = attn::Phase::fuse;
  if (!policy.equation.empty()) {
    if (!made->checkEquation(session))
      return nullptr;
    request.shows = {policy.equation};
  } else if (!made->takeMetric(session, arguments)) {
    return nullptr;
  }
  Programs programs(session, *made->model, request,
                    compiledOptionsOf(arguments));
  if (!programs.open({"decode"}))
    return nullptr;
  if (Status status = programs.create(made->decoder); status.failed()) {
    session.error(status.text());
    return nullptr;
  }
  return made;
}

//===----------------------------------------------------------------------===//
// Generating
//===----------------------------------------------------------------------===//

/// An example without what the decoder generates.
runtime::Example Rollouts::givenPart(const runtime::Example &example) const {
  runtime::Example given = example;
  for (const DataInfo &info : model->data)
    if (info.isChosen)
      given.data.erase(info.name);
  for (const std::string &length : openLengths)
    given.lengths.erase(length);
  return given;
}

/// Returns the reward of a sample. More is better, and 1 is a perfect score
/// where the metric has one.
double Rollouts::rewardOf(const runtime::Generated &made,
                          const runtime::Example &example,
                          int64_t index) const {
  if (!policy.equation.empty())
    return made.outputs.at(policy.equation).values.front();
  const runtime::DataValues &values = made.outputs.at(target->name);
  std::string line = textOf(*target, {values.shape, values.values, false},
                            example.lengths, made.hasEnd, vocabularies);
  std::string problem;
  std::unique_ptr<metrics::Metric> metric =
      createMetric(policy.metric, metricOptions, problem);
  metric->add(line, {references[index]});
  double reward = metric->lineValue(0) / metric->unit();
  return metric->isHigherBetter() ? reward : -reward;
}

/// Random numbers of rollouts; no ordinal of a model is as large.
static constexpr uint32_t rolloutPurpose = 0xFFFF0004;

static uint64_t drawSeed(uint64_t seed, int64_t update) {
  auto words =
      runtime::philox({uint32_t(update), uint32_t(uint64_t(update) >> 32), 0,
                       uint32_t(seed >> 32)},
                      {uint32_t(seed), rolloutPurpose});
  return uint64_t(words[0]) << 32 | words[1];
}

Status Rollouts::generate(const runtime::OwnedMemory &weights, uint64_t seed,
                          int64_t update, const std::vector<int64_t> &indices,
                          double share, Rollout &rollout) {
  std::vector<runtime::Example> given(indices.size());
  runtime::Batch batch;
  for (auto [place, index] : llvm::enumerate(indices)) {
    runtime::Example example;
    if (Status status = data.read(index, example); status.failed())
      return status;
    given[place] = givenPart(example);
    batch.push_back(&given[place]);
  }
  decoder->setParameters({weights});
  runtime::SearchOptions options;
  std::vector<std::vector<runtime::Generated>> greedy, drawn;
  if (policy.baseline == "greedy")
    if (Status status = decoder->search().decode(batch, options, greedy);
        status.failed())
      return status;
  options.sample = true;
  options.nbest = policy.samples;
  options.seed = drawSeed(seed, update);
  if (Status status = decoder->search().decode(batch, options, drawn);
      status.failed())
    return status;
  for (auto [place, index] : llvm::enumerate(indices)) {
    std::vector<double> rewards;
    double sum = 0;
    auto take = [&](const runtime::Generated &made, double &reward) {
      reward = rewardOf(made, given[place], index);
      return std::isfinite(reward)
                 ? Status::success()
                 : Status::error(fmt::format(
                       "the reward '{}' is {} in update {} (example {}); help: "
                       "it must be finite for everything that may be generated",
                       policy.equation.empty() ? policy.metric
                                               : policy.equation,
                       reward, update + 1, given[place].id + 1));
    };
    for (const runtime::Generated &made : drawn[place]) {
      if (Status status = take(made, rewards.emplace_back()); status.failed())
        return status;
      sum += rewards.back();
    }
    double baseline = 0;
    if (policy.baseline == "greedy")
      if (Status status = take(greedy[place].front(), baseline);
          status.failed())
        return status;
    rollout.reward += sum;
    auto count = static_cast<double>(rewards.size());
    for (auto [made, reward] : llvm::zip(drawn[place], rewards)) {
      if (policy.baseline == "others")
        baseline = (sum - reward) / (count - 1);
      runtime::Example &example = rollout.examples.emplace_back(given[place]);
      example.data["state.policy"] = {{}, {share * (reward - baseline)}};
      for (const DataInfo &info : model->data) {
        if (!info.isChosen)
          continue;
        const runtime::DataValues &values = made.outputs.at(info.name);
        for (auto [extent, length] : llvm::zip(values.shape, info.extents))
          if (llvm::is_contained(openLengths, length))
            example.lengths[length] = runtime::LengthValues::of(extent);
        example.data[info.name] = values;
      }
      std::vector<double> &logps = rollout.logps.emplace_back(made.stepLogp);
      std::sort(logps.begin(), logps.end());
    }
  }
  return Status::success();
}

Status cli::compareLogps(int64_t example, const std::vector<double> &searched,
                         std::vector<double> trained) {
  std::sort(trained.begin(), trained.end());
  if (trained == searched)
    return Status::success();
  auto [a, b] = std::mismatch(searched.begin(), searched.end(), trained.begin(),
                              trained.end());
  return Status::error(fmt::format(
      "internal error: log p of a sample differs between decoding and "
      "training (example {}: {} choices with {:.17g}, and {} with {:.17g})",
      example, searched.size(), a == searched.end() ? 0 : *a, trained.size(),
      b == trained.end() ? 0 : *b));
}

Status Rollouts::check(const Rollout &rollout,
                       const runtime::Workspace &gradient) const {
  std::vector<std::string> names = gradient.outputsOf("logp/");
  for (auto [number, expected] : llvm::enumerate(rollout.logps)) {
    std::vector<double> logps;
    for (const std::string &name : names)
      llvm::append_range(logps, gradient.output(name, number).values);
    if (Status status = compareLogps(rollout.examples[number].id + 1, expected,
                                     std::move(logps));
        status.failed())
      return status;
  }
  return Status::success();
}
