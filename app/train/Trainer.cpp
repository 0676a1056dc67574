//===- Trainer.cpp - the loop of training ---------------------------------===//

#include "app/train/Trainer.h"
#include "app/train/Interrupts.h"
#include "runtime/Functions.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

using namespace fovea;
using namespace fovea::cli;
using nlohmann::ordered_json;
using runtime::Status;

static TrainEnd::Kind kindOf(const Status &failure) {
  return failure.isOfMachine() ? TrainEnd::Machine : TrainEnd::Failed;
}

static Sums sumsOf(const CompiledProgram &program, size_t examples) {
  const runtime::Workspace &memory = program.workspace();
  Sums sums;
  sums.nll = memory.totalOf("nll");
  sums.logp = memory.totalOf("logp");
  sums.choices = memory.totalOf("choices");
  sums.penalty = memory.totalOf("penalty");
  sums.examples = static_cast<double>(examples);
  return sums;
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

runtime::Binding Training::bindingOf(const runtime::OwnedMemory &weights,
                                     uint64_t seed, int64_t update) const {
  runtime::Binding binding;
  binding.memory = &weights;
  binding.pool = pool;
  binding.seed = seed;
  binding.update = update;
  return binding;
}

runtime::Binding Training::firstBinding(const runtime::OwnedMemory &weights,
                                        uint64_t seed) const {
  runtime::Binding binding = bindingOf(weights, seed, 0);
  binding.numbers["seed.nll"] = binding.numbers["seed.penalty"] = 1;
  binding.numbers[std::string(runtime::statePrefix) + "update"] = 1;
  for (const auto &[name, share] : states)
    binding.numbers[name] = 0;
  return binding;
}

Trainer::Trainer(Training &training, runtime::Learner &learner,
                 Position &position, TrainingFolder &folder, Progress &progress,
                 runtime::Team &team)
    : training(training), learner(learner), position(position), folder(folder),
      progress(progress), team(team), firstUpdate(position.update) {}

bool Trainer::fail(TrainEnd::Kind kind, const std::string &text) {
  end.kind = kind;
  end.text = text;
  isOver = true;
  return false;
}

static double perplexityOf(const Sums &sums) {
  return sums.choices == 0 ? 0 : runtime::expOf(-sums.logp / sums.choices);
}

/// -log p of an example, or its bound where choices are latent, in nats.
static double boundOf(const Sums &sums) {
  return sums.examples == 0 ? 0 : -sums.logp / sums.examples;
}

double Trainer::lossOf(const Sums &sums) const {
  double count = training.averagesExamples ? sums.examples : sums.choices;
  return (count == 0 ? 0 : sums.nll / count) +
         (sums.examples == 0 ? 0 : sums.penalty / sums.examples);
}

/// An update may overflow although its gradient was finite, and would make
/// unusable weights.
bool Trainer::checkWeights() {
  std::string what = learner.notFinite();
  return what.empty() ||
         fail(TrainEnd::Failed,
              fmt::format(
                  "{} not finite after update {} (rate {}, {}): they "
                  "are not saved; a smaller rate, 'clip' or a larger "
                  "'eps' may keep them finite",
                  what, position.update,
                  runtime::rateAt(training.options.rate, position.update),
                  position.identity["optimiser"]));
}

//===----------------------------------------------------------------------===//
// One update
//===----------------------------------------------------------------------===//

/// Updates between two checks that all processes have the same weights.
static constexpr int64_t weightsEvery = 100;

static constexpr int64_t numSums = 7;

static void pack(const Sums &sums, double *numbers) {
  const double all[numSums] = {sums.nll,     sums.logp,     sums.choices,
                               sums.penalty, sums.examples, sums.reward,
                               sums.samples};
  std::copy(all, all + numSums, numbers);
}

static Sums unpack(const double *numbers) {
  return {numbers[0], numbers[1], numbers[2], numbers[3],
          numbers[4], numbers[5], numbers[6]};
}

/// Runs the gradient program over the data. False if that fails.
bool Trainer::runObserved(const std::vector<int64_t> &batch,
                          const runtime::Binding &binding, Sums &sums,
                          News &news) {
  Status status = runOver(*training.grad, training.data, batch, binding);
  if (status.failed()) {
    news = {kindOf(status), 0, status.text()};
    return false;
  }
  sums = sumsOf(*training.grad, batch.size());
  if (std::isfinite(lossOf(sums)))
    return true;
  news = {TrainEnd::NotFinite, 0,
          fmt::format("the loss of update {} is {}", position.update + 1,
                      std::isnan(lossOf(sums)) ? "nan" : "infinite")};
  return false;
}

/// Runs it over what the model generates from the data. As in decoding, nothing
/// is dropped: there is no seed.
bool Trainer::runGenerated(const std::vector<int64_t> &batch,
                           const runtime::OwnedMemory &weights, double share,
                           Sums &sums, News &news) {
  Rollouts &rollouts = *training.rollouts;
  Rollout rollout;
  if (Status status =
          rollouts.generate(weights, position.seed, position.update, batch,
                            share / double(rollouts.samples()), rollout);
      status.failed()) {
    news = {status.isOfMachine() ? TrainEnd::Machine : TrainEnd::Policy, 0,
            status.text()};
    return false;
  }
  runtime::Binding binding;
  binding.memory = &weights;
  binding.pool = training.pool;
  binding.numbers["seed.nll"] = binding.numbers["seed.penalty"] = 0;
  runtime::Batch examples;
  for (const runtime::Example &example : rollout.examples)
    examples.push_back(&example);
  Status status = training.grad->run(examples, binding);
  if (status.succeeded())
    status = rollouts.check(rollout, training.grad->workspace());
  if (status.failed()) {
    news = {kindOf(status), 0, status.text()};
    return false;
  }
  sums.reward = rollout.reward;
  sums.samples = double(examples.size());
  return true;
}

/// One update from the micro-batches `begin` .. `end`-1. This process runs its
/// share of them.
bool Trainer::update(const std::vector<std::vector<int64_t>> &batches,
                     size_t begin, size_t end) {
  Trace::Span span(training.trace.get(), "update", position.update + 1);
  double examples = 0, choices = 0;
  for (size_t number = begin; number < end; ++number)
    for (int64_t index : batches[number]) {
      ++examples;
      choices += training.data.choices[index];
    }
  runtime::OwnedMemory weights =
      learner.weightsToLearn(position.seed, position.update + 1);
  runtime::Binding binding =
      training.bindingOf(weights, position.seed, position.update);
  double observed = training.rollouts ? training.rollouts->likelihood() : 1;
  binding.numbers["seed.nll"] = training.averagesExamples ? observed / examples
                                : choices == 0            ? 0
                                                          : observed / choices;
  binding.numbers["seed.penalty"] = 1 / examples;
  binding.numbers[std::string(runtime::statePrefix) + "update"] =
      double(position.update + 1);
  for (const auto &[name, share] : training.states)
    binding.numbers[name] = position.states[name].value();
  // With a policy each micro-batch runs twice: as observed, and as generated.
  int64_t passes = training.rollouts ? 2 : 1;
  int64_t count = int64_t(end - begin) * passes;
  auto batchOf = [&](int64_t number) { return begin + number / passes; };
  auto [first, last] = team.shareOf(count, team.rank());
  int64_t width = numSums + int64_t(training.states.size());
  std::vector<double> records(count * width);
  News news;
  if (!team.isAlone() && position.update % weightsEvery == 0)
    news.weights = learner.weightsChecksum();
  learner.beginGradients(count);
  // The state that the next update reads.
  for (int64_t number = first; number < last; ++number)
    if (size_t next = end - begin + batchOf(number); next < batches.size())
      training.data.examples.willRead(batches[next]);
  for (int64_t number = first; number < last; ++number) {
    const std::vector<int64_t> &batch = batches[batchOf(number)];
    Sums own;
    bool isGood = number % passes == 0
                      ? runObserved(batch, binding, own, news)
                      : runGenerated(batch, weights, (1 - observed) / examples,
                                     own, news);
    if (!isGood) {
      news.number = int64_t(batchOf(number));
      break;
    }
    double *record = &records[number * width];
    pack(own, record);
    record += numSums;
    for (const auto &[name, share] : training.states)
      *record++ = training.grad->workspace().totalOf(name);
    learner.addGradients(training.grad->workspace());
  }
  learner.sendGradients();
  exchange(news);
  if (news.kind == TrainEnd::NotFinite && !checkWeights())
    return false;
  if (news.kind != TrainEnd::Done) {
    this->end.batch = batches[news.number];
    return fail(news.kind, news.text);
  }
  // In the order of the micro-batches, whichever process ran them.
  team.gatherShares(records, count, width);
  Sums sums;
  std::vector<double> left(training.states.size());
  for (int64_t number = 0; number < count; ++number) {
    const double *record = &records[number * width];
    sums.add(unpack(record));
    for (size_t i = 0; i < left.size(); ++i)
      left[i] += record[numSums + i];
  }
  double norm = 0;
  {
    Trace::Span span(training.trace.get(), "optimiser");
    learner.sumGradients();
    norm = learner.learn(position.update + 1);
  }
  if (!std::isfinite(norm)) {
    if (!checkWeights())
      return false;
    this->end.batch = batches[begin];
    this->end.help = "lower train.rate, or set train.clip";
    return fail(TrainEnd::NotFinite,
                fmt::format("the {} is not finite in update {}",
                            learner.firstNotFinite(), position.update + 1));
  }
  ++position.update;
  for (auto [state, sum] : llvm::zip(training.states, left))
    position.states[state.first].add(sum / examples, state.second);
  position.sums.add(sums);
  position.norm = norm;
  choicesSinceReport += sums.choices > 0 ? sums.choices : sums.examples;
  return true;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

/// The number of completed epochs, with the fraction of the current one.
double Trainer::epochsDone() const {
  return double(position.epoch) +
         (batchesOfEpoch == 0
              ? 0
              : double(position.place) / double(batchesOfEpoch));
}

/// For each limit: the completed share, and the extrapolated remaining time.
/// The first limit that is reached ends the run.
Trainer::Outlook Trainer::outlook() const {
  const TrainLimits &limits = training.limits;
  std::chrono::duration<double> spent = Clock::now() - begin;
  Outlook outlook;
  auto add = [&](double done, double before, double all) {
    outlook.share = std::max(outlook.share, std::min(1.0, done / all));
    if (done > before)
      outlook.left = std::min(outlook.left,
                              (all - done) * spent.count() / (done - before));
  };
  if (limits.steps > 0)
    add(double(position.update), double(firstUpdate), double(limits.steps));
  if (limits.epochs > 0)
    add(epochsDone(), firstEpochs, double(limits.epochs));
  if (limits.minutes > 0)
    add(spent.count() / 60, 0, limits.minutes);
  return outlook;
}

/// The progress bar: the position of the run, and its end.
void Trainer::showProgress() {
  if (!progress.isDue())
    return;
  Outlook now = outlook();
  std::vector<Part> parts = {{fmt::format("update {}", position.update), 3},
                             {fmt::format("epoch {}", position.epoch + 1), 4}};
  for (Part &part : describe(position.sums, 2))
    parts.push_back(std::move(part));
  const runtime::EarlyStop &stop = training.options.earlyStop;
  bool mayStop = !stop.metric.empty() && !training.valid.examples.empty();
  if (std::isfinite(now.left))
    parts.push_back({fmt::format("{}{} left", mayStop ? "at most " : "",
                                 clockText(now.left)),
                     1});
  else if (mayStop)
    parts.push_back({fmt::format("{} of {} validations without a best",
                                 position.withoutBest, stop.patience),
                     1});
  progress.bar(now.share, parts);
}

/// The loss, omitted by `rank`, followed by less important values.
std::vector<Part> Trainer::describe(const Sums &sums, int rank) const {
  std::vector<Part> parts = {{fmt::format("loss {:.4f}", lossOf(sums)), rank}};
  if (sums.choices > 0)
    parts.push_back(
        {fmt::format("perplexity {:.4g}", perplexityOf(sums)), rank + 1});
  if (sums.samples > 0)
    parts.push_back(
        {fmt::format("reward {:.4f}", sums.reward / sums.samples), rank});
  return parts;
}

/// The most memory that this process had so far.
static double mostResidentMb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) * 1024 / 1e6;
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
    line["perplexity"] = perplexityOf(sums);
  line["rate"] = runtime::rateAt(training.options.rate, position.update);
  if (sums.samples > 0)
    line["reward"] = sums.reward / sums.samples;
  line["gradient_norm"] = position.norm;
  line["tokens_per_second"] = std::round(speed);
  double memory = mostResidentMb();
  line["memory_mb"] = std::round(memory);
  line["seconds"] = seconds();
  if (!isWritten(team.isFirst() ? folder.addToLog(line.dump())
                                : Status::success()))
    return false;
  std::vector<Part> parts = {{fmt::format("update {}", position.update)},
                             {fmt::format("epoch {}", position.epoch + 1), 3}};
  for (Part &part : describe(sums, 1))
    parts.push_back(std::move(part));
  parts.push_back({fmt::format("{:.0f} tokens/s", speed), 4, Part::Quiet});
  parts.push_back({fmt::format("{:.0f} MB", memory), 5, Part::Quiet});
  progress.line(parts);
  position.sums = {};
  position.reported = position.update;
  lastReport = Clock::now();
  choicesSinceReport = 0;
  return true;
}

/// Over all sessions of the run, as far as the log shows.
double Trainer::seconds() const {
  std::chrono::duration<double> spent = Clock::now() - begin;
  return std::round((folder.secondsBefore() + spent.count()) * 100) / 100;
}

/// The criterion for the best weights: lower is better.
double Trainer::scoreOf(const Sums &sums,
                        const std::vector<double> &values) const {
  if (training.bestBy == "loss")
    return lossOf(sums);
  if (training.bestBy == "perplexity")
    return perplexityOf(sums);
  size_t number = training.metrics->numberOf(training.bestBy);
  return training.metrics->isHigherBetter(number) ? -values[number]
                                                  : values[number];
}

bool Trainer::validate() {
  if (training.valid.examples.empty() || position.validated == position.update)
    return true;
  Trace::Span span(training.trace.get(), "validation");
  Clock::time_point start = Clock::now();
  runtime::OwnedMemory weights = learner.weightsToUse();
  runtime::Binding binding;
  binding.memory = &weights;
  binding.pool = training.pool;
  auto batches = runtime::batchesBySize(training.valid.sizes, training.order);
  std::vector<double> records(batches.size() * numSums);
  News news;
  for (size_t number = 0; number < batches.size(); ++number) {
    if (!team.isTurn(number))
      continue;
    if (caughtSignal() != 0)
      break;
    const std::vector<int64_t> &indices = batches[number];
    Status status = runOver(*training.loss, training.valid, indices, binding);
    if (status.failed()) {
      news = {kindOf(status), 0, status.text()};
      break;
    }
    pack(sumsOf(*training.loss, indices.size()), &records[number * numSums]);
  }
  exchange(news);
  if (isInterrupted())
    return false;
  if (news.kind != TrainEnd::Done)
    return fail(news.kind, news.text);
  team.gatherTurns(records, batches.size(), numSums);
  Sums sums;
  for (size_t number = 0; number < batches.size(); ++number)
    sums.add(unpack(&records[number * numSums]));
  std::vector<double> values;
  if (training.metrics) {
    Status status = training.metrics->measure(weights, team, values);
    if (status.failed())
      news = {TrainEnd::Failed, 0, status.text()};
    exchange(news);
    if (isInterrupted())
      return false;
    if (news.kind != TrainEnd::Done)
      return fail(news.kind, news.text);
  }
  position.validated = position.update;
  Score score = {scoreOf(sums, values), lossOf(sums)};
  if (!std::isfinite(score.loss))
    score.loss = std::numeric_limits<double>::max();
  // A NaN is never best.
  bool isBest =
      std::isfinite(score.score) && (!position.best || score < *position.best);
  position.withoutBest = isBest ? 0 : position.withoutBest + 1;
  if (isBest) {
    position.best = score;
    position.bestUpdate = position.update;
  }
  ordered_json line = {{"step", position.update},
                       {"epoch", position.epoch + 1},
                       {"valid_loss", lossOf(sums)}};
  if (sums.choices > 0)
    line["valid_perplexity"] = perplexityOf(sums);
  std::vector<Part> parts = {{fmt::format("update {}", position.update)},
                             {"validation"}};
  for (Part &part : describe(sums, values.empty() ? 1 : 2))
    parts.push_back(std::move(part));
  if (training.measuresBound) {
    line["valid_bound"] = boundOf(sums);
    parts.push_back({fmt::format("bound {:.2f}", boundOf(sums)), 1});
  }
  for (auto [number, value] : llvm::enumerate(values)) {
    line["valid_" + training.metrics->name(number)] = value;
    parts.push_back(
        {fmt::format("{} {:.2f}", training.metrics->name(number), value), 1});
  }
  line["best"] = isBest;
  line["seconds"] = seconds();
  if (!isWritten(team.isFirst() ? folder.addToLog(line.dump())
                                : Status::success()))
    return false;
  if (isBest)
    parts.push_back({"best so far", 0, Part::Good});
  if (training.limits.validEvery > 0)
    progress.line(parts);
  else
    progress.frequentLine(parts, "validations are frequent: from here on a "
                                 "line every 2 s; log.jsonl has all");
  if (isBest && !save(/*withModel=*/true))
    return false;
  // Tokens per second are those of the training.
  lastReport += Clock::now() - start;
  return true;
}

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

/// The model is written first: a state never refers to a missing best model,
/// and a run resumed from an earlier state writes the same model again.
bool Trainer::save(bool withModel) {
  Trace::Span span(training.trace.get(), "checkpoint");
  if (!checkWeights() || !haveSameWeights())
    return false;
  Status status = Status::success();
  if (withModel && team.isFirst()) {
    std::map<std::string, std::string> metadata = training.metadata;
    metadata["update"] = std::to_string(position.update);
    status = folder.writeModel(learner, std::move(metadata));
  }
  // Each process sends its part of a sharded state.
  runtime::TensorFile file;
  learner.store(file);
  if (status.succeeded() && team.isFirst()) {
    position.logLines = folder.logLines();
    file.metadata = training.metadata;
    status = folder.writeState(position, std::move(file));
  }
  lastSave = Clock::now();
  return isWritten(status);
}

bool Trainer::saveWhenDue() {
  int64_t every = training.limits.saveEvery;
  bool isTime = team.isAlone()
                    ? Clock::now() - lastSave > std::chrono::minutes(1)
                    : isSaveDue;
  bool isDue = every > 0 ? position.update % every == 0 : isTime;
  return !isDue || save(/*withModel=*/training.valid.examples.empty());
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// Returns whether a signal requests the end. The current work is dropped, and
/// a resumed run repeats it.
bool Trainer::isInterrupted() {
  end.signal = team.isAlone() ? caughtSignal() : knownSignal;
  if (end.signal == 0)
    return false;
  end.kind = TrainEnd::Interrupted;
  return isOver = true;
}

/// Returns whether a limit makes this update the last one.
bool Trainer::isAtLimit() const {
  const TrainLimits &limits = training.limits;
  uint64_t epochs =
      position.epoch + (batchesOfEpoch > 0 && position.place == batchesOfEpoch);
  return (limits.steps > 0 && position.update >= limits.steps) ||
         (limits.epochs > 0 && epochs >= uint64_t(limits.epochs)) ||
         (limits.minutes > 0 && secondsSpent() >= limits.minutes * 60);
}

bool Trainer::isAtEnd() {
  if (isInterrupted())
    return true;
  isOver |= isAtLimit();
  const runtime::EarlyStop &stop = training.options.earlyStop;
  if (!isOver && !stop.metric.empty() &&
      position.withoutBest >= stop.patience) {
    progress.note(fmt::format("no better validation since update {}: stopping",
                              position.bestUpdate));
    isOver = true;
  }
  return isOver;
}

bool Trainer::isValidationDue() const {
  int64_t every = training.limits.validEvery;
  return every > 0 && position.update > 0 && position.update % every == 0;
}

/// The rest of the current epoch. Returns false on a failure.
bool Trainer::trainEpoch() {
  auto batches =
      runtime::batchesOf(position.epoch, training.data.sizes, training.order);
  const TrainLimits &limits = training.limits;
  batchesOfEpoch = int64_t(batches.size());
  if (firstEpochs < 0)
    firstEpochs = epochsDone();
  while (position.place < batchesOfEpoch) {
    if (isAtEnd())
      return true;
    // One that was interrupted.
    if (position.place > 0 && isValidationDue() && !validate())
      return false;
    size_t begin = position.place;
    size_t end =
        std::min<size_t>(begin + training.options.accumulate, batches.size());
    if (!update(batches, begin, end))
      return false;
    position.place = end;
    showProgress();
    if (position.update % limits.reportEvery == 0 && !report())
      return false;
    if (isInterrupted())
      return false;
    if (position.place == batchesOfEpoch)
      break;
    // The last report precedes the last validation.
    if (isValidationDue() && ((isAtLimit() && !report()) || !validate()))
      return false;
    if (!saveWhenDue())
      return false;
  }
  if ((isAtLimit() && !report()) ||
      ((limits.validEvery == 0 || isValidationDue()) && !validate()))
    return false;
  ++position.epoch;
  position.place = 0;
  return save(/*withModel=*/training.valid.examples.empty());
}

TrainEnd Trainer::run() {
  catchInterrupts();
  // The work after an epoch's last batch may have been interrupted.
  bool isOpen =
      position.place > 0 &&
      position.place ==
          int64_t(runtime::batchesOf(position.epoch, training.data.sizes,
                                     training.order)
                      .size());
  for (; isOpen || !isAtEnd(); isOpen = false)
    if (!trainEpoch())
      break;
  if (end.kind == TrainEnd::Done && report() && validate())
    save(/*withModel=*/training.valid.examples.empty() || !position.best);
  progress.printHeld();
  if (end.kind == TrainEnd::Interrupted)
    save(/*withModel=*/training.valid.examples.empty());
  end.seconds = seconds();
  return end;
}
