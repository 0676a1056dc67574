//===- RunCommand.cpp - fovea run -----------------------------------------===//

#include "dialect/reference/Batch.h"
#include "driver/data/Files.h"
#include "driver/model/Compiled.h"
#include "driver/model/Execution.h"

using namespace fovea;
using namespace fovea::cli;

/// What `--get` asks for, with families replaced by their members.
static bool readGets(Session &session, const Arguments &arguments, Model &model,
                     reference::BatchRequest &batch, Request &request) {
  for (const std::string &name : arguments.gets) {
    if (name == "loss" || name == "logp" || name == "grads") {
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

/// A parameter that the loss does not read has a gradient of zeros.
static void addZeroGradients(const Model &model,
                             std::map<std::string, runtime::Tensor> &results) {
  for (const ParameterInfo &parameter : model.parameters) {
    std::vector<int64_t> shape(parameter.shape.begin(), parameter.shape.end());
    auto [place, isNew] = results.try_emplace("grad/" + parameter.path);
    if (!isNew)
      continue;
    reference::Array zeros = reference::Array::zeros(shape);
    place->second =
        runtime::Tensor::of(runtime::DType::F64, shape, zeros.values);
  }
}

int fovea::cli::runRun(const Arguments &arguments) {
  Request request;
  bool isReference;
  if (!chooseExecutor(arguments, request, isReference))
    return badUsage;
  Session session(arguments);
  Execution execution;
  reference::BatchRequest batch;
  batch.seed = arguments.seed;
  if (!openExecution(session, arguments, "training", execution) ||
      !readGets(session, arguments, *execution.model, batch, request))
    return session.finish();
  if (request.gradients && request.stopAfter == attn::Phase::derive)
    return wrongUsage("gradients exist after the phase 'differentiate' only");
  if (!lowerAndRead(session, arguments, request,
                    request.gradients ? "grad" : "loss", execution))
    return session.finish();
  runtime::TensorFile results;
  runtime::Status status = runtime::Status::success();
  if (isReference) {
    status = reference::runBatch(*execution.model->module, execution.parameters,
                                 execution.examples, batch, results.tensors);
  } else {
    CompiledOptions options;
    options.isDouble = arguments.dtype == "f64";
    options.roundsFactors = arguments.precision == "bf16";
    options.seed = arguments.seed;
    options.threads = arguments.threads;
    options.target = arguments.cpu;
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
    addZeroGradients(*execution.model, results.tensors);
  int code = session.finish();
  return code == done ? writeTensors(arguments.output, results) : code;
}
