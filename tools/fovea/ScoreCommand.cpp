//===- ScoreCommand.cpp - fovea score -------------------------------------===//

#include "dialect/reference/Batch.h"
#include "tools/fovea/Compiled.h"
#include "tools/fovea/Execution.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;

int fovea::cli::runScore(const Arguments &arguments) {
  Request request;
  bool isReference;
  if (!chooseExecutor(arguments, request, isReference))
    return badUsage;
  Session session(arguments);
  Execution execution;
  if (!openExecution(session, arguments, "training", execution) ||
      !lowerAndRead(session, arguments, request, "loss", execution))
    return session.finish();
  reference::BatchRequest batch;
  batch.gets = {"logp"};
  std::map<std::string, runtime::Tensor> results;
  runtime::Status status = runtime::Status::success();
  if (isReference) {
    status = reference::runBatch(*execution.model->module, execution.parameters,
                                 execution.examples, batch, results);
  } else {
    CompiledOptions options;
    options.isDouble = arguments.dtype == "f64";
    options.threads = arguments.threads;
    options.cpu = arguments.cpu;
    CompiledBatch compiled(*execution.model->module, execution.parameters,
                           execution.examples, options);
    status =
        reference::runBatch(*execution.model->module, compiled, batch, results);
  }
  if (status.failed()) {
    session.error(status.text());
    return session.finish();
  }
  for (double logp : results["logp"].toDoubles())
    llvm::outs() << fmt::format("{:.10g}\n", logp);
  return session.finish();
}
