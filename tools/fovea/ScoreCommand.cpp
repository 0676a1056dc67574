//===- ScoreCommand.cpp - fovea score -------------------------------------===//

#include "app/machines/Agreement.h"
#include "app/model/Compiled.h"
#include "app/model/Execution.h"
#include "compiler/Contents.h"
#include "dialect/reference/Batch.h"
#include "runtime/Functions.h"
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
  batch.single = arguments.givesDtype && arguments.dtype == "f32";
  if (isReference)
    return reference::runBatch(module, parameters, execution.examples, batch,
                               results);
  CompiledBatch compiled(module, parameters, execution.examples,
                         compiledOptionsOf(arguments));
  return reference::runBatch(module, compiled, batch, results);
}

/// The outputs that have log p of each element of a choice.
static std::vector<std::string> eachChoice(mlir::ModuleOp module) {
  std::vector<std::string> names;
  for (std::string &name :
       compiler::outputsOf(compiler::findProgram(module, "loss")))
    if (llvm::StringRef(name).starts_with("logp/"))
      names.push_back(std::move(name));
  return names;
}

/// log p of each example by an ensemble, as a search adds it up: each choice,
/// the logarithm of the mean probability, rounded once.
static runtime::Status scoreTogether(const Arguments &arguments,
                                     const Execution &execution,
                                     bool isReference,
                                     std::vector<double> &logps) {
  std::vector<std::string> names = eachChoice(*execution.model->module);
  std::vector<Results> members(1 + execution.more.size());
  for (size_t i = 0; i < members.size(); ++i)
    if (runtime::Status status =
            evaluate(arguments, execution,
                     i == 0 ? execution.parameters : execution.more[i - 1],
                     isReference, names, members[i]);
        status.failed())
      return status;
  std::vector<std::vector<double>> ofExample(execution.examples.size());
  for (const std::string &name : names) {
    std::vector<std::vector<double>> values;
    for (Results &results : members)
      values.push_back(results[name].toDoubles());
    size_t count = values.front().size() / ofExample.size();
    for (size_t i = 0; i < values.front().size(); ++i) {
      std::vector<double> of;
      for (const std::vector<double> &own : values)
        of.push_back(own[i]);
      ofExample[i / count].push_back(runtime::logMean(of));
    }
  }
  for (const std::vector<double> &own : ofExample)
    logps.push_back(runtime::exactSum(own));
  return runtime::Status::success();
}

/// Non-finite numbers are null in JSON: log 0 is one.
static std::string lineOfJson(double logp) {
  return std::isfinite(logp) ? fmt::format("{{\"logp\": {:.17g}}}", logp)
                             : "{\"logp\": null}";
}

/// log p of each example.
static runtime::Status score(const Arguments &arguments,
                             const Execution &execution, bool isReference,
                             std::vector<double> &logps) {
  if (execution.examples.empty())
    return runtime::Status::success();
  if (!arguments.moreWeights.empty())
    return scoreTogether(arguments, execution, isReference, logps);
  Results results;
  runtime::Status status = evaluate(arguments, execution, execution.parameters,
                                    isReference, {"logp"}, results);
  if (status.succeeded())
    logps = results["logp"].toDoubles();
  return status;
}

/// The same, with each process doing its share of the examples.
static runtime::Status scoreShare(const Arguments &arguments,
                                  Execution &execution, bool isReference,
                                  std::vector<double> &logps) {
  runtime::Team &all = team();
  if (all.isAlone())
    return score(arguments, execution, isReference, logps);
  int64_t count = execution.examples.size();
  auto [from, to] = all.shareOf(count, all.rank());
  execution.examples.erase(execution.examples.begin() + to,
                           execution.examples.end());
  execution.examples.erase(execution.examples.begin(),
                           execution.examples.begin() + from);
  std::vector<double> own;
  runtime::Status status = score(arguments, execution, isReference, own);
  for (const std::string &text : all.gatherTexts(status.text()))
    if (!text.empty())
      return runtime::Status::error(text);
  logps.assign(count, 0);
  llvm::copy(own, logps.begin() + from);
  all.gatherShares(logps, count, 1);
  return runtime::Status::success();
}

int fovea::cli::runScore(const Arguments &arguments) {
  Request request;
  bool isReference;
  Session session(arguments);
  Execution execution;
  auto prepare = [&]() -> int {
    if (!chooseExecutor(arguments, request, isReference))
      return badUsage;
    if (!openExecution(session, arguments, "training", execution))
      return session.finish();
    request.each = !arguments.moreWeights.empty() ||
                   compiler::addsUpChoices(*execution.model->module);
    return lowerAndRead(session, arguments, request, "loss", execution)
               ? int(done)
               : session.finish();
  };
  if (int code = agree(prepare()); code != done)
    return code;
  std::vector<double> logps;
  runtime::Status status = scoreShare(arguments, execution, isReference, logps);
  if (status.failed())
    session.fail(status);
  else if (team().isFirst())
    for (double logp : logps)
      llvm::outs() << (arguments.asJson ? lineOfJson(logp)
                                        : fmt::format("{:.10g}", logp))
                   << '\n';
  return agree(session.finish());
}
