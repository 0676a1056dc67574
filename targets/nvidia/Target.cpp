//===- Target.cpp - what a GPU of NVIDIA decides --------------------------===//

#include "targets/nvidia/Target.h"
#include "mlir/IR/DialectImplementation.h"
#include "targets/nvidia/AttentionCopies.h"
#include "targets/nvidia/Groups.h"
#include "targets/nvidia/KeepLoops.h"
#include "targets/nvidia/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fovea::attn;

#include "targets/nvidia/Dialect.cpp.inc"
#include "targets/nvidia/Enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "targets/nvidia/Attributes.cpp.inc"

void NvidiaDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "targets/nvidia/Attributes.cpp.inc"
      >();
}

NvidiaTargetAttr fovea::attn::nvidiaTargetOf(Operation *op) {
  return dyn_cast<NvidiaTargetAttr>(TargetAttr::of(op));
}

void NvidiaTargetAttr::addPasses(Stage stage, AddPass add) const {
  switch (stage) {
  case Stage::beforeStrips:
    // For rounded products, and before the pass that recomputes pairs.
    add(createSplitAdjoints());
    return;
  case Stage::afterStrips:
    // For strips with rounded products.
    add(createTileKeys());
    // For what strips have left.
    add(createFormPlaces());
    // After that: sums have moved together.
    add(createFormSums());
    return;
  case Stage::afterKernels:
    // For ops with units.
    add(createChooseBlocks());
    // For products that are separate launches.
    add(createChooseTiles());
    return;
  case Stage::afterMemory:
    // For copies, which have locations now.
    add(createGatherCopies());
    // After that: dependences between ops follow from the memory they write.
    add(createKeepLoops());
    return;
  }
  llvm_unreachable("every stage has its passes");
}

void NvidiaTargetAttr::decideStrips(KernelOp kernel,
                                    StripDecisions &decisions) const {
  std::optional<Attention> attention;
  if (kernel.getKeys())
    attention = attentionIn(kernel);
  if (!attention)
    return;
  decisions.inRegisters = attention->pairs;
  if (attention->weights)
    decisions.inRegisters.push_back(attention->weights);
  if (!groupsOf(kernel))
    return;
  decisions.copyRows = rowsOfAttention;
  for (ComputeOp op : kernel.getMembers()) {
    if (!attention->sideOf.contains(op))
      continue;
    StripDecisions::Sides &sides = decisions.copies[op];
    if (!attention->isRead(op))
      sides.left = sideOf(*rowsOf(op));
    sides.right = sideOf(*keysOf(*attention, op));
  }
}

LogicalResult NvidiaTargetAttr::verifyStrips(KernelOp kernel) const {
  std::optional<int64_t> keys = kernel.getKeys();
  if (!keys)
    return success();
  if (*keys == keysOfTile && attentionIn(kernel))
    return verifyGroups(kernel);
  return kernel.emitOpError()
         << "takes " << *keys << " keys at a time but is not an attention of "
         << keysOfTile << " at a time";
}

LogicalResult NvidiaTargetAttr::verifyPlaced(ProgramOp program) const {
  return verifyKeptLoops(program);
}
