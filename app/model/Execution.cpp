//===- Execution.cpp - from a command line to an interpreted model --------===//

#include "app/model/Execution.h"
#include "app/model/QuantisedWeights.h"
#include "app/open/ChooseTarget.h"
#include "compiler/Contents.h"
#include "dialect/reference/Batch.h"
#include "passes/Pipeline.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>
#include <set>

using namespace fovea;
using namespace fovea::cli;

bool fovea::cli::readLeaveOut(const Arguments &arguments, bool isReference,
                              Request &request) {
  if (arguments.leaveOut.empty())
    return true;
  auto passes =
      compiler::optionalPasses(arguments.cpu, arguments.dtype == "f64");
  if (!passes) {
    wrongUsage(llvm::toString(passes.takeError()));
    return false;
  }
  std::set<llvm::StringRef> allowed = passes->ofAll;
  if (!llvm::is_contained(arguments.gets, "grads"))
    allowed.insert(passes->ofValues.begin(), passes->ofValues.end());
  for (const std::string &name : arguments.leaveOut)
    if (!allowed.contains(name)) {
      wrongUsage("pass '" + name + "' cannot be left out; help: leave out " +
                 llvm::join(allowed, ", "));
      return false;
    }
  request.leaveOut = arguments.leaveOut;
  // The phases that belong to a machine leave out passes, too.
  if (!isReference)
    request.stopAfter = attn::Phase::memory;
  return true;
}

bool fovea::cli::chooseExecutor(const Arguments &arguments, Request &request,
                                bool &isReference) {
  if (!readPhase(arguments.stopAfter, request.stopAfter))
    return false;
  isReference = arguments.reference || !arguments.stopAfter.empty();
  if (!isReference || arguments.launches)
    request.stopAfter = attn::Phase::fuse;
  if (!readLeaveOut(arguments, isReference, request))
    return false;
  if (!arguments.launches)
    return true;
  // A schedule is made of what is compiled.
  if (!arguments.stopAfter.empty())
    wrongUsage("'--launches' has no '--stop-after'");
  else if (!isReference && roundsFactors(arguments))
    wrongUsage("'--launches' compares bits, which sums of bf16 leave to the "
               "device; help: add '--reference'");
  else
    return true;
  return false;
}

bool fovea::cli::readMembers(Session &session, const Arguments &arguments,
                             const Model &model,
                             const Vocabularies &vocabularies,
                             std::vector<runtime::TensorFile> &members) {
  bool good = true;
  for (const std::string &path : arguments.moreWeights) {
    runtime::TensorFile &weights = members.emplace_back();
    Vocabularies own;
    good &= readWeightsFile(session, path, weights) &&
            checkParameters(session, path, model, weights);
    if (!own.load(session, arguments, weights, path)) {
      good = false;
      continue;
    }
    std::string difference = vocabularies.words().differenceTo(own.words());
    if (!difference.empty()) {
      session.error(fmt::format("cannot combine '{}' with '{}': {}",
                                arguments.weights, path, difference));
      good = false;
    }
  }
  return good;
}

bool fovea::cli::openExecution(Session &session, const Arguments &arguments,
                               llvm::StringRef system, Execution &execution) {
  std::vector<runtime::TensorFile> files(1), others;
  runtime::TensorFile &weights = files.front();
  if (!readWeightsFile(session, arguments.weights, weights))
    return false;
  if (!execution.vocabularies.load(session, arguments, weights,
                                   arguments.weights))
    return false;
  session.addSizes(execution.vocabularies.sizes());
  size_t numStored = execution.vocabularies.sizes().size();
  execution.model = session.openToExecute(&weights);
  if (!execution.model ||
      !execution.vocabularies.read(session, arguments, *execution.model) ||
      !execution.vocabularies.readModels(session, arguments, *execution.model))
    return false;
  // The spec's vocabulary models determine vocabulary sizes.
  if (auto sizes = execution.vocabularies.sizes(); sizes.size() > numStored) {
    session.addSizes(sizes);
    execution.model = session.openToExecute(&weights);
  }
  if (!execution.model ||
      !execution.vocabularies.checkSizes(session, arguments,
                                         *execution.model) ||
      !checkParameters(session, arguments.weights, *execution.model, weights) ||
      !readMembers(session, arguments, *execution.model, execution.vocabularies,
                   others))
    return false;
  if (execution.keepsFiles) {
    llvm::append_range(files, std::move(others));
    execution.files = std::move(files);
  } else {
    execution.parameters = arraysOf(std::move(weights));
    for (runtime::TensorFile &member : others)
      execution.more.push_back(arraysOf(std::move(member)));
  }
  Model &model = *execution.model;
  mlir::Operation *kept = model.module->lookupSymbol(system);
  if (!kept) {
    checkWanted(session, arguments, model, /*objective=*/false,
                /*generated=*/true);
    return false;
  }
  dropSystem(model, system == "training" ? "decoding" : "training");
  execution.data.known = describeData(model, kept);
  return true;
}

bool fovea::cli::checkWanted(Session &session, const Arguments &arguments,
                             Model &model, bool objective, bool generated) {
  std::string spec = arguments.spec() + ": ", name = "'" + model.name + "' ";
  if (objective && !compiler::hasObjective(*model.module))
    session.error(spec + name + "has no objective");
  if (generated && !model.module->lookupSymbol("decoding"))
    session.error(spec + (model.undecoded.empty() ? name + "generates nothing"
                                                  : model.undecoded));
  if (!objective && !generated)
    session.error(spec + name + "neither generates nor has an objective");
  return !session.diagnostics().failed();
}

bool fovea::cli::lowerAndRead(Session &session, const Arguments &arguments,
                              const Request &request, llvm::StringRef container,
                              Execution &execution) {
  Model &model = *execution.model;
  if (!session.lower(model, request))
    return false;
  std::vector<reference::Arrays *> members = {&execution.parameters};
  for (reference::Arrays &member : execution.more)
    members.push_back(&member);
  for (reference::Arrays *member : members)
    if (runtime::Status status = addQuantised(*model.module, *member);
        status.failed()) {
      session.fail(status);
      return false;
    }
  mlir::Operation *op = reference::findContainer(*model.module, container);
  assert(op && "the pipeline made what was requested");
  compiler::dropUnusedLengths(op);
  execution.data.needed = describeData(model, op);
  return readExamples(
      session, givenData(arguments, model, execution.data.needed), model,
      execution.data, execution.vocabularies, execution.examples);
}
