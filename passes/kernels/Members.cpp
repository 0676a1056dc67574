//===- Members.cpp - equations become the members of a kernel -------------===//

#include "passes/kernels/Members.h"
#include "passes/analysis/Batch.h"

using namespace mlir;
using namespace fovea::attn;

bool fovea::attn::isLaunched(Operation &op) {
  return !isa<LengthOp, StepOp, ParamOp, DataOp, OutputOp, ReshapeOp, YieldOp>(
             op) &&
         op.getDialect()->getNamespace() != "arith";
}

SmallVector<Operation *> fovea::attn::launchedIn(KernelOp kernel) {
  SmallVector<Operation *> ops;
  for (Operation &op : kernel.getBody().front())
    if (isLaunched(op))
      ops.push_back(&op);
  return ops;
}

ArrayRef<int64_t> fovea::attn::sharedBy(ComputeOp member) {
  return member->getAttrOfType<DenseI64ArrayAttr>(sharedName).asArrayRef();
}

bool fovea::attn::isStrip(KernelOp kernel, ComputeOp member) {
  Value array = member.getResult();
  auto type = cast<ArrayType>(array.getType());
  ArrayRef<int64_t> shared = sharedBy(member);
  auto numShared = static_cast<int64_t>(shared.size());
  bool sumsRows =
      shared.back() >= static_cast<int64_t>(member.getNumParallel());
  // The results of nested loops are yielded, too.
  bool isYielded = llvm::any_of(array.getUsers(), llvm::IsaPred<YieldOp>);
  return member->getParentOp() == kernel && !isYielded && !sumsRows &&
         !array.use_empty() && type.getRank() == numShared + 1 &&
         type.getElementType().isF64() &&
         !llvm::is_contained(shared, numShared);
}

void fovea::attn::dropViews(SmallVectorImpl<Operation *> &run) {
  auto isMember = [&](Operation *user) {
    return llvm::any_of(run,
                        [&](Operation *op) { return op->isAncestor(user); });
  };
  Operation *last = *llvm::find_if(
      llvm::reverse(run), [](Operation *op) { return isLaunched(*op); });
  for (size_t i = run.size(); i-- > 0;) {
    Operation *op = run[i];
    if (isLaunched(*op) || llvm::any_of(op->getUsers(), isMember))
      continue;
    run.erase(run.begin() + i);
    op->moveAfter(last);
  }
}

KernelOp fovea::attn::makeKernel(Schedule schedule, ArrayRef<Operation *> ops,
                                 Attribute over) {
  SmallVector<Value> given;
  SmallVector<Type> types;
  SmallVector<Location> places;
  auto isMember = [&](Operation *user) {
    Operation *own = ops.front()->getBlock()->findAncestorOpInBlock(*user);
    return llvm::is_contained(ops, own);
  };
  for (Operation *op : ops) {
    places.push_back(op->getLoc());
    for (Value result : op->getResults())
      if (!llvm::all_of(result.getUsers(), isMember)) {
        given.push_back(result);
        types.push_back(result.getType());
      }
  }
  OpBuilder builder(ops.back());
  builder.setInsertionPointAfter(ops.back());
  auto kernel = KernelOp::create(builder, ops.front()->getLoc(), types,
                                 schedule, over, ArrayAttr(), IntegerAttr());
  Block &body = kernel.getBody().emplaceBlock();
  for (auto [result, value] : llvm::zip_equal(kernel.getResults(), given))
    value.replaceUsesWithIf(
        result, [&](OpOperand &use) { return !isMember(use.getOwner()); });
  for (Operation *op : ops)
    op->moveBefore(&body, body.end());
  builder.setInsertionPointToEnd(&body);
  YieldOp::create(builder, kernel.getLoc(), given);
  return kernel;
}
