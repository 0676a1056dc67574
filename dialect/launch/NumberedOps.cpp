//===- NumberedOps.cpp - the ops of a program by number -------------------===//

#include "dialect/launch/NumberedOps.h"

using namespace mlir;
using namespace fovea;

static void addOps(Block &block, SmallVectorImpl<Operation *> &ops) {
  for (Operation &op : block) {
    ops.push_back(&op);
    if (isa<attn::ScanOp, attn::KernelOp>(op))
      addOps(op.getRegion(0).front(), ops);
  }
}

SmallVector<Operation *> launch::numberedOps(attn::ProgramOp program) {
  SmallVector<Operation *> ops;
  addOps(program.getBody().front(), ops);
  return ops;
}
