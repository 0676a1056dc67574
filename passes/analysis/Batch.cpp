//===- Batch.cpp - what a batch has once, and what each example has -------===//

#include "passes/analysis/Batch.h"
#include "passes/analysis/Access.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace fovea::attn;

static constexpr StringLiteral batchName = "attn.batch";

static std::optional<BatchKind> kindNamed(StringRef name) {
  return llvm::StringSwitch<std::optional<BatchKind>>(name)
      .Case("once", BatchKind::once)
      .Case("each", BatchKind::each)
      .Case("sum", BatchKind::sum)
      .Default(std::nullopt);
}

bool fovea::attn::givesArrays(Operation *op) {
  // A kernel's results are those of its members.
  if (isa<KernelOp>(op))
    return false;
  return isa<ScanOp, SearchOp>(op) ||
         (op->getNumResults() != 0 &&
          isa<ArrayType>(op->getResult(0).getType()));
}

LogicalResult fovea::attn::verifyBatched(ModuleOp module) {
  for (auto program : module.getOps<ProgramOp>())
    if (failed(verifyBatched(program)))
      return failure();
  return success();
}

LogicalResult fovea::attn::verifyBatched(ProgramOp program) {
  WalkResult walk = program.walk([](Operation *op) {
    if (!givesArrays(op))
      return WalkResult::advance();
    auto name = op->getAttrOfType<StringAttr>(batchName);
    if (name)
      return WalkResult::advance();
    op->emitOpError() << "has no '" << batchName
                      << "', which 'attn-batch' adds";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

BatchKind fovea::attn::batchOf(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>(batchName);
  assert(name && "the phase 'batch' has run");
  return *kindNamed(name.getValue());
}

bool fovea::attn::isPerExample(Value array) {
  if (auto argument = dyn_cast<BlockArgument>(array))
    return batchOf(argument.getOwner()->getParentOp()) == BatchKind::each;
  return batchOf(insideKernel(array).getDefiningOp()) == BatchKind::each;
}

void fovea::attn::setBatch(Operation *op, BatchKind kind) {
  StringRef name = kind == BatchKind::once   ? "once"
                   : kind == BatchKind::each ? "each"
                                             : "sum";
  op->setAttr(batchName, StringAttr::get(op->getContext(), name));
}
