//===- Members.cpp - equations become the members of a kernel -------------===//

#include "passes/kernels/Members.h"
#include "passes/batch/Batch.h"

using namespace mlir;
using namespace fovea::attn;

KernelOp fovea::attn::makeKernel(Schedule schedule, ArrayRef<Operation *> ops) {
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
                                 schedule, Attribute(), ArrayAttr());
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
