//===- Blocks.cpp - the threads of a block --------------------------------===//

#include "targets/nvidia/Blocks.h"

using namespace mlir;
using namespace fovea::attn;

static constexpr StringLiteral threadsName = "attn.threads";

std::optional<int64_t> fovea::attn::threadsOf(Operation *op) {
  auto threads = op->getAttrOfType<IntegerAttr>(threadsName);
  return threads ? std::optional(threads.getInt()) : std::nullopt;
}

void fovea::attn::setThreads(Operation *op, int64_t threads) {
  op->setAttr(threadsName,
              Builder(op->getContext()).getI64IntegerAttr(threads));
}

LogicalResult fovea::attn::verifyThreads(Operation *op, NamedAttribute named) {
  if (named.getName() != threadsName)
    return success();
  if (named.getValue() !=
      Builder(op->getContext()).getI64IntegerAttr(threadsOfWarp))
    return op->emitOpError() << "block size must be " << threadsOfWarp
                             << " (one warp), got " << named.getValue();
  if (!isa<ComputeOp>(op) || op->hasAttr("attn.product"))
    return op->emitOpError() << "only an equation computed without tiles can "
                                "have blocks of one warp";
  // A block of a loop, or of several equations, has one size.
  if (!isa<ProgramOp>(op->getParentOp()))
    return op->emitOpError()
           << "has blocks of a warp but is part of '"
           << op->getParentOp()->getName() << "', whose blocks have one size";
  return success();
}
