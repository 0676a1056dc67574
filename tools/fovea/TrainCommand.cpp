//===- TrainCommand.cpp - fovea train -------------------------------------===//
//
// Gathers what a training needs: the spec, vocabularies, data, options,
// compiled code and weights. The loop itself is Trainer.cpp.
//
//===----------------------------------------------------------------------===//

#include "driver/data/Unknown.h"
#include "driver/machines/Agreement.h"
#include "driver/model/Programs.h"
#include "driver/show/Metrics.h"
#include "driver/train/Given.h"
#include "driver/train/Identity.h"
#include "driver/train/Interrupts.h"
#include "driver/train/NotFinite.h"
#include "driver/train/SameTraining.h"
#include "driver/train/Stopping.h"
#include "driver/train/TrainBlock.h"
#include "driver/train/Trainer.h"
#include "driver/watch/WatchServer.h"
#include "passes/derive/Derive.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using runtime::Status;

namespace {

/// One `fovea train`, step by step. What returns false has reported why.
class TrainCommand {
public:
  explicit TrainCommand(const Arguments &given)
      : arguments(given), session(arguments), team(cli::team()),
        progress(arguments.quiet || !team.isFirst()),
        pool(fovea_pool_create(arguments.threads), &fovea_pool_destroy) {}

  int run();

private:
  bool openFolder();
  bool shareFolder();
  bool openWatchers();
  bool openModel();
  bool shareVocabularies(const std::map<std::string, TextSource> &texts);
  bool loadUsedVocabularies();
  bool readOptions();
  bool readAllData();
  bool readData(const std::vector<std::string> &given, int64_t firstId,
                TrainData &data);
  codegen::MemoryLimit memoryLimit() const;
  bool compile();
  bool prepareMetrics();
  bool takeStateWeights();
  bool beginOrResume();
  bool isSameEverywhere();
  bool isNotOdd(const std::string &odd);
  bool goOn(bool good);
  void summarise(const TrainEnd &end);
  int finish(const TrainEnd &end);
  bool check(const Status &status) {
    if (status.isOfMachine())
      failureCode = badMachine;
    if (status.failed())
      session.error(status.text());
    return status.succeeded();
  }

  Arguments arguments; // with those that a state has
  Session session;
  runtime::Team &team;
  Progress progress;
  std::unique_ptr<FoveaPool, void (*)(FoveaPool *)> pool;
  TrainingFolder folder;
  std::unique_ptr<WatchServer> server;
  bool isResumed = false;
  runtime::TensorFile state;   // when it is resumed
  runtime::TensorFile initial; // when it is not
  Vocabularies vocabularies;
  std::unique_ptr<Model> model;
  std::string equations; // a hash
  std::unique_ptr<Programs> programs;
  Training training;
  Position position;
  std::unique_ptr<runtime::Learner> learner;
  Identity identity;
  int failureCode = badInput;
  bool isEnded = false; // as all processes have agreed
  /// When the training began, in this process.
  int64_t firstUpdate = 0;
  runtime::Traffic before;
};

} // namespace

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
                  "' has a training already; '--resume' continues it");
    return false;
  }
  isResumed = true;
  if (!check(folder.readState(position, state)))
    return false;
  // Who names the training itself gives nothing again.
  if (!arguments.stored.empty() && !takeGiven(folder.readGiven(), arguments)) {
    session.error("'" + arguments.folder +
                  "' does not know its data; '--data' gives them");
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Several processes
//===----------------------------------------------------------------------===//

/// Whether all processes are as good as this one. Stands before whatever they
/// do together; who has failed comes here once.
bool TrainCommand::goOn(bool good) {
  if (isEnded)
    return false;
  int code = agree(good ? done : failureCode);
  isEnded = code != done;
  if (isEnded)
    failureCode = code;
  return !isEnded;
}

/// Only rank 0 touches the folder: the others need not see it.
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
         (arguments.stored.empty() || takeGiven(given, arguments));
}

/// What follows the training: a page, and files of TensorBoard.
bool TrainCommand::openWatchers() {
  if (!team.isFirst())
    return true;
  if (arguments.port &&
      !check(WatchServer::start(arguments.folder, *arguments.port,
                                /*isTraining=*/true, server)))
    return false;
  if (server)
    progress.note("follow it at " + server->address());
  return arguments.eventFolder.empty() ||
         check(folder.openEvents(arguments.eventFolder));
}

/// Rank 0 builds them from the texts, and the others take what it has built.
bool TrainCommand::shareVocabularies(
    const std::map<std::string, TextSource> &texts) {
  if (!goOn(true) ||
      !goOn(!team.isFirst() || vocabularies.build(session, *model, texts)))
    return false;
  if (team.isAlone())
    return true;
  runtime::TensorFile file;
  std::string bytes;
  if (team.isFirst()) {
    vocabularies.store(file.metadata);
    bytes = runtime::formatSafeTensors(file);
  }
  team.broadcast(bytes);
  return team.isFirst() ||
         (check(runtime::parseSafeTensors(bytes, "the vocabularies of rank 0",
                                          file)) &&
          vocabularies.load(session, arguments, file, "rank 0"));
}

/// Whether all have been asked for the same training.
bool TrainCommand::isSameEverywhere() {
  if (!goOn(true))
    return false;
  return isNotOdd(findOddTraining(identity, arguments, position.seed));
}

/// What is odd is the machine's fault, and the same sentence everywhere.
bool TrainCommand::isNotOdd(const std::string &odd) {
  if (odd.empty())
    return true;
  failureCode = badMachine;
  session.error(odd);
  return false;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// The symbols of a trained model within have the ids that it was trained with.
bool TrainCommand::loadUsedVocabularies() {
  for (const UseInfo &use : model->uses) {
    runtime::TensorFile file;
    if (use.from.empty())
      continue;
    std::string path = besideSpec(arguments, use.from);
    auto rename = [&](StringRef name) {
      auto binding = use.bindings.find(name.str());
      for (const DataInfo &data : model->data)
        if (binding != use.bindings.end() && data.name == binding->second)
          return data.vocabulary;
      return use.prefix + name.str();
    };
    if (!check(runtime::readSafeTensors(path, file)) ||
        !vocabularies.load(session, arguments, file, path, rename))
      return false;
  }
  return true;
}

/// Compiles the spec, finds the vocabularies, and compiles it again for their
/// sizes.
bool TrainCommand::openModel() {
  // The ids of symbols are those of the weights that training goes on with.
  if (!isResumed && !readWeightsFile(session, arguments.weights, initial))
    return false;
  model = session.openToExecute();
  if (!model ||
      !vocabularies.load(session, arguments, isResumed ? state : initial,
                         arguments.weights) ||
      (!isResumed && arguments.stored.empty() && !loadUsedVocabularies()) ||
      !vocabularies.read(session, arguments, *model) ||
      !vocabularies.readModels(session, arguments, *model))
    return false;
  std::map<std::string, TextSource> texts;
  for (const GivenData &data : splitData(arguments.data))
    if (data.form() == GivenData::Text)
      texts[data.name] = sourceOf(data.path);
  if (!shareVocabularies(texts))
    return false;
  auto sizes = vocabularies.sizes(/*ofAll=*/true);
  session.addSets(sizes);
  if (!sizes.empty())
    model = session.openToExecute();
  if (!model)
    return false;
  for (const std::string &name : model->assumedVocabularies)
    session.error("nothing gives '" + name + ".vocab' a size; add '--set " +
                  name + ".vocab=N'");
  if (!hasObjective(*model))
    session.error(arguments.spec() + ": '" + model->name +
                  "' has nothing to train");
  dropSystem(*model, "decoding");
  if (session.diagnostics().failed())
    return false;
  equations = equationsHash(*model);
  vocabularies.store(training.metadata);
  training.metadata["model"] = model->name;
  storeDictionary(session, arguments, *model);
  session.source().store(training.metadata);
  folder.keepGiven(textOfGiven(arguments));
  return true;
}

/// What is measured in validations, and what decides.
bool TrainCommand::prepareMetrics() {
  if (arguments.valid.empty())
    return true;
  std::vector<std::string> names = wantedMetrics(arguments, *model, progress);
  if (training.bestBy != "loss" && training.bestBy != "perplexity")
    names.push_back(training.bestBy);
  if (names.empty())
    return true;
  training.metrics = ValidMetrics::create(session, arguments, vocabularies,
                                          names, training.valid.examples);
  return training.metrics != nullptr;
}

bool TrainCommand::readOptions() {
  TrainBlock block = readTrainBlock(*model);
  std::map<std::string, std::string> &entries = block.entries;
  if (arguments.batch)
    entries["batch"] = std::to_string(*arguments.batch);
  runtime::TrainOptions &options = training.options;
  if (Status status = readTrainOptions(entries, model->dims, options);
      status.failed()) {
    session.error(arguments.spec() + ": " + status.text());
    return false;
  }
  for (const std::string &note : options.notes)
    session.diagnostics().warning({}, arguments.spec() + ": " + note);
  if (!checkNames(session, arguments, *model, options))
    return false;
  if (!readFrozen(session, arguments, *model, options.frozen))
    return false;
  training.averagesExamples = block.averagesExamples;
  position.seed = isResumed ? position.seed : arguments.seed.value_or(0);
  training.order = {position.seed, options.batch, options.countsTokens,
                    options.buckets};
  TrainLimits &limits = training.limits;
  limits.steps = arguments.steps.value_or(0);
  limits.epochs = arguments.epochs.value_or(0);
  limits.minutes = arguments.minutes.value_or(0);
  limits.reportEvery = arguments.reportEvery;
  limits.validEvery = arguments.validEvery.value_or(0);
  limits.saveEvery = arguments.saveEvery.value_or(0);
  if (!readStopping(session, arguments, training))
    return false;
  bool stops = !arguments.valid.empty() && !options.earlyStop.metric.empty();
  if (limits.steps == 0 && limits.epochs == 0 && limits.minutes == 0 && !stops)
    limits.epochs = 10;
  return true;
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

bool TrainCommand::readData(const std::vector<std::string> &given,
                            int64_t firstId, TrainData &data) {
  TrainDataOptions options;
  options.wanted.needed = programs->dataOf("grad");
  options.wanted.known = describeAllData(*model);
  options.bucketLength = training.options.bucketLength;
  options.isDouble = arguments.dtype == "f64";
  options.firstId = firstId;
  if (arguments.maxDataMb)
    data.examples.setLimit(*arguments.maxDataMb << 20);
  Status status = Status::success();
  return readTrainData(session, splitData(given), *model, vocabularies, options,
                       data, status) &&
         check(status);
}

bool TrainCommand::readAllData() {
  Request request;
  request.gradients = true;
  request.stopAfter = attn::Phase::fuse;
  CompiledOptions options;
  options.isDouble = arguments.dtype == "f64";
  options.roundsFactors = arguments.precision == "bf16";
  options.target = arguments.cpu;
  if (arguments.maxActivationMb)
    options.memory.emplace(); // the data say what it is
  if (auto system = model->module->lookupSymbol<attn::SystemOp>("training"))
    training.states = attn::statesOf(system);
  programs = std::make_unique<Programs>(session, *model, request, options);
  std::vector<std::string> entries = {"grad", "choices"};
  if (!arguments.valid.empty())
    entries.push_back("loss");
  if (!programs->open(entries))
    return false;
  if (!readData(arguments.data, 0, training.data))
    return false;
  // Ids of their own, should a validation ever draw numbers.
  return arguments.valid.empty() ||
         readData(arguments.valid, training.data.examples.size(),
                  training.valid);
}

//===----------------------------------------------------------------------===//
// Code and weights
//===----------------------------------------------------------------------===//

/// The limit of the memory, for the largest batch that there may be.
codegen::MemoryLimit TrainCommand::memoryLimit() const {
  codegen::MemoryLimit limit;
  limit.bytes = *arguments.maxActivationMb << 20;
  limit.threads = fovea_pool_threads(pool.get());
  for (const auto &[name, length] : training.data.longest)
    limit.lengths[name] = length;
  int64_t count = training.data.examples.size();
  limit.batch = training.order.batch;
  // Of the longest examples there are the fewest.
  if (training.order.countsTokens)
    limit.batch = llvm::divideCeil(
        limit.batch,
        std::max<int64_t>(1, *llvm::max_element(training.data.sizes)));
  limit.batch = std::min(limit.batch, count);
  return limit;
}

bool TrainCommand::compile() {
  training.pool = pool.get();
  if (arguments.maxActivationMb)
    programs->limitMemory(memoryLimit());
  std::unique_ptr<CompiledProgram> counter;
  if (!check(programs->create("grad", training.grad)) ||
      (!training.valid.examples.empty() &&
       !check(programs->create("loss", training.loss))) ||
      !check(programs->create("choices", counter)) || !goOn(true))
    return false;
  // Draws are functions of a machine's libc.
  learner->shareWeights();
  runtime::OwnedMemory weights = learner->weights();
  // No more examples at once than an update has, which may be large.
  int64_t batch = training.order.countsTokens
                      ? 64
                      : std::min<int64_t>(64, training.order.batch);
  return check(countChoices(*counter, weights, pool.get(), team, batch,
                            training.data)) &&
         isNotOdd(findOddGradient(training, *learner, *model, position.seed));
}

/// The weights of a state, where they are those of the model: what they began
/// with need not be there any more.
bool TrainCommand::takeStateWeights() {
  for (const ParameterInfo &parameter : model->parameters) {
    auto found = state.tensors.find(parameter.path);
    if (found == state.tensors.end() ||
        !llvm::equal(found->second.shape, parameter.shape) ||
        runtime::nameOf(found->second.type) !=
            (arguments.dtype == "f64" ? "F64" : "F32"))
      return false;
    initial.tensors[parameter.path] = found->second;
  }
  return isResumed;
}

bool TrainCommand::beginOrResume() {
  if (!arguments.weights.empty() && !isResumed) {
    reference::Arrays unused;
    if (!takeParameters(session, arguments.weights, *model, initial, unused))
      return false;
  } else if (!takeStateWeights() &&
             !drawWeights(session, arguments, *model, position.seed, initial)) {
    return false;
  }
  learner = runtime::Learner::create(initial, training.options,
                                     arguments.dtype == "f64", pool.get(), team,
                                     arguments.shardsOptimiser);
  if (!goOn(true))
    return false;
  if (std::string what = learner->notFinite(); !what.empty())
    return check(Status::error(fmt::format("{}: {} not finite in F32; '--dtype "
                                           "f64' computes with them",
                                           arguments.weights, what)));
  const Identity &now = identity =
      identityOf(training, readTrainBlock(*model), std::move(equations));
  if (!isResumed) {
    position.identity = now;
    return !team.isFirst() || check(folder.openLog(0));
  }
  // All that differs is said at once.
  if (arguments.seed && *arguments.seed != position.seed)
    session.error(fmt::format("the training in '{}' has seed {}, not {}",
                              arguments.folder, position.seed,
                              *arguments.seed));
  Differences differences(session, arguments, position);
  differences.report(now);
  std::vector<std::string> mistakes =
      learner->load(state, differences.hasSameRule(now));
  for (const std::string &mistake : mistakes)
    session.error(mistake);
  // What the weights say, the equations need not say again.
  if (mistakes.empty())
    differences.reportEquations(now);
  position.identity = now;
  return !session.diagnostics().failed() &&
         (!team.isFirst() || check(folder.openLog(position.logLines)));
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

/// Says what came out, how good it is and where it lies.
void TrainCommand::summarise(const TrainEnd &end) {
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
  progress.note(fmt::format("{} processes: to each update this one sent {:.3g} "
                            "MB in {:.3g} messages, "
                            "and waited {:.3g} s",
                            team.size(),
                            (all.bytes - before.bytes) / updates / 1e6,
                            (all.messages - before.messages) / updates,
                            (all.seconds - before.seconds) / updates));
  if (arguments.shardsOptimiser)
    progress.note(fmt::format("this one has {:.3g} MB of the optimiser's state",
                              double(learner->stateBytes()) / 1e6));
}

int TrainCommand::finish(const TrainEnd &end) {
  switch (end.kind) {
  case TrainEnd::Done:
    summarise(end);
    return session.finish();
  case TrainEnd::Interrupted:
    progress.note(fmt::format("interrupted after update {}; '--resume' "
                              "continues",
                              position.update));
    session.finish();
    return 128 + end.signal;
  case TrainEnd::NotFinite:
    if (team.isFirst())
      explainNotFinite(session, arguments, training, *learner, position, end);
    if (!session.diagnostics().failed())
      session.error(arguments.spec() + ": " + end.text);
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

int TrainCommand::run() {
  EndOnInterrupts unbegun(
      folder, arguments.quiet || !team.isFirst() ? ""
              : arguments.resume
                  ? "interrupted before an update: nothing has changed\n"
                  : "interrupted before the first update: nothing has been "
                    "learnt\n");
  if (!goOn(shareFolder() && openWatchers() && openModel() && readOptions() &&
            readAllData() && beginOrResume() && isSameEverywhere() &&
            compile() && prepareMetrics())) {
    session.finish();
    return failureCode;
  }
  int64_t values = 0;
  for (const ParameterInfo &parameter : model->parameters)
    values += llvm::product_of(parameter.shape, int64_t(1));
  progress.note(fmt::format("{} examples, {} weights{}",
                            training.data.examples.size(), values,
                            isResumed ? fmt::format("; resumed after update "
                                                    "{}",
                                                    position.update)
                                      : ""));
  if (int64_t batches = training.options.accumulate; batches < team.size())
    progress.note(fmt::format("{} of {} processes have nothing to do: an "
                              "update has {} micro-batch{} ('accumulate')",
                              team.size() - batches, team.size(), batches,
                              batches == 1 ? "" : "es"));
  firstUpdate = position.update;
  before = team.traffic();
  Trainer trainer(training, *learner, position, folder, progress, team);
  return agree(finish(trainer.run()));
}

int fovea::cli::runTrain(const Arguments &arguments) {
  return TrainCommand(arguments).run();
}
