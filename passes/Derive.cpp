//===- Derive.cpp - what the two derivations share ------------------------===//

#include "passes/Derive.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace fovea::attn;

LogicalResult fovea::attn::refuseLatents(SystemOp system) {
  LogicalResult result = success();
  for (auto choice : system.getOps<ChoiceOp>()) {
    bool isGenerated = system.getSymName() == "decoding" && !choice.getLatent();
    if (choice.getObserved() || isGenerated)
      continue;
    choice.emitError() << "'" << choice.getTarget()
                       << "' is a latent choice, and models with latent "
                          "choices cannot be executed yet";
    result = failure();
  }
  return result;
}

LogicalResult fovea::attn::resolveEquations(SystemOp system,
                                            ArrayRef<std::string> names) {
  llvm::StringSet<> missing;
  for (const std::string &name : names)
    missing.insert(name);
  for (auto equation :
       llvm::make_early_inc_range(system.getOps<EquationOp>())) {
    if (llvm::is_contained(names, equation.getTarget())) {
      OpBuilder builder(equation);
      OutputOp::create(builder, equation.getLoc(), equation.getTarget(),
                       equation.getValue());
      missing.erase(equation.getTarget());
    }
    equation.erase();
  }
  LogicalResult result = success();
  for (const std::string &name : names)
    if (missing.erase(name)) {
      system.emitError() << "no equation is called '" << name << "'";
      result = failure();
    }
  return result;
}
