//===- ScoreCommand.cpp - fovea score -------------------------------------===//

#include "dialect/reference/Batch.h"
#include "driver/model/Compiled.h"
#include "driver/model/Execution.h"
#include "runtime/search/Distribution.h"

#include <cmath>
#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;

using Results = std::map<std::string, runtime::Tensor>;

/// Evaluates `gets` with the parameters of one model.
static runtime::Status
evaluate(const Arguments &arguments, const Execution &execution,
         const reference::Arrays &parameters, bool isReference,
         const std::vector<std::string> &gets, Results &results) {
  mlir::ModuleOp module = *execution.model->module;
  reference::BatchRequest batch;
  batch.gets = gets;
  if (isReference)
    return reference::runBatch(module, parameters, execution.examples, batch,
                               results);
  CompiledOptions options;
  options.isDouble = arguments.dtype == "f64";
  options.threads = arguments.threads;
  options.target = arguments.cpu;
  CompiledBatch compiled(module, parameters, execution.examples, options);
  return reference::runBatch(module, compiled, batch, results);
}

/// The outputs that have log p of each element of a choice.
static std::vector<std::string> eachChoice(mlir::ModuleOp module) {
  std::vector<std::string> names;
  mlir::Operation *loss = reference::findContainer(module, "loss");
  for (auto output : loss->getRegion(0).getOps<attn::OutputOp>())
    if (output.getTarget().starts_with("logp/"))
      names.push_back(output.getTarget().str());
  return names;
}

/// log p of each example: of an ensemble the sum of the logarithms of the mean
/// probability of each choice, as its search takes them.
static runtime::Status scoreEnsemble(const Arguments &arguments,
                                     const Execution &execution,
                                     bool isReference,
                                     std::vector<double> &logps) {
  logps.assign(execution.examples.size(), 0);
  std::vector<std::string> names = eachChoice(*execution.model->module);
  if (names.empty())
    return runtime::Status::success();
  std::vector<Results> members(1 + execution.more.size());
  for (size_t i = 0; i < members.size(); ++i)
    if (runtime::Status status =
            evaluate(arguments, execution,
                     i == 0 ? execution.parameters : execution.more[i - 1],
                     isReference, names, members[i]);
        status.failed())
      return status;
  for (const std::string &name : names) {
    std::vector<std::vector<double>> values;
    for (Results &results : members)
      values.push_back(results[name].toDoubles());
    size_t count = values.front().size() / logps.size();
    for (size_t i = 0; i < values.front().size(); ++i) {
      std::vector<double> of;
      for (const std::vector<double> &own : values)
        of.push_back(own[i]);
      logps[i / count] += runtime::logMean(of);
    }
  }
  return runtime::Status::success();
}

/// A number that is none is null in JSON: log 0 is.
static std::string lineOfJson(double logp) {
  return std::isfinite(logp) ? fmt::format("{{\"logp\": {:.17g}}}", logp)
                             : "{\"logp\": null}";
}

int fovea::cli::runScore(const Arguments &arguments) {
  Request request;
  bool isReference;
  if (!chooseExecutor(arguments, request, isReference))
    return badUsage;
  bool isEnsemble = !arguments.moreWeights.empty();
  request.each = isEnsemble;
  Session session(arguments);
  Execution execution;
  if (!openExecution(session, arguments, "training", execution) ||
      !lowerAndRead(session, arguments, request, "loss", execution))
    return session.finish();
  std::vector<double> logps;
  runtime::Status status = runtime::Status::success();
  if (isEnsemble) {
    status = scoreEnsemble(arguments, execution, isReference, logps);
  } else {
    Results results;
    status = evaluate(arguments, execution, execution.parameters, isReference,
                      {"logp"}, results);
    if (status.succeeded())
      logps = results["logp"].toDoubles();
  }
  if (status.failed()) {
    session.fail(status);
    return session.finish();
  }
  for (double logp : logps)
    llvm::outs() << (arguments.asJson ? lineOfJson(logp)
                                      : fmt::format("{:.10g}", logp))
                 << '\n';
  return session.finish();
}
