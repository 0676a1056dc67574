//===- Interpreter.cpp - evaluates a system or a program ------------------===//
//
// Shared by both evaluators: which arrays are results, the value of a choice
// outside any search, and the objective of the choices.
//
//===----------------------------------------------------------------------===//

#include "dialect/reference/Interpreter.h"
#include "dialect/reference/System.h"

#include <fmt/format.h>

using namespace mlir;
using namespace fovea;
using namespace fovea::reference;

Operation *reference::findContainer(ModuleOp module, StringRef name) {
  Operation *found = SymbolTable::lookupSymbolIn(module, name);
  return isa_and_nonnull<attn::SystemOp, attn::ProgramOp>(found) ? found
                                                                 : nullptr;
}

namespace {
/// Sums the contributions of a container's choices and penalties.
struct Objective {
  double nll = 0, logp = 0, penalty = 0, choices = 0;
  double smooth = 0;

  explicit Objective(Operation *container) {
    auto module = container->getParentOfType<ModuleOp>();
    auto train =
        module ? module->getAttrOfType<DictionaryAttr>("attn.train") : nullptr;
    if (train)
      if (auto value = train.getAs<FloatAttr>("smooth"))
        smooth = value.getValueAsDouble();
  }

  /// `weight`: how often it counts. A choice of later places (`isAhead`) is
  /// part of what is trained alone.
  Status add(const ChoiceDistribution &distribution, ArrayRef<double> value,
             double weight, bool isAhead) {
    if (!isAhead)
      choices += weight;
    double one;
    if (Status status = distribution.logp(value, one);
        status.failed() || weight == 0)
      return status;
    if (!isAhead)
      logp += weight * one;
    // Smoothing gives every symbol a share of the target.
    ArrayRef<double> symbols = distribution.symbols();
    if (smooth == 0 || !distribution.isCategorical()) {
      nll -= weight * one;
      return Status::success();
    }
    double mean = 0;
    for (double symbol : symbols)
      mean += symbol / symbols.size();
    nll -= weight * ((1 - smooth) * one + smooth * mean);
    return Status::success();
  }

  void store(Arrays &outputs) const {
    outputs["nll"] = Array::scalar(nll);
    outputs["logp"] = Array::scalar(logp);
    outputs["choices"] = Array::scalar(choices);
    outputs["penalty"] = Array::scalar(penalty);
  }
};

/// The names of results: all outputs, and the requested equations.
struct Wanted {
  const EvaluateOptions &options;
  bool equation(StringRef name) const {
    return options.everyEquation ||
           llvm::is_contained(options.equations, name.str());
  }
};
} // namespace

static Status checkRequest(Operation *container,
                           const EvaluateOptions &options) {
  for (const std::string &name : options.equations) {
    bool known = false;
    for (Operation &op : container->getRegion(0).getOps())
      if (isa<attn::EquationOp, attn::OutputOp>(op))
        known |= op.getAttrOfType<StringAttr>("target").getValue() == name;
    if (!known)
      return Status::error(fmt::format("there is no equation '{}'", name));
  }
  if (options.objective)
    for (auto choice : container->getRegion(0).getOps<attn::ChoiceOp>())
      if (choice.getLatent())
        return Status::error(
            fmt::format("the objective of the latent '{}' needs an estimator",
                        choice.getTarget().str()),
            placeOf(choice));
  return Status::success();
}

static Status evaluateSystem(Operation *container, const Inputs &inputs,
                             Arrays &outputs, const EvaluateOptions &options) {
  Wanted wanted{options};
  SmallVector<Value> arrays;
  SmallVector<std::pair<std::string, Value>> results;
  SmallVector<attn::ChoiceOp> observed;
  SmallVector<Value> penalties;
  for (Operation &op : container->getRegion(0).getOps()) {
    auto equation = dyn_cast<attn::EquationOp>(op);
    auto choice = dyn_cast<attn::ChoiceOp>(op);
    if (isa<attn::OutputOp>(op) ||
        (equation && wanted.equation(equation.getTarget()))) {
      results.push_back(
          {op.getAttrOfType<StringAttr>("target").str(), op.getOperand(0)});
      arrays.push_back(op.getOperand(0));
    } else if (isa<attn::PenaltyOp>(op) && options.objective) {
      penalties.push_back(op.getOperand(0));
      arrays.push_back(op.getOperand(0));
    } else if (choice && choice.getObserved() && options.objective) {
      observed.push_back(choice);
      arrays.append(op.operand_begin(), op.operand_end());
    }
  }
  SystemEvaluator evaluator(container, inputs);
  if (Status status = evaluator.start(arrays); status.failed())
    return status;
  for (const auto &[name, value] : results)
    if (Status status = evaluator.demandAll(value, outputs[name]);
        status.failed())
      return status;
  if (!options.objective)
    return Status::success();
  Objective objective(container);
  for (Value penalty : penalties) {
    Array array;
    if (Status status = evaluator.demandAll(penalty, array); status.failed())
      return status;
    for (double value : array.values)
      objective.penalty += value;
  }
  for (attn::ChoiceOp op : observed) {
    auto type = cast<attn::ArrayType>(op.getObserved().getType());
    Array given;
    if (Status status = evaluator.demandAll(op.getObserved(), given);
        status.failed())
      return status;
    Array weights = Array::scalar(1);
    if (op.getWeight())
      if (Status status = evaluator.demandAll(op.getWeight(), weights);
          status.failed())
        return status;
    int64_t size = numChoiceAxes(op) < given.shape.size() ? 2 : 1;
    for (size_t first = 0; first < given.values.size(); first += size) {
      if (!evaluator.lengths.isInside(type, indicesOf(first, given.shape),
                                      [](StringRef) { return 0; }))
        continue;
      ChoiceDistribution distribution;
      if (Status status =
              evaluator.demandDistribution(op, first / size, distribution);
          status.failed())
        return status;
      if (Status status = objective.add(
              distribution, ArrayRef(given.values).slice(first, size),
              weights.values[weights.rank() == 0 ? 0 : first / size],
              op->hasAttr("attn.ahead"));
          status.failed())
        return status;
    }
  }
  objective.store(outputs);
  return Status::success();
}

static Status evaluateProgram(Operation *container, const Inputs &inputs,
                              Arrays &outputs, const EvaluateOptions &options) {
  Wanted wanted{options};
  Machine machine(container, inputs);
  if (options.rounding)
    machine.rounding.emplace(*options.rounding);
  machine.isWanted = [&](StringRef name) { return wanted.equation(name); };
  machine.onChoice = [&](attn::ChoiceOp op, Environment &environment,
                         Array &result) {
    return machine.eachChoice(
        op, environment,
        [&](int64_t group, const ChoiceDistribution &distribution) {
          std::vector<double> value = distribution.mode();
          std::copy(value.begin(), value.end(),
                    result.values.begin() + group * value.size());
          return Status::success();
        });
  };
  Environment environment;
  if (Status status = machine.start(environment); status.failed())
    return status;
  Block &block = container->getRegion(0).front();
  if (Status status = machine.executeBlock(block, environment); status.failed())
    return status;
  outputs.merge(environment.outputs);
  if (!options.objective)
    return Status::success();
  Objective objective(container);
  for (Operation &op : block) {
    ArrayPtr array;
    if (isa<attn::PenaltyOp>(op)) {
      array = machine.find(op.getOperand(0), environment);
      for (double value : array->values)
        objective.penalty += value;
    }
    auto choice = dyn_cast<attn::ChoiceOp>(op);
    if (!choice || !choice.getObserved())
      continue;
    array = machine.find(choice.getObserved(), environment);
    ArrayPtr weights = choice.getWeight()
                           ? machine.find(choice.getWeight(), environment)
                           : std::make_shared<const Array>(Array::scalar(1));
    if (Status status = machine.eachChoice(
            choice, environment,
            [&](int64_t group, const ChoiceDistribution &distribution) {
              int64_t size = distribution.valueSize();
              return objective.add(
                  distribution,
                  ArrayRef(array->values).slice(group * size, size),
                  weights->values[weights->rank() == 0 ? 0 : group],
                  op.hasAttr("attn.ahead"));
            });
        status.failed())
      return status;
  }
  objective.store(outputs);
  return Status::success();
}

Status reference::evaluate(Operation *container, const Inputs &inputs,
                           Arrays &outputs, const EvaluateOptions &options) {
  outputs.clear();
  if (Status status = checkRequest(container, options); status.failed())
    return status;
  Status status = isa<attn::SystemOp>(container)
                      ? evaluateSystem(container, inputs, outputs, options)
                      : evaluateProgram(container, inputs, outputs, options);
  if (status.failed())
    outputs.clear();
  return status;
}
