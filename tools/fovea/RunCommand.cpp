//===- RunCommand.cpp - fovea run -----------------------------------------===//

#include "app/data/Files.h"
#include "app/interpret/Launched.h"
#include "app/model/Compiled.h"
#include "app/model/Execution.h"
#include "compiler/Contents.h"
#include "dialect/reference/Batch.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace fovea;
using namespace fovea::cli;

/// The outputs of an ONNX file that have another name as equations.
using Renamed = std::map<std::string, std::string>;

/// The equation of the output `name` of an ONNX file. The name means
/// something else in `--get`, so the importer has appended a `_`.
static std::string equationOfOutput(Model &model, const std::string &name) {
  std::vector<std::string> all = equationsOf(model, "training");
  bool isUnique = llvm::is_contained(all, name + "_") &&
                  !llvm::is_contained(all, name + "__");
  return isUnique ? name + "_" : name;
}

/// The names of `--get`, with families replaced by their members.
static bool readGets(Session &session, const Arguments &arguments, Model &model,
                     reference::BatchRequest &batch, Request &request,
                     Renamed &renamed) {
  // An ONNX file has outputs, and no objective.
  bool isOnnx = llvm::StringRef(arguments.stored).ends_with(".onnx");
  for (const std::string &given : arguments.gets) {
    std::string name = given;
    bool isOfObjective = name == "loss" || name == "logp" || name == "grads";
    if (isOfObjective && isOnnx) {
      name = equationOfOutput(model, given);
      renamed[name] = given;
    } else if (isOfObjective) {
      batch.gets.push_back(name);
      request.gradients |= name == "grads";
      continue;
    }
    for (std::string &equation :
         equationsNamed(session, model, "training", name)) {
      request.gets.push_back(equation);
      batch.gets.push_back(std::move(equation));
    }
  }
  return !session.diagnostics().failed();
}

/// A parameter that the loss does not read has a zero gradient, and a state has
/// none.
static void completeGradients(const Model &model,
                              std::map<std::string, runtime::Tensor> &results) {
  for (const ParameterInfo &parameter : model.parameters) {
    if (parameter.change != ParameterInfo::gradient) {
      results.erase("grad/" + parameter.path);
      continue;
    }
    std::vector<int64_t> shape(parameter.shape.begin(), parameter.shape.end());
    auto [place, isNew] = results.try_emplace("grad/" + parameter.path);
    if (!isNew)
      continue;
    reference::Array zeros = reference::Array::zeros(shape);
    place->second =
        runtime::Tensor::of(runtime::DType::F64, shape, zeros.values);
  }
}

/// Returns whether the command line lacks data that the model generates.
static bool lacksGenerated(const Arguments &arguments, const Model &model) {
  if (arguments.data.empty() ||
      llvm::none_of(model.data,
                    [](const DataInfo &data) { return data.isChosen; }))
    return false;
  llvm::StringSet<> given;
  for (const GivenData &data : splitData(arguments.data)) {
    given.insert(data.name);
    runtime::TensorFile batch;
    if (data.name.empty() &&
        runtime::readSafeTensors(data.path, batch).succeeded())
      for (const auto &[name, tensor] : batch.tensors)
        given.insert(name);
  }
  return llvm::any_of(model.data, [&](const DataInfo &data) {
    return data.isChosen && !given.contains(data.name);
  });
}

int fovea::cli::runRun(const Arguments &arguments) {
  Request request;
  bool isReference;
  if (!chooseExecutor(arguments, request, isReference))
    return badUsage;
  Session session(arguments);
  Execution execution;
  reference::BatchRequest batch;
  Renamed renamed;
  batch.seed = arguments.seed;
  batch.single = arguments.givesDtype && arguments.dtype == "f32";
  if (!openExecution(session, arguments, "training", execution) ||
      !readGets(session, arguments, *execution.model, batch, request, renamed))
    return session.finish();
  if (request.gradients && request.stopAfter == attn::Phase::derive)
    return wrongUsage("gradients exist only after phase 'differentiate'");
  if (batch.gets.size() == request.gets.size() && !request.gradients &&
      lacksGenerated(arguments, *execution.model))
    compiler::dropObjective(*execution.model->module);
  request.each = llvm::is_contained(batch.gets, "logp") &&
                 compiler::addsUpChoices(*execution.model->module);
  if (!lowerAndRead(session, arguments, request,
                    request.gradients ? "grad" : "loss", execution))
    return session.finish();
  runtime::TensorFile results;
  runtime::Status status = runtime::Status::success();
  if (arguments.launches) {
    CompiledOptions options = compiledOptionsOf(arguments);
    options.isDouble = !batch.single && isReference;
    options.seed = arguments.seed;
    LaunchedBatch launched(*execution.model->module, execution.parameters,
                           execution.examples, options, !isReference);
    status = reference::runBatch(*execution.model->module, launched, batch,
                                 results.tensors);
  } else if (isReference) {
    status = reference::runBatch(*execution.model->module, execution.parameters,
                                 execution.examples, batch, results.tensors);
  } else {
    CompiledOptions options = compiledOptionsOf(arguments);
    options.seed = arguments.seed;
    CompiledBatch compiled(*execution.model->module, execution.parameters,
                           execution.examples, options);
    status = reference::runBatch(*execution.model->module, compiled, batch,
                                 results.tensors);
  }
  if (status.failed()) {
    session.fail(status);
    return session.finish();
  }
  if (request.gradients)
    completeGradients(*execution.model, results.tensors);
  for (const auto &[equation, output] : renamed)
    if (auto found = results.tensors.extract(equation)) {
      found.key() = output;
      results.tensors.insert(std::move(found));
    }
  int code = session.finish();
  return code == done ? writeTensors(arguments.output, results) : code;
}
