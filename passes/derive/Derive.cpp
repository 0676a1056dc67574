//===- Derive.cpp - what the two derivations share ------------------------===//

#include "passes/derive/Derive.h"
#include "passes/analysis/Graph.h"
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
                       << "' is a latent choice, in the place of which "
                          "attn-draw-latents puts equations";
    result = failure();
  }
  return result;
}

Value fovea::attn::scheduleOf(ChoiceOp choice, StringRef key) {
  DictionaryAttr treatment = choice.getTreatmentAttr();
  auto name = treatment ? treatment.getAs<StringAttr>(key) : StringAttr();
  if (!name)
    return {};
  for (auto equation : choice->getParentOfType<SystemOp>().getOps<EquationOp>())
    if (equation.getTargetAttr() == name)
      return equation.getValue();
  return {};
}

std::map<std::string, double> fovea::attn::statesOf(ModuleOp module) {
  std::map<std::string, double> states;
  auto training = module.lookupSymbol<SystemOp>("training");
  if (!training)
    return states;
  for (auto choice : training.getOps<ChoiceOp>()) {
    DictionaryAttr treatment = choice.getTreatmentAttr();
    auto share =
        treatment ? treatment.getAs<FloatAttr>("baseline") : FloatAttr();
    for (StringRef root : {"", ".penalty"})
      if (share)
        states[("state." + choice.getTarget() + root).str()] =
            share.getValueAsDouble();
  }
  return states;
}

bool fovea::attn::isPolicy(ChoiceOp choice) {
  DictionaryAttr treatment = choice.getTreatmentAttr();
  auto kind = treatment ? treatment.getAs<StringAttr>("kind") : StringAttr();
  return kind && kind.getValue() == "policy";
}

std::optional<Policy> fovea::attn::policyOf(ModuleOp module) {
  auto training = module.lookupSymbol<SystemOp>("training");
  if (!training)
    return std::nullopt;
  for (auto choice : training.getOps<ChoiceOp>()) {
    if (!isPolicy(choice))
      continue;
    DictionaryAttr treatment = choice.getTreatmentAttr();
    auto word = [&](StringRef key) {
      auto text = treatment.getAs<StringAttr>(key);
      return text ? text.str() : std::string();
    };
    auto number = [&](StringRef key) {
      auto value = treatment.getAs<FloatAttr>(key);
      return value ? value.getValueAsDouble() : 0;
    };
    return Policy{choice.getTarget().str(),
                  word("reward"),
                  word("equation"),
                  word("baseline"),
                  static_cast<int64_t>(number("samples")),
                  number("likelihood"),
                  choice.getLoc()};
  }
  return std::nullopt;
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
      system.emitError() << "there is no equation '" << name << "'";
      result = failure();
    }
  return result;
}

std::vector<std::string> fovea::attn::unreadEquations(SystemOp system) {
  SmallVector<Operation *> ops;
  llvm::DenseMap<Operation *, unsigned> number;
  for (Operation &op : system.getBody().front()) {
    number[&op] = ops.size();
    ops.push_back(&op);
  }
  SmallVector<SmallVector<unsigned>> reads(ops.size());
  for (auto [i, op] : llvm::enumerate(ops))
    op->walk([&, i = i](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (auto given = number.find(operand.getDefiningOp());
            given != number.end())
          reads[i].push_back(given->second);
    });
  llvm::DenseSet<unsigned> named;
  for (auto equation : system.getOps<EquationOp>())
    named.insert(number.lookup(equation.getValue().getDefiningOp()));

  // From readers to inputs: an array that a named one reads is not a separate
  // result.
  llvm::DenseSet<unsigned> isRead, unread;
  SmallVector<SmallVector<unsigned>> components =
      schedule::orderedComponents(reads);
  for (ArrayRef<unsigned> component : llvm::reverse(components)) {
    auto isIn = [&](const llvm::DenseSet<unsigned> &set) {
      return llvm::any_of(component,
                          [&](unsigned op) { return set.contains(op); });
    };
    bool wanted = isIn(isRead);
    if (!wanted && !isIn(named))
      continue;
    if (!wanted)
      unread.insert(component.begin(), component.end());
    for (unsigned op : component)
      isRead.insert(reads[op].begin(), reads[op].end());
  }
  std::vector<std::string> names;
  for (auto equation : system.getOps<EquationOp>()) {
    Operation *given = equation.getValue().getDefiningOp();
    if (!isa<DataOp, ParamOp>(given) && !isUpdate(equation.getTarget()) &&
        unread.contains(number.lookup(given)))
      names.push_back(equation.getTarget().str());
  }
  return names;
}

std::vector<std::string>
fovea::attn::equationsToGet(SystemOp training, ArrayRef<std::string> asked) {
  bool hasObjective = llvm::any_of(training.getOps(), [](Operation &op) {
    return isa<ChoiceOp, PenaltyOp>(op);
  });
  // Without an objective, the values are the result.
  return hasObjective || !asked.empty() ? asked.vec()
                                        : unreadEquations(training);
}
