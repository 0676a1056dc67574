//===- Execution.cpp - from a command line to an interpreted model --------===//

#include "tools/fovea/Execution.h"
#include "dialect/reference/Batch.h"

using namespace fovea;
using namespace fovea::cli;

bool fovea::cli::chooseExecutor(const Arguments &arguments, Request &request,
                                bool &isReference) {
  if (!readPhase(arguments.stopAfter, request.stopAfter))
    return false;
  isReference = arguments.reference || !arguments.stopAfter.empty();
  if (!isReference)
    request.stopAfter = attn::Phase::fuse;
  return true;
}

bool fovea::cli::openExecution(Session &session, const Arguments &arguments,
                               llvm::StringRef system, Execution &execution) {
  runtime::TensorFile weights;
  if (!readWeightsFile(session, arguments, weights))
    return false;
  if (!execution.vocabularies.load(session, arguments, weights,
                                   arguments.weights))
    return false;
  session.addSets(execution.vocabularies.sizes());
  execution.model = session.openToExecute(&weights);
  if (!execution.model ||
      !execution.vocabularies.read(session, arguments, *execution.model) ||
      !takeParameters(session, arguments, *execution.model, weights,
                      execution.parameters))
    return false;
  Model &model = *execution.model;
  mlir::Operation *kept = model.module->lookupSymbol(system);
  if (!kept) {
    session.error(arguments.spec() + ": '" + model.name +
                  "' generates nothing");
    return false;
  }
  dropSystem(model, system == "training" ? "decoding" : "training");
  execution.data.known = describeData(model, kept);
  return true;
}

bool fovea::cli::lowerAndRead(Session &session, const Arguments &arguments,
                              const Request &request, llvm::StringRef container,
                              Execution &execution) {
  Model &model = *execution.model;
  if (!session.lower(model, request))
    return false;
  mlir::Operation *op = reference::findContainer(*model.module, container);
  assert(op && "the pipeline made what was requested");
  execution.data.needed = describeData(model, op);
  return readExamples(session, splitData(arguments.data), model, execution.data,
                      execution.vocabularies, execution.examples);
}
