//===- TrainInputs.cpp - what fovea train needs ---------------------------===//
//
// The spec, vocabularies, options, data, compiled code and weights.
//
//===----------------------------------------------------------------------===//

#include "app/model/Unknown.h"
#include "app/open/ChooseTarget.h"
#include "app/show/Metrics.h"
#include "app/train/Given.h"
#include "app/train/SameTraining.h"
#include "app/train/Stopping.h"
#include "app/train/TrainBlock.h"
#include "compiler/Contents.h"
#include "tools/fovea/TrainCommand.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using runtime::Status;

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
  session.addSizes(sizes);
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
  if (!compiler::hasObjective(*model->module))
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
    reportTrainOption(session, arguments, *model, status);
    return false;
  }
  options.roundsWeights = weightFormat(arguments) != nullptr;
  if (options.isLazy() && arguments.shardsOptimiser) {
    session.error("'--shard-optimiser' cuts rows, which 'lazy' updates as "
                  "wholes; help: leave out one of them");
    return false;
  }
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
  options.wanted.option = &data == &training.valid ? "--valid" : "--data";
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
  training.states = attn::statesOf(*model->module);
  policy = attn::policyOf(*model->module);
  if (policy && !hasReferences(arguments, *policy))
    return false;
  request.each = policy.has_value();
  programs = std::make_unique<Programs>(session, *model, request, options);
  if (training.options.takesRows())
    programs->listRows();
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
  learner->findRows(training.grad->workspace());
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
  // One size is the reason for the extents of many parameters.
  std::string other =
      mistakes.empty() ? "" : otherSizes(session, *model, state);
  if (!other.empty())
    session.error("the resumed run has " + other +
                  "; help: leave out the '--set' that changes it, or choose "
                  "another --out");
  else
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
