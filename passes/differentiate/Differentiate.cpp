//===- Differentiate.cpp - adds the equations of the gradients ------------===//
//
// Differentiates the objective with respect to all parameters, and to data on
// request. SystemAdjoint makes the equations.
//
//===----------------------------------------------------------------------===//

#include "dialect/adjoints/Names.h"
#include "dialect/adjoints/System.h"
#include "passes/Passes.h"
#include "passes/analysis/Equations.h"
#include "passes/analysis/Graph.h"
#include "runtime/data/Quantise.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace fovea::attn {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

/// Determines, for each unnamed array, the equation that it is a part of. Its
/// adjoint is then a part of the equation's adjoint.
static void nameParts(SystemOp loss) {
  schedule::Graph graph(loss);
  Builder builder(loss.getContext());
  for (Operation *op : graph.getNodes())
    if (schedule::Graph::ownName(op).empty() && !graph.getName(op).empty())
      op->setAttr("attn.part", builder.getStringAttr(graph.getName(op)));
}

/// Marks `part` as a part of the adjoint of `array`, unless a named array
/// is.
static void markPart(Operation *part, Value array) {
  auto whole = array.getDefiningOp()->getAttrOfType<StringAttr>("attn.part");
  if (whole && schedule::Graph::ownName(part).empty())
    part->setAttr("attn.part",
                  StringAttr::get(part->getContext(), "d " + whole.getValue()));
}

/// Marks a new op as a part of the adjoint of `array`, unless it is marked.
static void markNew(Operation *made, Value array) {
  if (!made->hasAttr("attn.part"))
    markPart(made, array);
}

namespace {
/// The objective's terms, and the data that their weights are.
struct Objective {
  SmallVector<Value> terms;
  SmallVector<StringRef> weights;
};
} // namespace

static FailureOr<Objective> objectiveOf(SystemOp system) {
  Objective objective;
  llvm::StringSet<> given;
  for (OutputOp output : system.getOps<OutputOp>())
    given.insert(output.getTarget());
  for (OutputOp output : system.getOps<OutputOp>()) {
    StringRef term = output.getTarget(), weight;
    // A surrogate for a term of the objective gets its gradient.
    if (given.contains(("surrogate." + term).str()))
      continue;
    term.consume_front("surrogate.");
    if (term == "nll")
      weight = "seed.nll";
    else if (term == "penalty")
      weight = "seed.penalty";
    else if (term == "policy")
      weight = "state.policy";
    else
      continue;
    auto type = cast<ArrayType>(output.getValue().getType());
    if (type.getRank() != 0 || !type.getElementType().isF64())
      return output.emitError()
             << "the objective's term '" << output.getTarget()
             << "' is one number, but this is " << type;
    objective.terms.push_back(output.getValue());
    objective.weights.push_back(weight);
  }
  if (objective.terms.empty())
    return system.emitError()
           << "nothing to differentiate: the system has no output 'nll'";
  return objective;
}

/// Takes the updates of states out of a system: their values by the states'
/// names. A mean over the examples has the weight of a penalty.
static llvm::StringMap<Value> takeUpdates(SystemOp system) {
  llvm::StringMap<Value> updates;
  OpBuilder builder = OpBuilder::atBlockEnd(&system.getBody().front());
  Value weight;
  for (OutputOp output : llvm::to_vector(system.getOps<OutputOp>())) {
    StringRef name = output.getTarget();
    bool isOnce = name.consume_front("update.once/");
    if (!isOnce && !name.consume_front("update/"))
      continue;
    Value value = output.getValue();
    output.erase();
    if (isOnce) {
      updates[name] = value;
      continue;
    }
    Location loc = value.getLoc();
    auto type = cast<ArrayType>(value.getType());
    if (!weight)
      weight =
          DataOp::create(builder, loc, ArrayType::get({}, builder.getF64Type()),
                         "seed.penalty");
    auto compute =
        ComputeOp::create(builder, loc, labelFor("d ", value), axisNames(value),
                          type.getShape().getValue(), {}, type.getRank(),
                          Reducer::none, builder.getF64Type());
    OpBuilder body = OpBuilder::atBlockBegin(&compute.getBody().front());
    Value element =
        ReadOp::create(body, loc, value, compute.getBody().getArguments());
    Value share = ReadOp::create(body, loc, weight, ValueRange());
    YieldOp::create(
        body, loc,
        arith::MulFOp::create(body, loc, element, share).getResult());
    updates[name] = compute.getResult();
  }
  return updates;
}

/// Adds the gradients of all parameters to a system, and the adjoints of the
/// data named `by`. A state has its update in the place of a gradient.
static LogicalResult differentiate(SystemOp system, ArrayRef<std::string> by) {
  FailureOr<Objective> objective = objectiveOf(system);
  if (failed(objective))
    return failure();
  auto isGivenBy = [&](DataOp data) {
    return llvm::is_contained(by, data.getSource()) && isReal(data.getResult());
  };
  llvm::StringMap<Value> updates = takeUpdates(system);
  SmallVector<Value> inputs;
  for (ParamOp param : system.getOps<ParamOp>())
    if (!updates.contains(param.getPath()))
      inputs.push_back(param.getResult());
  for (DataOp data : system.getOps<DataOp>())
    if (isGivenBy(data))
      inputs.push_back(data.getResult());
  SystemAdjoint adjoint(&system.getBody().front(), markNew);
  OpBuilder &builder = adjoint.getBuilder();
  auto weight = [&](unsigned number) -> Value {
    Value term = objective->terms[number];
    return DataOp::create(builder, term.getLoc(), term.getType(),
                          objective->weights[number]);
  };
  if (failed(adjoint.build(objective->terms, inputs, weight)))
    return failure();

  llvm::MapVector<StringRef, SmallVector<Value>> gradients;
  llvm::DenseMap<StringRef, Value> params;
  for (ParamOp param : system.getOps<ParamOp>()) {
    params[param.getPath()] = param.getResult();
    gradients[param.getPath()];
    if (Value update = updates.lookup(param.getPath())) {
      gradients[param.getPath()] = {update};
      continue;
    }
    if (Value part = adjoint.lookup(param.getResult()))
      gradients[param.getPath()].push_back(part);
  }
  // A parameter that occurs twice has one gradient.
  for (auto &[path, parts] : gradients) {
    Value gradient = adjoint.sum(params[path], parts);
    OutputOp::create(builder, params[path].getLoc(),
                     "grad/" + fovea::runtime::originalName(path.str()),
                     gradient);
  }
  for (DataOp data : llvm::to_vector(system.getOps<DataOp>())) {
    if (!isGivenBy(data))
      continue;
    Value gradient = adjoint.lookup(data.getResult());
    if (!gradient)
      gradient = adjoint.sum(data.getResult(), {});
    OutputOp::create(builder, data.getLoc(),
                     ("adjoint/" + data.getSource()).str(), gradient);
  }
  return success();
}

/// States are updated with the gradients, and not where only the loss is
/// computed.
static void dropUpdates(SystemOp loss) {
  bool isChanged = false;
  for (OutputOp output : llvm::to_vector(loss.getOps<OutputOp>()))
    if (isUpdate(output.getTarget())) {
      output.erase();
      isChanged = true;
    }
  if (isChanged)
    eraseDeadArrays(loss);
}

/// Estimates for an update are reported by the update.
static void useEstimates(SystemOp grad) {
  bool isChanged = false;
  llvm::StringMap<OutputOp> outputs;
  for (OutputOp output : grad.getOps<OutputOp>())
    outputs[output.getTarget()] = output;
  for (StringRef term : {"nll", "logp"}) {
    OutputOp estimate = outputs.lookup(("estimate." + term).str());
    if (!estimate)
      continue;
    outputs[term].getValueMutable().assign(estimate.getValue());
    estimate.erase();
    isChanged = true;
  }
  if (isChanged)
    eraseDeadArrays(grad);
}

namespace {
struct Differentiate : fovea::attn::impl::DifferentiateBase<Differentiate> {
  using DifferentiateBase::DifferentiateBase;

  void runOnOperation() override {
    auto loss = getOperation().lookupSymbol<SystemOp>("loss");
    if (!loss)
      return;
    nameParts(loss);
    OpBuilder builder(loss->getContext());
    builder.setInsertionPointAfter(loss);
    auto grad = cast<SystemOp>(builder.clone(*loss));
    grad.setSymName("grad");
    useEstimates(grad);
    dropUpdates(loss);
    if (failed(differentiate(grad, by))) {
      grad.erase();
      signalPassFailure();
    }
  }
};
} // namespace
