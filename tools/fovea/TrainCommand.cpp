//===- TrainCommand.cpp - fovea train -------------------------------------===//
//
// Gathers the inputs of training: the spec, vocabularies, data, options,
// compiled code and weights. Trainer.cpp has the loop.
//
//===----------------------------------------------------------------------===//

#include "app/data/Files.h"
#include "app/machines/Agreement.h"
#include "app/model/Programs.h"
#include "app/model/Unknown.h"
#include "app/open/ChooseTarget.h"
#include "app/show/Metrics.h"
#include "app/train/DryRun.h"
#include "app/train/Given.h"
#include "app/train/Identity.h"
#include "app/train/Interrupts.h"
#include "app/train/NotFinite.h"
#include "app/train/SameTraining.h"
#include "app/train/Stopping.h"
#include "app/train/TrainBlock.h"
#include "app/train/Trainer.h"
#include "app/watch/WatchProcess.h"
#include "dialect/AttnDialect.h"
#include "passes/derive/Derive.h"
#include "tools/fovea/Sweep.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using runtime::Status;

namespace {

/// One `fovea train`, step by step. Functions that return false have reported
/// the error.
class TrainCommand {
public:
  TrainCommand(const Arguments &given, std::string wordsOnInterrupt)
      : arguments(given), wordsOnInterrupt(std::move(wordsOnInterrupt)),
        session(arguments), team(cli::team()),
        progress(arguments.quiet || !team.isFirst()),
        pool(fovea_pool_create(arguments.threads), &fovea_pool_destroy) {}

  int run();
  /// Whether the first update was reached.
  bool hasBegun() const { return isBegun; }

private:
  bool openFolder();
  bool takeGivenText(const std::string &text);
  bool shareFolder();
  bool openWatchers();
  bool isMissing(StringRef name) const;
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
  bool preparePolicy();
  bool takeStateWeights();
  bool beginOrResume();
  bool isSameEverywhere();
  bool isNotOdd(const std::string &odd);
  bool goOn(bool good);
  void summarise(const TrainEnd &end);
  int finishDryRun();
  int writeTrace();
  int finish(const TrainEnd &end);
  bool check(const Status &status) {
    if (status.isOfMachine())
      failureCode = badMachine;
    if (status.failed())
      session.error(status.text());
    return status.succeeded();
  }

  Arguments arguments; // with those that a state has
  std::string wordsOnInterrupt;
  Session session;
  runtime::Team &team;
  Progress progress;
  std::unique_ptr<FoveaPool, void (*)(FoveaPool *)> pool;
  TrainingFolder folder;
  std::unique_ptr<WatchProcess> page;
  bool isResumed = false;
  runtime::TensorFile state;   // when it is resumed
  runtime::TensorFile initial; // when it is not
  Vocabularies vocabularies;
  std::unique_ptr<Model> model;
  std::string equations; // a hash
  std::unique_ptr<Programs> programs;
  std::optional<attn::Policy> policy;
  Training training;
  Position position;
  std::unique_ptr<runtime::Learner> learner;
  Identity identity;
  int failureCode = badInput;
  bool isEnded = false; // as all processes have agreed
  bool isBegun = false;
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

/// Rank 0 builds them from the texts, and broadcasts them.
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
// The model
//===----------------------------------------------------------------------===//

/// The symbols of a used, trained model keep the ids of its training.
bool TrainCommand::loadUsedVocabularies() {
  for (const UseInfo &use : model->uses) {
    runtime::TensorFile file;
    if (use.from.empty())
      continue;
    std::string path;
    if (!findBesideSpec(session, arguments, use.from, path))
      return false;
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

/// Returns whether `name` is data of the model that no `--data` provides.
bool TrainCommand::isMissing(StringRef name) const {
  return llvm::any_of(
             model->data,
             [&](const DataInfo &data) { return data.name == name; }) &&
         llvm::none_of(splitData(arguments.data), [&](const GivenData &data) {
           return data.name.empty() || data.name == name;
         });
}

/// Compiles the spec, finds the vocabularies, and compiles it again for their
/// sizes.
bool TrainCommand::openModel() {
  // The ids of symbols are those of the initial weights.
  if (!isResumed && !readWeightsFile(session, arguments.weights, initial))
    return false;
  model = session.openToExecute();
  if (!model || !haveData(session, splitData(arguments.data), *model) ||
      !haveData(session, splitData(arguments.valid), *model) ||
      !vocabularies.load(session, arguments, isResumed ? state : initial,
                         arguments.weights) ||
      (!isResumed && arguments.stored.empty() && !loadUsedVocabularies()) ||
      !vocabularies.read(session, arguments, *model) ||
      !vocabularies.readModels(session, arguments, *model))
    return false;
  std::map<std::string, TextSource> texts;
  for (const GivenData &data : splitData(arguments.data))
    if (data.form() == GivenData::Text)
      texts[data.name] = sourceOf(data.path, data.name);
  if (!shareVocabularies(texts))
    return false;
  auto sizes = vocabularies.sizes(/*ofAll=*/true);
  session.addSets(sizes);
  if (!sizes.empty())
    model = session.openToExecute();
  if (!model)
    return false;
  for (const std::string &name : model->assumedVocabularies)
    session.error(isMissing(name)
                      ? "data '" + name + "' is not given; help: add '--data " +
                            name + "=FILE'"
                      : "nothing gives '" + name +
                            ".vocab' a size; help: add '--set " + name +
                            ".vocab=N'");
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
  if (session.diagnostics().failed())
    return false;
  session.source().store(training.metadata);
  folder.keepGiven(textOfGiven(arguments));
  return true;
}

/// The metrics of validation, and the deciding one.
bool TrainCommand::prepareMetrics() {
  if (arguments.valid.empty())
    return true;
  std::vector<std::string> names = wantedMetrics(arguments, *model, progress);
  training.measuresBound = llvm::is_contained(model->metrics, "bound");
  if (training.bestBy != "loss" && training.bestBy != "perplexity")
    names.push_back(training.bestBy);
  if (names.empty() && !arguments.validReferences.empty())
    session.error("'--valid-ref' needs a metric; help: add '--metric bleu'");
  if (names.empty())
    return !session.diagnostics().failed();
  training.metrics = ValidMetrics::create(session, arguments, vocabularies,
                                          names, training.valid.examples);
  return training.metrics != nullptr;
}

/// What generates, and scores what is generated.
bool TrainCommand::preparePolicy() {
  if (!policy)
    return true;
  training.rollouts = Rollouts::create(session, arguments, vocabularies,
                                       *policy, training.data.examples);
  return training.rollouts != nullptr;
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
  options.roundsWeights = weightFormat(arguments) != nullptr;
  for (const std::string &note : options.notes)
    session.diagnostics().warning(Code::none, {},
                                  arguments.spec() + ": " + note);
  if (!checkNames(session, arguments, *model, options))
    return false;
  if (!readFrozen(session, arguments, *model, options.frozen))
    return false;
  options.states = readStates(*model);
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
  CompiledOptions options = compiledOptionsOf(arguments);
  if (arguments.maxActivationMb)
    options.memory.emplace(); // the data say what it is
  if (!arguments.trace.empty() && team.isFirst()) {
    training.trace = std::make_unique<Trace>();
    training.trace->attach(options);
  }
  if (auto system = model->module->lookupSymbol<attn::SystemOp>("training")) {
    training.states = attn::statesOf(system);
    policy = attn::policyOf(system);
  }
  if (policy && !hasReferences(arguments, *policy))
    return false;
  request.each = policy.has_value();
  programs = std::make_unique<Programs>(session, *model, request, options);
  std::vector<std::string> entries = {"grad", "choices"};
  if (!arguments.valid.empty())
    entries.push_back("loss");
  if (!programs->open(entries))
    return false;
  if (!readData(arguments.data, 0, training.data))
    return false;
  // Separate ids, in case a validation ever draws numbers.
  return arguments.valid.empty() ||
         (readData(arguments.valid, training.data.examples.size(),
                   training.valid) &&
          addMoreReferences(session, arguments, training.valid.hash));
}

//===----------------------------------------------------------------------===//
// Code and weights
//===----------------------------------------------------------------------===//

/// The memory limit, for the largest possible batch.
codegen::MemoryLimit TrainCommand::memoryLimit() const {
  codegen::MemoryLimit limit;
  limit.bytes = *arguments.maxActivationMb << 20;
  limit.threads = fovea_pool_threads(pool.get());
  for (const auto &[name, length] : training.data.longest)
    limit.lengths[name] = length;
  int64_t count = training.data.examples.size();
  limit.batch = training.order.batch;
  // The longest examples are the fewest.
  if (training.order.countsTokens)
    limit.batch = llvm::divideCeil(
        limit.batch,
        std::max<int64_t>(1, *llvm::max_element(training.data.sizes)));
  limit.batch = std::min(limit.batch, count) * (policy ? policy->samples : 1);
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
  if (training.trace)
    for (const auto &[entry, program] :
         {std::pair("grad", &training.grad), {"loss", &training.loss}})
      if (CompiledProgram *compiled = program->get())
        training.trace->nameKernels(entry, [&](const std::string &symbol) {
          return compiled->addressOf(symbol);
        });
  // Samples use functions of a machine's libc.
  learner->shareWeights();
  runtime::OwnedMemory weights = learner->weights();
  // At most as many examples at once as an update has.
  int64_t batch = training.order.countsTokens
                      ? 64
                      : std::min<int64_t>(64, training.order.batch);
  return check(countChoices(*counter, weights, pool.get(), team, batch,
                            training.data)) &&
         isNotOdd(findOddGradient(training, *learner, *model, position.seed));
}

/// The weights of a state, if they match the model: the initial ones need not
/// exist any more.
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
    if (!checkParameters(session, arguments.weights, *model, initial))
      return false;
  } else if (!takeStateWeights() &&
             !drawWeights(session, arguments, *model, position.seed, initial)) {
    return false;
  }
  learner = runtime::Learner::create(std::move(initial), training.options,
                                     arguments.dtype == "f64", pool.get(), team,
                                     arguments.shardsOptimiser);
  if (!goOn(true))
    return false;
  if (std::string what = learner->notFinite(); !what.empty())
    return check(Status::error(
        fmt::format("{}: {} not finite in F32; help: add '--dtype f64'",
                    arguments.weights, what)));
  const Identity &now = identity =
      identityOf(training, readTrainBlock(*model), std::move(equations));
  if (!isResumed) {
    position.identity = now;
    return !team.isFirst() || arguments.dryRun || check(folder.openLog(0));
  }
  // Report all differences at once.
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
  // The equations need not repeat errors that the weights report.
  if (mistakes.empty())
    differences.reportEquations(now);
  position.identity = now;
  return !session.diagnostics().failed() &&
         (!team.isFirst() || arguments.dryRun ||
          check(folder.openLog(position.logLines)));
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
      session.error(arguments.spec() + ": " + end.text);
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
