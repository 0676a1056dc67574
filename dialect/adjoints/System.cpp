//===- System.cpp - the adjoints of the arrays of a block -----------------===//

#include "dialect/adjoints/System.h"
#include "dialect/adjoints/Names.h"
#include "dialect/adjoints/Scalars.h"

using namespace mlir;
using namespace fovea::attn;

bool fovea::attn::isReal(Value value) {
  auto type = dyn_cast<ArrayType>(value.getType());
  return type && type.getElementType().isF64();
}

//===----------------------------------------------------------------------===//
// What a change reaches
//===----------------------------------------------------------------------===//

/// The arrays through which a change reaches the body's result, in the order of
/// the reads.
static void forEachRead(ComputeOp op, llvm::function_ref<void(Value)> visit) {
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

void fovea::attn::forEachSource(Operation *op,
                                llvm::function_ref<void(Value)> visit) {
  if (auto compute = dyn_cast<ComputeOp>(op))
    return forEachRead(compute, visit);
  for (Value operand : op->getOperands())
    if (isReal(operand))
      visit(operand);
}

llvm::SetVector<Value> fovea::attn::arraysBetween(Block *block,
                                                  ArrayRef<Value> inputs,
                                                  ArrayRef<Value> roots) {
  llvm::DenseMap<Value, SmallVector<Operation *>> readers;
  for (Operation &op : *block)
    forEachSource(&op, [&](Value source) { readers[source].push_back(&op); });
  // Forward from the inputs.
  llvm::DenseSet<Value> varied(inputs.begin(), inputs.end());
  SmallVector<Value> worklist(inputs);
  while (!worklist.empty())
    for (Operation *reader : readers.lookup(worklist.pop_back_val()))
      for (Value result : reader->getResults())
        if (isReal(result) && varied.insert(result).second)
          worklist.push_back(result);
  // Back from the roots.
  llvm::SetVector<Value> active;
  auto need = [&](Value value) {
    if (varied.contains(value) && active.insert(value))
      worklist.push_back(value);
  };
  llvm::for_each(roots, need);
  while (!worklist.empty())
    if (Operation *op = worklist.pop_back_val().getDefiningOp())
      forEachSource(op, need);
  return active;
}

//===----------------------------------------------------------------------===//
// Contributions
//===----------------------------------------------------------------------===//

LogicalResult SystemAdjoint::contribute(Value array, Value adjoint) {
  Operation *op = array.getDefiningOp();
  auto differentiable = dyn_cast<AdjointInterface>(op);
  if (!differentiable)
    return op->emitError() << "'" << op->getName()
                           << "' has no adjoint, but the objective depends "
                              "on a parameter through it";
  Operation *last = &block->back();
  if (failed(differentiable.buildAdjoint(
          builder, adjoint,
          [&](Value source) { return active.contains(source); },
          [&](Value source, Value part) {
            contributions[source].push_back(part);
            mark(part.getDefiningOp(), source);
          })))
    return failure();
  for (Operation &made :
       llvm::make_range(std::next(last->getIterator()), block->end()))
    mark(&made, array);
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
  mark(compute, array);
  return compute.getResult();
}

LogicalResult SystemAdjoint::build(ArrayRef<Value> roots,
                                   ArrayRef<Value> inputs,
                                   llvm::function_ref<Value(unsigned)> seedOf) {
  active = arraysBetween(block, inputs, roots);
  // Placeholders for the adjoints until all contributions are known.
  llvm::MapVector<Value, Value> placeholders;
  for (Value array : active)
    placeholders[array] =
        UnrealizedConversionCastOp::create(builder, array.getLoc(),
                                           array.getType(), ValueRange())
            .getResult(0);
  for (auto [number, root] : llvm::enumerate(roots))
    if (active.contains(root))
      contributions[root].push_back(seedOf(number));
  for (auto &[array, adjoint] : placeholders)
    if (!isa<ParamOp, DataOp>(array.getDefiningOp()) &&
        failed(contribute(array, adjoint)))
      return failure();
  for (auto &[array, placeholder] : placeholders) {
    Value adjoint = sum(array, contributions[array]);
    adjoints[array] = adjoint;
    placeholder.replaceAllUsesWith(adjoint);
    placeholder.getDefiningOp()->erase();
  }
  return success();
}
