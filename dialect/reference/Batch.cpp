//===- Batch.cpp - the interpreter over the examples of a batch -----------===//

#include "dialect/reference/Batch.h"
#include "dialect/AttnDialect.h"
#include "dialect/reference/Lengths.h"
#include "runtime/Functions.h"

#include <fmt/format.h>

using namespace mlir;
using namespace fovea;
using namespace fovea::reference;
using runtime::DType;
using runtime::Tensor;

std::vector<runtime::DataSpec> reference::describeData(Operation *container) {
  llvm::StringMap<std::string> parents;
  for (auto length : container->getRegion(0).getOps<attn::LengthOp>())
    parents[length.getLength()] = length.getParent().value_or("").str();
  std::vector<runtime::DataSpec> specs;
  for (auto data : container->getRegion(0).getOps<attn::DataOp>()) {
    StringRef name = data.getSource();
    bool known = llvm::any_of(
        specs, [&](const auto &spec) { return spec.name == name.str(); });
    if (known || name.starts_with("seed.") ||
        name.starts_with(runtime::statePrefix))
      continue;
    runtime::DataSpec &spec = specs.emplace_back();
    spec.name = name.str();
    attn::ArrayType type = data.getResult().getType();
    spec.kind = type.getScalarType().isF64()         ? runtime::DataKind::Real
                : type.getElementType().isInteger(1) ? runtime::DataKind::Bit
                                                     : runtime::DataKind::Whole;
    for (Attribute extent : type.getShape()) {
      runtime::DataAxis &axis = spec.axes.emplace_back();
      if (auto number = dyn_cast<IntegerAttr>(extent)) {
        axis.size = number.getInt();
      } else {
        axis.length = attn::extentText(extent);
        axis.parent = parents.lookup(axis.length);
      }
    }
  }
  return specs;
}

std::map<std::string, std::vector<int64_t>>
reference::describeParameters(Operation *container) {
  std::map<std::string, std::vector<int64_t>> result;
  for (auto parameter : container->getRegion(0).getOps<attn::ParamOp>()) {
    std::vector<int64_t> shape;
    for (Attribute extent : parameter.getResult().getType().getShape())
      shape.push_back(
          isa<IntegerAttr>(extent) ? cast<IntegerAttr>(extent).getInt() : -1);
    result[parameter.getPath().str()] = std::move(shape);
  }
  return result;
}

Status reference::readWeights(Operation *container,
                              const runtime::TensorFile &file,
                              Arrays &parameters) {
  for (const auto &[path, shape] : describeParameters(container)) {
    auto found = file.tensors.find(path);
    if (found == file.tensors.end())
      return Status::error(
          fmt::format("the weights have no parameter '{}'", path));
    const Tensor &tensor = found->second;
    if (tensor.shape != shape || !tensor.isReal())
      return Status::error(
          fmt::format("parameter '{}' is {} but the weights have {} {}", path,
                      runtime::shapeText(shape), runtime::nameOf(tensor.type),
                      runtime::shapeText(tensor.shape)));
    parameters[path] = {tensor.shape, tensor.toDoubles(), false};
  }
  return Status::success();
}

Inputs reference::inputsOf(const runtime::Example &example,
                           const Arrays &parameters) {
  Inputs inputs;
  inputs.parameters = &parameters;
  inputs.example = static_cast<uint64_t>(example.id);
  for (const auto &[name, values] : example.data)
    inputs.data[name] = {values.shape, values.values, false};
  inputs.lengths = example.lengths;
  return inputs;
}

namespace {
/// Example after example, by the interpreter.
class Interpreted : public BatchEvaluator {
public:
  Interpreted(ModuleOp module, const Arrays &parameters,
              const std::vector<runtime::Example> &examples,
              const BatchRequest &request)
      : module(module), parameters(parameters), examples(examples),
        request(request) {}
  Status evaluateLoss(const std::vector<std::string> &equations,
                      std::vector<Arrays> &outputs) override;
  Status evaluateGradients(double seedNll, double seedPenalty,
                           Arrays &sums) override;

private:
  Inputs inputsFor(const runtime::Example &example) const;

  ModuleOp module;
  const Arrays &parameters;
  const std::vector<runtime::Example> &examples;
  const BatchRequest &request;
};

/// One request over one batch.
class BatchRun {
public:
  BatchRun(ModuleOp module, BatchEvaluator &evaluator,
           const BatchRequest &request, std::map<std::string, Tensor> &results)
      : module(module), evaluator(evaluator), request(request),
        results(results) {}
  Status run();

private:
  Status storeGradients();
  Status storeEquation(const std::string &name);
  Status storeLogp();
  double total(const std::string &name) const;

  ModuleOp module;
  BatchEvaluator &evaluator;
  const BatchRequest &request;
  std::map<std::string, Tensor> &results;
  std::vector<Arrays> outputs; // of @loss, by example
};
} // namespace

//===----------------------------------------------------------------------===//
// The interpreter
//===----------------------------------------------------------------------===//

Inputs Interpreted::inputsFor(const runtime::Example &example) const {
  Inputs inputs = inputsOf(example, parameters);
  inputs.seed = request.seed;
  inputs.update = request.update;
  inputs.single = request.single;
  return inputs;
}

static Status inExample(const runtime::Example &example, Status status) {
  return Status::error(
      fmt::format("example {}: {}", example.id, status.getMessage()),
      status.getWhere());
}

Status Interpreted::evaluateLoss(const std::vector<std::string> &equations,
                                 std::vector<Arrays> &outputs) {
  Operation *loss = findContainer(module, "loss");
  if (!loss)
    return Status::error("the module has no '@loss'");
  EvaluateOptions options;
  options.equations = equations;
  for (const runtime::Example &example : examples) {
    Inputs inputs = inputsFor(example);
    if (Status status = evaluate(loss, inputs, outputs.emplace_back(), options);
        status.failed())
      return inExample(example, status);
  }
  return Status::success();
}

/// Whether a program says which sums are over the examples.
static bool isBatched(Operation *container) {
  return isa<attn::ProgramOp>(container) &&
         llvm::any_of(container->getRegion(0).getOps(),
                      [](Operation &op) { return op.hasAttr("attn.batch"); });
}

Status Interpreted::evaluateGradients(double seedNll, double seedPenalty,
                                      Arrays &sums) {
  Operation *grad = findContainer(module, "grad");
  if (!grad)
    return Status::error("the module has no '@grad'");
  if (request.single && isBatched(grad)) {
    std::vector<Inputs> inputs;
    for (const runtime::Example &example : examples) {
      inputs.push_back(inputsFor(example));
      inputs.back().data["seed.nll"] = Array::scalar(seedNll);
      inputs.back().data["seed.penalty"] = Array::scalar(seedPenalty);
    }
    Status status = evaluateTogether(grad, inputs, sums);
    std::erase_if(sums, [](const auto &sum) {
      return !StringRef(sum.first).starts_with("grad/");
    });
    return status;
  }
  for (const runtime::Example &example : examples) {
    Inputs inputs = inputsFor(example);
    inputs.data["seed.nll"] = Array::scalar(seedNll);
    inputs.data["seed.penalty"] = Array::scalar(seedPenalty);
    Arrays gradients;
    if (Status status = evaluate(grad, inputs, gradients); status.failed())
      return inExample(example, status);
    for (auto &[name, array] : gradients) {
      if (!StringRef(name).starts_with("grad/"))
        continue;
      auto [sum, isNew] = sums.try_emplace(name, array);
      if (isNew)
        continue;
      for (size_t i = 0; i < array.values.size(); ++i)
        sum->second.values[i] += array.values[i];
    }
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// The sum of a scalar output over the examples; 0 if @loss lacks it.
double BatchRun::total(const std::string &name) const {
  double sum = 0;
  for (const Arrays &one : outputs)
    if (auto found = one.find(name); found != one.end())
      sum += found->second.values.empty() ? 0 : found->second.values[0];
  return sum;
}

/// If the spec averages by example, only that mean of the objective is
/// requested.
static bool averagesExamples(ModuleOp module) {
  auto train = module->getAttrOfType<DictionaryAttr>("attn.train");
  auto average = train ? train.getAs<StringAttr>("average") : StringAttr();
  return average && average.getValue() == "example";
}

Status BatchRun::storeGradients() {
  double count = static_cast<double>(outputs.size());
  double choices = total("choices");
  double seed = averagesExamples(module) ? 1 / count
                : choices == 0           ? 0
                                         : 1 / choices;
  Arrays sums;
  if (Status status = evaluator.evaluateGradients(seed, 1 / count, sums);
      status.failed())
    return status;
  for (const auto &[name, array] : sums)
    results[name] = Tensor::of(DType::F64, array.shape, array.values);
  return Status::success();
}

Status BatchRun::storeEquation(const std::string &name) {
  std::vector<runtime::DataValues> parts;
  bool integer = false;
  for (const Arrays &one : outputs) {
    auto found = one.find(name);
    if (found == one.end())
      return Status::error(fmt::format("there is no equation '{}'", name));
    parts.push_back({found->second.shape, found->second.values});
    integer = found->second.integer;
  }
  results[name] = runtime::joinPadded(integer ? DType::I64 : DType::F64, parts);
  return Status::success();
}

/// Per example as a search adds it up: each choice, rounded once, if each has
/// an output of its own.
Status BatchRun::storeLogp() {
  std::vector<runtime::DataValues> parts;
  for (const Arrays &one : outputs) {
    std::vector<double> logps;
    bool hasChoices = false;
    for (const auto &[name, array] : one) {
      if (!StringRef(name).starts_with("logp/"))
        continue;
      hasChoices = true;
      llvm::append_range(logps, array.values);
    }
    if (!hasChoices)
      return storeEquation("logp");
    parts.push_back({{}, {runtime::exactSum(logps)}});
  }
  results["logp"] = runtime::joinPadded(DType::F64, parts);
  return Status::success();
}

Status BatchRun::run() {
  results.clear();
  std::vector<std::string> equations;
  if (Operation *loss = findContainer(module, "loss"))
    for (const std::string &name : request.gets)
      if (llvm::any_of(
              loss->getRegion(0).getOps<attn::EquationOp>(),
              [&](attn::EquationOp op) { return op.getTarget() == name; }))
        equations.push_back(name);
  if (Status status = evaluator.evaluateLoss(equations, outputs);
      status.failed())
    return status;
  if (outputs.empty())
    return Status::error("the batch has no examples");
  double count = static_cast<double>(outputs.size());
  for (const std::string &name : request.gets) {
    Status status = Status::success();
    if (name == "grads") {
      status = storeGradients();
    } else if (name == "loss") {
      double choices = total("choices");
      double nll = averagesExamples(module) ? total("nll") / count
                   : choices == 0           ? 0
                                            : total("nll") / choices;
      double loss = nll + total("penalty") / count;
      results[name] = Tensor::of(DType::F64, {}, {loss});
    } else if (name == "logp") {
      status = storeLogp();
    } else {
      status = storeEquation(name);
    }
    if (status.failed()) {
      results.clear();
      return status;
    }
  }
  return Status::success();
}

Status reference::runBatch(ModuleOp module, BatchEvaluator &evaluator,
                           const BatchRequest &request,
                           std::map<std::string, Tensor> &results) {
  return BatchRun(module, evaluator, request, results).run();
}

Status reference::runBatch(ModuleOp module, const Arrays &parameters,
                           const std::vector<runtime::Example> &examples,
                           const BatchRequest &request,
                           std::map<std::string, Tensor> &results) {
  Interpreted interpreter(module, parameters, examples, request);
  return runBatch(module, interpreter, request, results);
}
