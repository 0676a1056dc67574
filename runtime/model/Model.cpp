//===- Model.cpp - a compiled model with its weights ----------------------===//

#include "runtime/model/Model.h"
#include "runtime/Cpu.h"
#include "runtime/Functions.h"
#include "runtime/data/Quantise.h"
#include "runtime/device/Device.h"
#include "runtime/train/OptimiserState.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <fmt/format.h>
#include <utility>

using namespace fovea::runtime;

//===----------------------------------------------------------------------===//
// Beginning
//===----------------------------------------------------------------------===//

Model::~Model() = default;

/// Quantises weights where programs read them so.
static Status quantiseWeights(const Description &description,
                              TensorFile &file) {
  std::vector<std::string> names;
  for (const ParameterDescription &parameter : description.parameters)
    names.push_back(parameter.path);
  return quantise(file, names);
}

/// Checks that the weights match the model: names, extents and types.
Status Model::checkWeights(const TensorFile &file,
                           const std::string &name) const {
  if (std::none_of(
          description.parameters.begin(), description.parameters.end(),
          [&](const auto &own) { return file.tensors.count(own.path) != 0; }) &&
      !description.parameters.empty() && !file.tensors.empty())
    return Status::error(fmt::format("these weights belong to another model: "
                                     "it has '{}', but '{}' has '{}'",
                                     file.tensors.begin()->first,
                                     description.model,
                                     description.parameters.front().path),
                         name);
  for (const ParameterDescription &parameter : description.parameters) {
    auto found = file.tensors.find(parameter.path);
    if (found == file.tensors.end())
      return Status::error(fmt::format("'{}' is missing", parameter.path),
                           name);
    const Tensor &tensor = found->second;
    std::vector<int64_t> shape = wideShape(parameter.path, tensor);
    if (shape != parameter.shape)
      return Status::error(
          fmt::format("'{}' has extents {} but the model needs {}",
                      parameter.path, shapeText(shape),
                      shapeText(parameter.shape)),
          name);
    if (QuantisedName own;
        !tensor.isReal() && !readQuantisedName(parameter.path, own))
      return Status::error(
          fmt::format("'{}' is {} but parameters are F32 or F64",
                      parameter.path, nameOf(tensor.type)),
          name);
  }
  for (const auto &[path, tensor] : file.tensors)
    if (std::none_of(description.parameters.begin(),
                     description.parameters.end(),
                     [&](const auto &own) { return own.path == path; }))
      return Status::error(
          fmt::format("'{}' is not a parameter of the model", path), name);
  return Status::success();
}

static void enter(OwnedMemory &memory, TensorFile &file) {
  for (auto &[path, tensor] : file.tensors)
    memory[path] = tensor.bytes.data();
}

Status Model::takeWeights(TensorFile &file, const std::string &name) {
  OptimiserState state;
  if (Status status = takeOptimiser(file, name, state); status.failed())
    return status;
  if (Status status = quantiseWeights(description, file); status.failed())
    return Status::error(status.text(), name);
  if (Status status = checkWeights(file, name); status.failed())
    return status;
  // Embedded vocabularies must match the sizes of the model.
  for (const auto &[key, text] : description.vocabularies.empty()
                                     ? file.metadata
                                     : description.vocabularies)
    if (Vocabularies::isKey(key))
      if (Status status =
              vocabularies.take(key, text, Vocabularies::nameIn(key));
          status.failed())
        return Status::error(status.text(), name);
  TrainOptions options;
  options.optimiser.rule = Rule::Sgd;
  if (program("grad"))
    if (Status status =
            readTrainOptions(description.train, description.dims, options);
        status.failed())
      return status;
  options.frozen = description.frozen;
  options.states = description.states;
  if (Status status = takeNarrow(file, narrow); status.failed())
    return Status::error(status.text(), name);
  learner = Learner::create(std::move(file), options, description.isDouble,
                            pool.get());
  weights = learner->weights();
  enter(weights, narrow);
  rule = options.optimiser.rule;
  return program("grad")
             ? loadOptimiser(std::move(state), rule, description.isDouble,
                             *learner, numUpdates, name)
             : Status::success();
}

Status Model::takeMember(TensorFile file, const std::string &name) {
  OptimiserState unused;
  if (Status status = takeOptimiser(file, name, unused); status.failed())
    return status;
  if (Status status = quantiseWeights(description, file); status.failed())
    return Status::error(status.text(), name);
  if (Status status = checkWeights(file, name); status.failed())
    return status;
  Vocabularies own;
  for (const auto &[key, text] : file.metadata)
    if (Vocabularies::isKey(key))
      if (Status status = own.take(key, text, Vocabularies::nameIn(key));
          status.failed())
        return Status::error(status.text(), name);
  if (std::string difference = vocabularies.differenceTo(own);
      !difference.empty())
    return Status::error("it does not match the first member: " + difference,
                         name);
  TensorFile all;
  if (Status status = takeNarrow(file, all); status.failed())
    return Status::error(status.text(), name);
  DType type = description.isDouble ? DType::F64 : DType::F32;
  for (auto &[path, tensor] : file.tensors)
    if (tensor.type != type)
      tensor = Tensor::of(type, tensor.shape, tensor.toDoubles());
  all.tensors.merge(file.tensors);
  others.push_back(std::move(all));
  steps.reset();
  searcher.reset();
  return Status::success();
}

Status Model::addMember(const std::string &path) {
  TensorFile file;
  if (Status status = readSafeTensors(path, file); status.failed())
    return status;
  return takeMember(std::move(file), path);
}

std::string fovea::runtime::limitThreads(int &threads) {
  int cpus = fovea_pool_cpus();
  if (threads <= cpus)
    return "";
  return fmt::format("'--threads {}' exceeds the number of CPUs; {} are used",
                     std::exchange(threads, cpus), cpus);
}

Status Model::create(const FoveaImage &image,
                     const std::vector<std::string> &weights, int threads,
                     std::unique_ptr<Model> &result) {
  std::unique_ptr<Model> model(new Model);
  Description &description = model->description;
  Status status = readDescription(
      {image.description, static_cast<size_t>(image.descriptionSize)},
      description);
  if (status.succeeded())
    status = checkCpu(description.features);
  // Open the device before the arrays that it reads.
  if (status.succeeded() && description.cpu.starts_with("cuda"))
    status = Device::open();
  if (status.failed())
    return status;
  size_t count = description.programs.size();
  assert(image.numFunctions ==
             static_cast<int64_t>(
                 2 * (count + description.decoder.programs.size())) &&
         "the compiler makes an image of as many functions");
  auto codeOf = [&](size_t number) {
    return ProgramCode{
        image.functions[2 * number], image.functions[2 * number + 1], {}};
  };
  for (size_t i = 0; i < count; ++i)
    model->entries.push_back(
        std::make_unique<Entry>(description.programs[i], codeOf(i)));
  for (size_t i = 0; i < description.decoder.programs.size(); ++i)
    model->decoderCode.push_back(codeOf(count + i));
  limitThreads(threads);
  model->pool.reset(fovea_pool_create(threads));
  std::vector<TensorFile> members(1);
  if (!weights.empty())
    status = readSafeTensors(weights.front(), members.front());
  else if (image.weights)
    status = readWeightsInside(image, members);
  else if (!description.parameters.empty())
    return Status::error(
        fmt::format("'{}' contains no weights; help: pass a weights file",
                    description.model));
  const std::string inside = "the weights inside";
  if (status.succeeded())
    status = model->takeWeights(members.front(),
                                weights.empty() ? inside : weights.front());
  for (size_t i = 1; i < members.size() && status.succeeded(); ++i)
    status = model->takeMember(std::move(members[i]), inside);
  for (size_t i = 1; i < weights.size() && status.succeeded(); ++i)
    status = model->addMember(weights[i]);
  if (status.succeeded())
    result = std::move(model);
  return status;
}

const Program *Model::program(const std::string &entry) const {
  for (const auto &own : entries)
    if (own->program.entry == entry)
      return &own->program;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

void Model::setRandom(std::optional<uint64_t> newSeed, uint64_t newUpdate) {
  seed = newSeed;
  update = newUpdate;
}

Binding Model::binding() const {
  Binding binding;
  binding.memory = &weights;
  binding.seed = seed;
  binding.update = update;
  binding.pool = pool.get();
  return binding;
}

/// Packs the parameters of a bound entry, unless they are packed already.
void Model::pack(Entry &entry, const Binding &binding) {
  bool isKnown = !isShared && binding.memory == &weights;
  if (!entry.code.prepare || (isKnown && entry.packedVersion == version))
    return;
  entry.code.prepare(entry.memory.frame());
  entry.packedVersion = isKnown ? version : 0;
}

Status Model::run(const char *entry, const std::vector<Example> &examples,
                  const Binding &binding, Entry *&found) {
  found = nullptr;
  for (const auto &own : entries)
    if (own->program.entry == entry)
      found = own.get();
  assert(found && "nothing calls what is not compiled");
  Batch batch;
  for (const Example &example : examples)
    batch.push_back(&example);
  found->isDone = false;
  if (Status status = found->memory.bind(batch, binding); status.failed())
    return status;
  pack(*found, binding);
  found->memory.willRun();
  found->code.run(found->memory.frame());
  found->isDone = true;
  return Status::success();
}

Status Model::evaluate(const std::vector<Example> &examples, Binding &binding,
                       BatchResult &result, double &choices) {
  result = {};
  Entry *entry = nullptr;
  if (Status status = run("loss", examples, binding, entry); status.failed())
    return status;
  const Workspace &memory = entry->memory;
  double count = static_cast<double>(examples.size());
  choices = memory.totalOf("choices");
  double nll = memory.totalOf("nll");
  double mean = description.averagesExamples ? nll / count
                : choices == 0               ? 0
                                             : nll / choices;
  result.loss = mean + memory.totalOf("penalty") / count;
  // As a search adds it up: each choice, rounded once, if each has its own.
  std::vector<std::string> names = memory.outputsOf("logp/");
  if (names.empty() && memory.hasOutput("logp"))
    names = {"logp"};
  if (!names.empty())
    result.logp.assign(examples.size(), 0);
  for (size_t example = 0; example < result.logp.size(); ++example) {
    std::vector<double> logps;
    for (const std::string &name : names) {
      const std::vector<double> own = memory.output(name, example).values;
      logps.insert(logps.end(), own.begin(), own.end());
    }
    result.logp[example] = exactSum(logps);
  }
  return Status::success();
}

Status Model::differentiate(const std::vector<Example> &examples,
                            Binding &binding, BatchResult &result) {
  // Each batch weighs as much as it has choices: the loss comes first.
  double choices = 0;
  if (Status status = evaluate(examples, binding, result, choices);
      status.failed())
    return status;
  double count = static_cast<double>(examples.size());
  binding.numbers["seed.nll"] = description.averagesExamples ? 1 / count
                                : choices == 0               ? 0
                                                             : 1 / choices;
  binding.numbers["seed.penalty"] = 1 / count;
  Entry *entry = nullptr;
  if (Status status = run("grad", examples, binding, entry); status.failed())
    return status;
  learner->beginGradients();
  learner->addGradients(entry->memory);
  learner->sumGradients();
  return Status::success();
}

Status Model::loss(const std::vector<Example> &examples, BatchResult &result) {
  Binding bound = binding();
  double choices = 0;
  return evaluate(examples, bound, result, choices);
}

Status Model::gradients(const std::vector<Example> &examples,
                        BatchResult &result) {
  Binding bound = binding();
  return differentiate(examples, bound, result);
}

Status Model::trainStep(const std::vector<Example> &examples, uint64_t seed,
                        BatchResult &result) {
  Binding bound = binding();
  bound.seed = seed;
  bound.update = numUpdates;
  OwnedMemory noisy = learner->weightsToLearn(seed, numUpdates + 1);
  bound.memory = &noisy;
  if (Status status = differentiate(examples, bound, result); status.failed())
    return status;
  if (!std::isfinite(result.loss))
    return Status::error(fmt::format("the loss of update {} is {}",
                                     numUpdates + 1, result.loss));
  ++version;
  if (!std::isfinite(learner->learn(numUpdates + 1)))
    return Status::error(fmt::format("update {} has a {} that is not finite",
                                     numUpdates + 1,
                                     learner->firstNotFinite()));
  ++numUpdates;
  steps.reset();
  searcher.reset();
  return Status::success();
}

Status Model::equations(const std::vector<Example> &examples) {
  Entry *entry = nullptr;
  return run("loss", examples, binding(), entry);
}

std::optional<DataValues> Model::value(const std::string &name,
                                       int64_t example) const {
  // A gradient run also computes the equations, but the latest run may be
  // another.
  for (const auto &own : entries)
    if (own->isDone && own->memory.hasOutput(name) && example >= 0 &&
        example < own->memory.numExamples() &&
        (own->program.entry == "loss" || name.starts_with("adjoint/")))
      return own->memory.output(name, example);
  return std::nullopt;
}

void Model::prepareSearch() {
  assert(description.hasDecoder && "nothing calls what is not compiled");
  steps.reset();
  if (searcher && !isShared)
    return;
  std::vector<OwnedMemory> members = {weights};
  for (TensorFile &file : others)
    enter(members.emplace_back(), file);
  searcher = std::make_unique<Search>(description.decoder, decoderCode,
                                      std::move(members), pool.get());
}

Status Model::decode(const std::vector<Example> &examples,
                     const SearchOptions &options,
                     std::vector<std::vector<Generated>> &results) {
  prepareSearch();
  Batch batch;
  for (const Example &example : examples)
    batch.push_back(&example);
  return searcher->decode(batch, options, results);
}

Status Model::encode(std::vector<Example> examples, double *logps) {
  prepareSearch();
  steps = std::make_unique<SearchSteps>(*searcher);
  Status status = steps->begin(std::move(examples), logps);
  if (status.failed())
    steps.reset();
  return status;
}

Status Model::step(const std::vector<int64_t> &parents,
                   const std::vector<int64_t> &symbols, double *logps) {
  if (!steps || steps->numRows() == 0)
    return Status::error("a step follows 'encode', or another step");
  return steps->step(parents, symbols, logps);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static void *find(const OwnedMemory &memory, const std::string &path) {
  auto found = memory.find(path);
  return found == memory.end() ? nullptr : found->second;
}

void *Model::parameter(const std::string &path) {
  isShared = true;
  return find(weights, path);
}

void *Model::gradient(const std::string &path) {
  return find(learner->gradients(), path);
}

void Model::setMetadata(const std::string &key, const std::string &text) {
  metadata[key] = text;
}

Status Model::save(const std::string &path) const {
  TensorFile file;
  learner->storeWeights(file);
  file.tensors.insert(narrow.tensors.begin(), narrow.tensors.end());
  if (numUpdates > 0)
    storeOptimiser(*learner, rule, numUpdates, file);
  file.metadata.insert(metadata.begin(), metadata.end());
  vocabularies.store(file.metadata);
  file.metadata["model"] = description.model;
  return writeSafeTensors(path, file);
}
