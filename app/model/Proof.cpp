//===- Proof.cpp - compile --prove ----------------------------------------===//

#include "app/model/Proof.h"
#include "app/data/Inputs.h"
#include "app/model/QuantisedWeights.h"
#include "app/open/ChooseTarget.h"

using namespace fovea;
using namespace fovea::cli;

std::unique_ptr<proof::Prover> fovea::cli::proverOf(const Arguments &arguments,
                                                    const Model &model) {
  if (!arguments.proves)
    return nullptr;
  proof::ProverOptions options;
  options.describe = [&model](mlir::Operation *container) {
    return describeData(model, container);
  };
  options.complete = [](mlir::ModuleOp module, reference::Arrays &parameters) {
    return addQuantised(module, parameters);
  };
  options.roundsFactors = roundsFactors(arguments);
  return std::make_unique<proof::Prover>(std::move(options));
}

bool fovea::cli::finishProof(Session &session, proof::Prover *prover,
                             mlir::ModuleOp module, mlir::ModuleOp schedules) {
  if (!prover)
    return true;
  if (schedules)
    prover->checkLaunches(module, schedules);
  if (prover->status().failed()) {
    session.fail(prover->status());
    return false;
  }
  llvm::errs() << prover->summary() << '\n';
  return true;
}
