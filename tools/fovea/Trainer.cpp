//===- Trainer.cpp - the loop of training ---------------------------------===//

#include "tools/fovea/Trainer.h"
#include "tools/fovea/Arguments.h"

#include <cmath>
#include <csignal>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace fovea;
using namespace fovea::cli;
using nlohmann::ordered_json;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Interrupts
//===----------------------------------------------------------------------===//

static volatile std::sig_atomic_t isInterrupted = 0;

/// The first asks, the second insists.
static void onInterrupt(int) {
  if (isInterrupted != 0)
    _exit(interrupted);
  isInterrupted = 1;
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

static runtime::Batch batchOf(const TrainData &data,
                              const std::vector<int64_t> &indices) {
  runtime::Batch batch;
  for (int64_t index : indices)
    batch.push_back(&data.examples[index]);
  return batch;
}

static double sumOf(const CompiledProgram &program, const char *name) {
  double sum = 0;
  program.workspace().addOutput(name, &sum);
  return sum;
}

static Sums sumsOf(const CompiledProgram &program, size_t examples) {
  Sums sums;
  sums.nll = sumOf(program, "nll");
  sums.logp = sumOf(program, "logp");
  sums.choices = sumOf(program, "choices");
  sums.penalty = sumOf(program, "penalty");
  sums.examples = static_cast<double>(examples);
  return sums;
}

Status fovea::cli::countChoices(CompiledProgram &program,
                                const runtime::OwnedMemory &weights,
                                FoveaPool *pool, TrainData &data) {
  runtime::Binding binding;
  binding.memory = &weights;
  binding.pool = pool;
  runtime::OrderOptions order;
  order.batch = 64;
  data.choices.assign(data.examples.size(), 0);
  for (const std::vector<int64_t> &indices :
       runtime::batchesBySize(data.sizes, order)) {
    if (Status status = program.run(batchOf(data, indices), binding);
        status.failed())
      return status;
    for (auto [place, index] : llvm::enumerate(indices)) {
      runtime::DataValues one = program.workspace().output("choices", place);
      data.choices[index] = one.values.empty() ? 0 : one.values.front();
    }
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

Trainer::Trainer(Training &training, runtime::Learner &learner,
                 Position &position, TrainingFolder &folder, Progress &progress)
    : training(training), learner(learner), position(position), folder(folder),
      progress(progress) {}

bool Trainer::fail(TrainEnd::Kind kind, const std::string &text) {
  end.kind = kind;
  end.text = text;
  isOver = true;
  return false;
}

double Trainer::lossOf(const Sums &sums) const {
  double count = training.averagesExamples ? sums.examples : sums.choices;
  return (count == 0 ? 0 : sums.nll / count) +
         (sums.examples == 0 ? 0 : sums.penalty / sums.examples);
}

/// One update from the batches `begin` .. `end`-1.
bool Trainer::update(const std::vector<std::vector<int64_t>> &batches,
                     size_t begin, size_t end) {
  double examples = 0, choices = 0;
  for (size_t number = begin; number < end; ++number)
    for (int64_t index : batches[number]) {
      ++examples;
      choices += training.data.choices[index];
    }
  runtime::OwnedMemory weights =
      learner.weightsToLearn(position.seed, position.update + 1);
  runtime::Binding binding;
  binding.memory = &weights;
  binding.pool = training.pool;
  binding.seed = position.seed;
  binding.update = position.update;
  binding.numbers["seed.nll"] = training.averagesExamples ? 1 / examples
                                : choices == 0            ? 0
                                                          : 1 / choices;
  binding.numbers["seed.penalty"] = 1 / examples;
  learner.clearGradients();
  Sums sums;
  for (size_t number = begin; number < end; ++number) {
    Status status =
        training.grad->run(batchOf(training.data, batches[number]), binding);
    if (status.failed())
      return fail(TrainEnd::Failed, status.text());
    Sums own = sumsOf(*training.grad, batches[number].size());
    if (!std::isfinite(lossOf(own))) {
      this->end.batch = batches[number];
      return fail(TrainEnd::NotFinite,
                  fmt::format("the loss of update {} is {}",
                              position.update + 1,
                              std::isnan(lossOf(own)) ? "nan" : "infinite"));
    }
    sums.add(own);
    learner.addGradients(training.grad->workspace());
  }
  double norm = learner.learn(position.update + 1);
  if (!std::isfinite(norm)) {
    this->end.batch = batches[begin];
    return fail(TrainEnd::NotFinite,
                fmt::format("the gradient of '{}' is not finite in update {}",
                            learner.firstNotFinite(), position.update + 1));
  }
  ++position.update;
  position.sums.add(sums);
  position.norm = norm;
  choicesSinceReport += sums.choices > 0 ? sums.choices : sums.examples;
  return true;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

/// What of the whole training is done; less than 0 when nothing ends it.
double Trainer::shareDone() const {
  const TrainLimits &limits = training.limits;
  double share = -1;
  if (limits.steps > 0)
    share = std::max(share, double(position.update) / double(limits.steps));
  if (limits.epochs > 0) {
    double seen = double(position.place) * double(training.order.batch) /
                  double(training.data.examples.size());
    if (!training.order.countsTokens)
      share = std::max(share, (double(position.epoch) + std::min(1.0, seen)) /
                                  double(limits.epochs));
  }
  if (limits.minutes > 0) {
    std::chrono::duration<double> spent = Clock::now() - begin;
    share = std::max(share, spent.count() / 60 / limits.minutes);
  }
  return std::min(share, 1.0);
}

std::string Trainer::describe(const Sums &sums) const {
  std::string text = fmt::format("loss {:.4f}", lossOf(sums));
  if (sums.choices > 0)
    text +=
        fmt::format("  perplexity {:.4g}", std::exp(-sums.logp / sums.choices));
  return text;
}

bool Trainer::report() {
  if (position.reported == position.update)
    return true;
  std::chrono::duration<double> spent = Clock::now() - lastReport;
  double speed = choicesSinceReport / std::max(spent.count(), 1e-9);
  const Sums &sums = position.sums;
  ordered_json line = {{"step", position.update},
                       {"epoch", position.epoch + 1},
                       {"loss", lossOf(sums)}};
  if (sums.choices > 0)
    line["perplexity"] = std::exp(-sums.logp / sums.choices);
  line["rate"] = runtime::rateAt(training.options.rate, position.update);
  line["gradient_norm"] = position.norm;
  line["tokens_per_second"] = std::round(speed);
  line["seconds"] = seconds();
  if (Status status = folder.addToLog(line.dump()); status.failed())
    return fail(TrainEnd::CannotWrite, status.text());
  progress.note(fmt::format("update {}  epoch {}  {}  {:.0f} tokens/s",
                            position.update, position.epoch + 1, describe(sums),
                            speed));
  position.sums = {};
  position.reported = position.update;
  lastReport = Clock::now();
  choicesSinceReport = 0;
  return true;
}

/// Of all runs of the training, as far as the log knows.
double Trainer::seconds() const {
  std::chrono::duration<double> spent = Clock::now() - begin;
  return std::round((folder.secondsBefore() + spent.count()) * 100) / 100;
}

/// What decides which weights are the best: less is better.
double Trainer::scoreOf(const Sums &sums,
                        const std::vector<double> &values) const {
  if (training.bestBy == "loss")
    return lossOf(sums);
  if (training.bestBy == "perplexity")
    return sums.choices == 0 ? 0 : std::exp(-sums.logp / sums.choices);
  size_t number = training.metrics->numberOf(training.bestBy);
  return training.metrics->isHigherBetter(number) ? -values[number]
                                                  : values[number];
}

bool Trainer::validate() {
  if (training.valid.examples.empty() || position.validated == position.update)
    return true;
  position.validated = position.update;
  Clock::time_point start = Clock::now();
  runtime::OwnedMemory weights = learner.weights();
  runtime::Binding binding;
  binding.memory = &weights;
  binding.pool = training.pool;
  Sums sums;
  for (const std::vector<int64_t> &indices :
       runtime::batchesBySize(training.valid.sizes, training.order)) {
    Status status =
        training.loss->run(batchOf(training.valid, indices), binding);
    if (status.failed())
      return fail(TrainEnd::Failed, status.text());
    sums.add(sumsOf(*training.loss, indices.size()));
  }
  double perplexity =
      sums.choices == 0 ? 0 : std::exp(-sums.logp / sums.choices);
  std::vector<double> values;
  if (training.metrics)
    if (Status status = training.metrics->measure(weights, values);
        status.failed())
      return fail(TrainEnd::Failed, status.text());
  double score = scoreOf(sums, values);
  // What is not a number is never best.
  bool isBest = !position.best ? !std::isnan(score) : score < *position.best;
  position.withoutBest = isBest ? 0 : position.withoutBest + 1;
  if (isBest) {
    position.best = score;
    position.bestUpdate = position.update;
  }
  ordered_json line = {{"step", position.update},
                       {"epoch", position.epoch + 1},
                       {"valid_loss", lossOf(sums)}};
  if (sums.choices > 0)
    line["valid_perplexity"] = perplexity;
  std::string measured;
  for (auto [number, value] : llvm::enumerate(values)) {
    line["valid_" + training.metrics->name(number)] = value;
    measured +=
        fmt::format("  {} {:.2f}", training.metrics->name(number), value);
  }
  line["best"] = isBest;
  line["seconds"] = seconds();
  if (Status status = folder.addToLog(line.dump()); status.failed())
    return fail(TrainEnd::CannotWrite, status.text());
  progress.note(fmt::format("update {}  validation  {}{}{}", position.update,
                            describe(sums), measured,
                            isBest ? "  best so far" : ""));
  if (isBest && !save(/*withModel=*/true))
    return false;
  // Tokens per second are those of the training.
  lastReport += Clock::now() - start;
  return true;
}

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

/// The model is written first: a state never knows of a best model that is not
/// there, and a training that is resumed before writes the same model again.
bool Trainer::save(bool withModel) {
  if (withModel) {
    std::map<std::string, std::string> metadata = training.metadata;
    metadata["update"] = std::to_string(position.update);
    if (Status status = folder.writeModel(learner, std::move(metadata));
        status.failed())
      return fail(TrainEnd::CannotWrite, status.text());
  }
  position.logLines = folder.logLines();
  if (Status status = folder.writeState(position, learner, training.metadata);
      status.failed())
    return fail(TrainEnd::CannotWrite, status.text());
  lastSave = Clock::now();
  return true;
}

bool Trainer::saveWhenDue() {
  int64_t every = training.limits.saveEvery;
  bool isDue = every > 0 ? position.update % every == 0
                         : Clock::now() - lastSave > std::chrono::minutes(1);
  return !isDue || save(/*withModel=*/training.valid.examples.empty());
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

bool Trainer::isAtEnd() {
  const TrainLimits &limits = training.limits;
  std::chrono::duration<double> spent = Clock::now() - begin;
  isOver |= (limits.steps > 0 && position.update >= limits.steps) ||
            (limits.epochs > 0 && position.epoch >= uint64_t(limits.epochs)) ||
            (limits.minutes > 0 && spent.count() >= limits.minutes * 60);
  const runtime::EarlyStop &stop = training.options.earlyStop;
  if (!isOver && !stop.metric.empty() &&
      position.withoutBest >= stop.patience) {
    progress.note(fmt::format("no better validation since update {}: stopping",
                              position.bestUpdate));
    isOver = true;
  }
  if (isInterrupted != 0) {
    end.kind = TrainEnd::Interrupted;
    isOver = true;
  }
  return isOver;
}

/// The rest of the present epoch. False when training failed.
bool Trainer::trainEpoch() {
  auto batches =
      runtime::batchesOf(position.epoch, training.data.sizes, training.order);
  const TrainLimits &limits = training.limits;
  while (position.place < int64_t(batches.size())) {
    if (isAtEnd())
      return true;
    size_t begin = position.place;
    size_t end =
        std::min<size_t>(begin + training.options.accumulate, batches.size());
    if (!update(batches, begin, end))
      return false;
    position.place = end;
    progress.bar(shareDone(),
                 fmt::format("update {}  epoch {}  {}", position.update,
                             position.epoch + 1, describe(position.sums)));
    if (position.update % limits.reportEvery == 0 && !report())
      return false;
    bool isLast = position.place == int64_t(batches.size());
    bool isDue =
        limits.validEvery > 0 && position.update % limits.validEvery == 0;
    // The last report stands ahead of the last validation.
    if (!isLast && isDue && ((isAtEnd() && !report()) || !validate()))
      return false;
    if (!isLast && !saveWhenDue())
      return false;
  }
  if (!report() || (limits.validEvery == 0 && !validate()) ||
      (limits.validEvery > 0 && position.update % limits.validEvery == 0 &&
       !validate()))
    return false;
  ++position.epoch;
  position.place = 0;
  return save(/*withModel=*/training.valid.examples.empty());
}

TrainEnd Trainer::run() {
  auto before = std::signal(SIGINT, onInterrupt);
  while (!isAtEnd())
    if (!trainEpoch())
      break;
  if (end.kind == TrainEnd::Done && report() && validate())
    save(/*withModel=*/training.valid.examples.empty() || !position.best);
  else if (end.kind == TrainEnd::Interrupted)
    save(/*withModel=*/training.valid.examples.empty());
  std::signal(SIGINT, before);
  return end;
}
