//===- Differentiate.cpp - adds the equations of the gradients ------------===//
//
// Decides which arrays have an adjoint and sums the contributions; each op
// defines its own contribution (AdjointInterface). Like anything in a system,
// an adjoint may be read before it is defined, so ops may be visited in any
// order.
//
//===----------------------------------------------------------------------===//

#include "dialect/adjoints/Names.h"
#include "dialect/adjoints/Scalars.h"
#include "passes/Passes.h"
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

static bool isReal(Value value) {
  auto type = dyn_cast<ArrayType>(value.getType());
  return type && type.getElementType().isF64();
}

/// Calls `visit` with each f64 array through which a change reaches the body's
/// result, in the order of the reads.
static void forEachSource(ComputeOp op, llvm::function_ref<void(Value)> visit) {
  llvm::SetVector<Value> flows;
  auto follow = [&](Value value) {
    if (value && value.getType().isF64())
      flows.insert(value);
  };
  follow(op.getYielded());
  for (unsigned i = 0; i < flows.size(); ++i) {
    Operation *def = flows[i].getDefiningOp();
    if (!def || isFlat(def))
      continue;
    if (auto read = dyn_cast<ReadOp>(def)) {
      follow(read.getOtherwise());
    } else if (auto choice = dyn_cast<scf::IfOp>(def)) {
      unsigned number = cast<OpResult>(flows[i]).getResultNumber();
      follow(choice.thenYield().getOperand(number));
      follow(choice.elseYield().getOperand(number));
    } else {
      llvm::for_each(def->getOperands(), follow);
    }
  }
  op.getBody().walk([&](ReadOp read) {
    if (!flows.contains(read.getResult()))
      return;
    visit(read.getArray());
    for (Value alternative : read.getAlternatives())
      visit(alternative);
  });
}

/// The same of any op.
static void forEachSource(Operation *op,
                          llvm::function_ref<void(Value)> visit) {
  if (auto compute = dyn_cast<ComputeOp>(op))
    return forEachSource(compute, visit);
  for (Value operand : op->getOperands())
    if (isReal(operand))
      visit(operand);
}

namespace {
/// Differentiates the outputs of one system.
class SystemAdjoint {
public:
  SystemAdjoint(SystemOp system, ArrayRef<std::string> by)
      : system(system), by(by), builder(OpBuilder::atBlockEnd(block())) {}

  LogicalResult run();

private:
  Block *block() { return &system.getBody().front(); }
  bool isGivenBy(DataOp data) const {
    return llvm::is_contained(by, data.getSource()) && isReal(data.getResult());
  }
  void findActive();
  LogicalResult contribute();
  void addUp();
  /// The sum of arrays of the type of `array`; without any, zeros.
  Value sum(Value array, ArrayRef<Value> parts);

  SystemOp system;
  /// Data to differentiate with respect to, in addition to all parameters.
  ArrayRef<std::string> by;
  OpBuilder builder;
  /// The objective's terms and their weights.
  SmallVector<std::pair<Value, StringRef>> roots;
  /// Arrays that depend on a differentiated input, and on which the objective
  /// depends.
  llvm::SetVector<Value> active;
  /// Placeholders for the adjoints until all contributions are known.
  llvm::MapVector<Value, Value> placeholders;
  llvm::DenseMap<Value, SmallVector<Value>> contributions;
};
} // namespace

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

void SystemAdjoint::findActive() {
  llvm::DenseMap<Value, SmallVector<Operation *>> readers;
  for (Operation &op : *block())
    forEachSource(&op, [&](Value source) { readers[source].push_back(&op); });
  // Forward from the differentiated inputs.
  llvm::DenseSet<Value> varied;
  SmallVector<Value> worklist;
  auto vary = [&](Operation *op) {
    for (Value result : op->getResults())
      if (isReal(result) && varied.insert(result).second)
        worklist.push_back(result);
  };
  for (ParamOp param : system.getOps<ParamOp>())
    vary(param);
  for (DataOp data : system.getOps<DataOp>())
    if (isGivenBy(data))
      vary(data);
  while (!worklist.empty())
    for (Operation *reader : readers.lookup(worklist.pop_back_val()))
      vary(reader);
  // Back from the objective.
  auto need = [&](Value value) {
    if (varied.contains(value) && active.insert(value))
      worklist.push_back(value);
  };
  for (auto &[root, seed] : roots)
    need(root);
  while (!worklist.empty())
    if (Operation *op = worklist.pop_back_val().getDefiningOp())
      forEachSource(op, need);
}

LogicalResult SystemAdjoint::contribute() {
  for (Value array : active) {
    Location loc = array.getLoc();
    placeholders[array] = UnrealizedConversionCastOp::create(
                              builder, loc, array.getType(), ValueRange())
                              .getResult(0);
  }
  for (auto &[root, name] : roots) {
    if (!active.contains(root))
      continue;
    Value seed = DataOp::create(builder, root.getLoc(), root.getType(), name);
    contributions[root].push_back(seed);
  }
  for (auto &[array, adjoint] : placeholders) {
    Operation *op = array.getDefiningOp();
    if (isa<ParamOp, DataOp>(op))
      continue;
    auto differentiable = dyn_cast<AdjointInterface>(op);
    if (!differentiable)
      return op->emitError() << "'" << op->getName()
                             << "' has no adjoint, but the objective depends "
                                "on a parameter through it";
    Operation *last = &block()->back();
    if (failed(differentiable.buildAdjoint(
            builder, adjoint,
            [&](Value source) { return active.contains(source); },
            [&](Value source, Value part) {
              contributions[source].push_back(part);
              markPart(part.getDefiningOp(), source);
            })))
      return failure();
    for (Operation &made :
         llvm::make_range(std::next(last->getIterator()), block()->end()))
      if (!made.hasAttr("attn.part"))
        markPart(&made, array);
  }
  return success();
}

Value SystemAdjoint::sum(Value array, ArrayRef<Value> parts) {
  if (parts.size() == 1)
    return parts.front();
  ArrayRef<Attribute> extents =
      cast<ArrayType>(array.getType()).getShape().getValue();
  Location loc = array.getLoc();
  auto compute = ComputeOp::create(
      builder, loc, labelFor("d ", array), axisNames(array), extents, {},
      extents.size(), Reducer::none, builder.getF64Type());
  OpBuilder body = OpBuilder::atBlockBegin(&compute.getBody().front());
  Value total;
  if (parts.empty())
    total = arith::ConstantOp::create(body, loc, body.getF64FloatAttr(0.0));
  for (Value part : parts) {
    Value read =
        ReadOp::create(body, loc, part, compute.getBody().getArguments());
    total = total ? arith::AddFOp::create(body, loc, total, read) : read;
  }
  YieldOp::create(body, loc, total);
  markPart(compute, array);
  return compute.getResult();
}

void SystemAdjoint::addUp() {
  llvm::DenseMap<Value, Value> adjoints;
  for (auto &[array, placeholder] : placeholders) {
    Value adjoint = sum(array, contributions[array]);
    adjoints[array] = adjoint;
    placeholder.replaceAllUsesWith(adjoint);
    placeholder.getDefiningOp()->erase();
  }
  llvm::MapVector<StringRef, SmallVector<Value>> gradients;
  llvm::DenseMap<StringRef, Value> params;
  for (ParamOp param : system.getOps<ParamOp>()) {
    params[param.getPath()] = param.getResult();
    Value adjoint = adjoints.lookup(param.getResult());
    gradients[param.getPath()];
    if (adjoint)
      gradients[param.getPath()].push_back(adjoint);
  }
  // A parameter that occurs twice has one gradient.
  for (auto &[path, parts] : gradients) {
    Value gradient = sum(params[path], parts);
    OutputOp::create(builder, params[path].getLoc(),
                     "grad/" + fovea::runtime::originalName(path.str()),
                     gradient);
  }
  for (DataOp data : llvm::to_vector(system.getOps<DataOp>())) {
    if (!isGivenBy(data))
      continue;
    Value adjoint = adjoints.lookup(data.getResult());
    if (!adjoint)
      adjoint = sum(data.getResult(), {});
    OutputOp::create(builder, data.getLoc(),
                     ("adjoint/" + data.getSource()).str(), adjoint);
  }
}

LogicalResult SystemAdjoint::run() {
  llvm::StringSet<> given;
  for (OutputOp output : system.getOps<OutputOp>())
    given.insert(output.getTarget());
  for (OutputOp output : system.getOps<OutputOp>()) {
    StringRef term = output.getTarget(), seed;
    // A surrogate for a term of the objective gets its gradient.
    if (given.contains(("surrogate." + term).str()))
      continue;
    term.consume_front("surrogate.");
    if (term == "nll")
      seed = "seed.nll";
    else if (term == "penalty")
      seed = "seed.penalty";
    else if (term == "policy")
      seed = "state.policy";
    else
      continue;
    auto type = cast<ArrayType>(output.getValue().getType());
    if (type.getRank() != 0 || !type.getElementType().isF64())
      return output.emitError()
             << "the objective's term '" << output.getTarget()
             << "' is one number, but this is " << type;
    roots.push_back({output.getValue(), seed});
  }
  if (roots.empty())
    return system.emitError()
           << "nothing to differentiate: the system has no output 'nll'";
  findActive();
  if (failed(contribute()))
    return failure();
  addUp();
  return success();
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
    SystemAdjoint adjoint(grad, by);
    if (failed(adjoint.run())) {
      grad.erase();
      signalPassFailure();
    }
  }
};
} // namespace
