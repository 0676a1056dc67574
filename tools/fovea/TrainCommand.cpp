//===- TrainCommand.cpp - fovea train -------------------------------------===//
//
// The folder of a training, its processes and its end. TrainInputs.cpp gathers
// what it needs, and Trainer.cpp has the loop.
//
//===----------------------------------------------------------------------===//

#include "tools/fovea/TrainCommand.h"
#include "app/data/Files.h"
#include "app/open/ChooseTarget.h"
#include "app/train/DryRun.h"
#include "app/train/Given.h"
#include "app/train/Interrupts.h"
#include "app/train/NotFinite.h"
#include "app/train/SameTraining.h"
#include "tools/fovea/Sweep.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using runtime::Status;

bool TrainCommand::openFolder() {
  bool isBusy = false;
  if (Status status = folder.open(arguments.folder, isBusy); status.failed()) {
    failureCode = isBusy ? badInput : badMachine;
    return check(status);
  }
  bool hasState = false;
  if (!check(folder.findState(hasState)))
    return false;
  if (!hasState)
    return check(folder.checkIsOurs());
  if (!arguments.resume) {
    session.error("'" + arguments.folder +
                  "' already contains a training run; help: continue it with "
                  "--resume, or choose another --out");
    return false;
  }
  isResumed = true;
  if (!check(folder.readState(position, state)))
    return false;
  // A run that is resumed by its folder needs no other arguments.
  return arguments.stored.empty() || takeGivenText(folder.readGiven());
}

/// Takes the arguments of the earlier call.
bool TrainCommand::takeGivenText(const std::string &text) {
  if (Status status = takeGiven(text, arguments); status.failed()) {
    session.error(fmt::format(
        "'{}': {}; help: name the spec, and repeat '--data' and the limits",
        folder.givenPath(), status.text()));
    return false;
  }
  if (weightFormat(arguments) && position.identity["rounding"] != "bf16") {
    session.error("'" + arguments.folder +
                  "' was trained on a GPU with --precision " +
                  arguments.precision +
                  "; help: use '--target cuda' or '--precision f32'");
    return false;
  }
  if (arguments.data.empty())
    session.error("'" + arguments.folder +
                  "' does not store its data; help: add '--data'");
  return !arguments.data.empty();
}

//===----------------------------------------------------------------------===//
// Several processes
//===----------------------------------------------------------------------===//

/// Returns whether all processes succeeded so far. Call it before every
/// collective step; a failed process calls it once.
bool TrainCommand::goOn(bool good) {
  if (isEnded)
    return false;
  int code = agree(good ? done : failureCode);
  isEnded = code != done;
  if (isEnded)
    failureCode = code;
  return !isEnded;
}

/// Only rank 0 accesses the folder: the others may not see it.
bool TrainCommand::shareFolder() {
  if (!goOn(!team.isFirst() || openFolder()))
    return false;
  if (team.isAlone())
    return true;
  std::string bytes, given;
  if (team.isFirst() && isResumed) {
    bytes = runtime::formatSafeTensors(state);
    given = folder.readGiven();
  }
  team.broadcast(bytes);
  team.broadcast(given);
  if (team.isFirst() || bytes.empty())
    return true;
  isResumed = true;
  bool isRead =
      check(runtime::parseSafeTensors(bytes, "the state of rank 0", state));
  assert((!isRead || TrainingFolder::takePosition(state, position)) &&
         "rank 0 has read it");
  return isRead && TrainingFolder::takePosition(state, position) &&
         (arguments.stored.empty() || takeGivenText(given));
}

/// The followers of a run: a live page, and TensorBoard files.
bool TrainCommand::openWatchers() {
  if (!team.isFirst())
    return true;
  if (arguments.port &&
      !check(WatchProcess::start(arguments.folder, *arguments.port, page)))
    return false;
  if (page)
    progress.note("follow it at " + page->address());
  return arguments.eventFolder.empty() ||
         check(folder.openEvents(arguments.eventFolder));
}

/// Returns whether all processes got the same arguments.
bool TrainCommand::isSameEverywhere() {
  if (!goOn(true))
    return false;
  return isNotOdd(findOddTraining(identity, arguments, position.seed));
}

/// A mismatch is an environment failure, with the same message everywhere.
bool TrainCommand::isNotOdd(const std::string &odd) {
  if (odd.empty())
    return true;
  failureCode = badMachine;
  session.error(odd);
  return false;
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

/// Prints the result, its quality and its place.
void TrainCommand::summarise(const TrainEnd &end) {
  if (isResumed && position.update == firstUpdate)
    progress.note(fmt::format("already trained for {} updates; nothing to do; "
                              "help: raise --steps, --epochs or --patience",
                              position.update));
  std::vector<Part> parts = {
      {fmt::format("{} updates in {}", position.update, clockText(end.seconds)),
       position.best ? 1 : 0}};
  if (position.best) {
    double score = position.best->score;
    bool isOfMetric =
        training.bestBy != "loss" && training.bestBy != "perplexity";
    if (isOfMetric && training.metrics->isHigherBetter(
                          training.metrics->numberOf(training.bestBy)))
      score = -score;
    parts.push_back(
        {fmt::format("best validation: {} {:.{}f}, update {}", training.bestBy,
                     score, isOfMetric ? 2 : 4, position.bestUpdate),
         0, Part::Good});
  }
  progress.line(parts);
  progress.note(fmt::format("the weights are in '{}/model.safetensors'",
                            arguments.folder));
  if (team.isAlone() || position.update == firstUpdate)
    return;
  runtime::Traffic all = team.traffic();
  double updates = double(position.update - firstUpdate);
  progress.note(fmt::format("{} processes: per update, this one sent {:.3g} MB "
                            "in {:.3g} messages and waited {:.3g} s",
                            team.size(),
                            (all.bytes - before.bytes) / updates / 1e6,
                            (all.messages - before.messages) / updates,
                            (all.seconds - before.seconds) / updates));
  if (arguments.shardsOptimiser)
    progress.note(fmt::format("this one stores {:.3g} MB of optimiser state",
                              double(learner->stateBytes()) / 1e6));
}

/// Reports memory and time instead of training.
int TrainCommand::finishDryRun() {
  std::string report;
  bool good = check(dryRun(training, *learner, position.seed, report));
  if (team.isFirst())
    llvm::outs() << report;
  session.finish();
  return agree(good ? done : failureCode);
}

int TrainCommand::finish(const TrainEnd &end) {
  switch (end.kind) {
  case TrainEnd::Done:
    summarise(end);
    return session.finish();
  case TrainEnd::Interrupted:
    progress.note(
        fmt::format("interrupted after update {}; help: continue with --resume",
                    position.update));
    session.finish();
    return 128 + end.signal;
  case TrainEnd::NotFinite:
    if (team.isFirst())
      explainNotFinite(session, arguments, training, *learner, position, end);
    if (!session.diagnostics().failed())
      session.error(arguments.spec() + ": " + end.text +
                    (end.help.empty() ? "" : "; help: " + end.help));
    return session.finish();
  case TrainEnd::Policy:
    mlir::emitError(training.rollouts->place()) << end.text;
    return session.finish();
  case TrainEnd::Failed:
    session.error(end.text);
    return session.finish();
  case TrainEnd::Machine:
    session.error(end.text);
    session.finish();
    return badMachine;
  }
  llvm_unreachable("every end has a code");
}

/// Writes what was recorded, however the training ended.
int TrainCommand::writeTrace() {
  if (!training.trace)
    return done;
  training.trace->stop();
  training.trace->forgetKernels();
  return writeText(arguments.trace,
                   training.trace->text("fovea train " + arguments.spec()));
}

int TrainCommand::run() {
  std::string words =
      arguments.resume
          ? "interrupted before an update: nothing changed\n"
          : "interrupted before the first update: nothing was learned\n";
  words += wordsOnInterrupt;
  if (arguments.quiet || !team.isFirst())
    words.clear();
  EndOnInterrupts unbegun(folder, words);
  if (!goOn(shareFolder() && openWatchers() && openModel() && readOptions() &&
            readAllData() && beginOrResume() && isSameEverywhere() &&
            compile() && prepareMetrics() && preparePolicy())) {
    session.finish();
    return failureCode;
  }
  if (arguments.dryRun)
    return finishDryRun();
  int64_t values = 0;
  for (const ParameterInfo &parameter : model->parameters)
    values += llvm::product_of(parameter.shape, int64_t(1));
  progress.note(fmt::format("{} examples, {} weights{}",
                            training.data.examples.size(), values,
                            isResumed ? fmt::format("; resumed after update "
                                                    "{}",
                                                    position.update)
                                      : ""));
  // With a policy, the generated half of a micro-batch is one of its own.
  if (int64_t batches = training.options.accumulate * (policy ? 2 : 1);
      batches < team.size())
    progress.note(fmt::format("{} of {} processes are idle: an "
                              "update has {} micro-batch{} ('accumulate')",
                              team.size() - batches, team.size(), batches,
                              batches == 1 ? "" : "es"));
  firstUpdate = position.update;
  before = team.traffic();
  isBegun = true;
  Trainer trainer(training, *learner, position, folder, progress, team);
  if (training.trace)
    training.trace->start();
  TrainEnd end = trainer.run();
  int written = writeTrace();
  int code = finish(end);
  return agree(code == done ? written : code);
}

int fovea::cli::trainOnce(const Arguments &arguments, bool &hasBegun,
                          std::string wordsOnInterrupt) {
  TrainCommand command(arguments, std::move(wordsOnInterrupt));
  int code = command.run();
  hasBegun = command.hasBegun();
  return code;
}

int fovea::cli::runTrain(const Arguments &arguments) {
  bool hasBegun = false;
  return arguments.sweeps.empty() ? trainOnce(arguments, hasBegun)
                                  : runSweep(arguments);
}
