//===- Scatters.cpp - which terms of a sum belong to a row ----------------===//

#include "passes/memory/Scatters.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/memory/Locations.h"

using namespace mlir;
using namespace fovea::attn;

bool fovea::attn::listsTerms(ComputeOp op) {
  auto program = dyn_cast<ProgramOp>(op->getParentOp());
  if (!program || !TargetAttr::of(op).listsTerms() ||
      batchOf(op) != BatchKind::sum ||
      op.getNumIndices() != op.getNumParallel() + 1)
    return false;
  std::optional<Equality> scattered = scatteredBy(op);
  auto terms = dyn_cast<StringAttr>(op.getExtents()[op.getNumParallel()]);
  return scattered && scattered->index + 1 < op.getNumParallel() && terms &&
         !variesInside(terms, program);
}

ArrayType fovea::attn::termListType(ComputeOp op) {
  Builder builder(op.getContext());
  return ArrayType::get({op.getExtents()[op.getNumParallel()],
                         builder.getI64IntegerAttr(numTermFields)},
                        builder.getI64Type());
}
