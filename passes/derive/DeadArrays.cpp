//===- DeadArrays.cpp - drops what nobody asks for ------------------------===//
//
// Mark and sweep: a recurrence uses itself, so looking for unused arrays would
// miss it.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fovea::attn;

static bool isLatent(Operation &op) {
  auto choice = dyn_cast<ChoiceOp>(op);
  return choice && choice.getLatent();
}

void fovea::attn::eraseDeadArrays(SystemOp system, bool withLatents) {
  Block &body = system.getBody().front();
  llvm::SetVector<Operation *> live;
  for (Operation &op : body)
    if (!isMemoryEffectFree(&op) && !(withLatents && isLatent(op)))
      live.insert(&op);
  for (unsigned i = 0; i < live.size(); ++i)
    live[i]->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *given = operand.getDefiningOp())
          if (given->getBlock() == &body)
            live.insert(given);
    });
  SmallVector<Operation *> dead;
  for (Operation &op : body)
    if (!live.contains(&op))
      dead.push_back(&op);
  for (Operation *op : dead)
    op->dropAllReferences();
  for (Operation *op : dead)
    op->dropAllUses();
  for (Operation *op : dead)
    op->erase();
}
