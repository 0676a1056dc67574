//===- Blocks.cpp - the threads of a block --------------------------------===//

#include "targets/nvidia/Blocks.h"

using namespace mlir;
using namespace fovea::attn;

std::optional<int64_t> fovea::attn::threadsOf(Operation *op) {
  auto block = op->getAttrOfType<NvidiaBlockAttr>(configName);
  return block ? std::optional(block.getThreads()) : std::nullopt;
}

void fovea::attn::setThreads(Operation *op, int64_t threads) {
  op->setAttr(configName, NvidiaBlockAttr::get(op->getContext(), threads));
}

LogicalResult NvidiaBlockAttr::verifyConfig(Operation *op) const {
  if (getThreads() != threadsOfWarp)
    return op->emitOpError() << "block size must be " << threadsOfWarp
                             << " (one warp), got " << getThreads();
  if (!isa<ComputeOp>(op) || op->hasAttr("attn.product"))
    return op->emitOpError() << "only an equation computed without tiles can "
                                "have blocks of one warp";
  // A block of a loop over time, or of other kernels, has one size.
  Operation *parent = op->getParentOp();
  if (auto kernel = dyn_cast<KernelOp>(parent);
      kernel && kernel.getSchedule() == Schedule::loop)
    parent = kernel->getParentOp();
  if (!isa<ProgramOp>(parent))
    return op->emitOpError()
           << "has blocks of a warp but is part of '"
           << op->getParentOp()->getName() << "', whose blocks have one size";
  return success();
}
