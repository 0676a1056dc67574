//===- Vectorise.h - along which index an equation is vectorised ----------===//

#ifndef FOVEA_CODEGEN_CPU_VECTORISE_H
#define FOVEA_CODEGEN_CPU_VECTORISE_H

#include "dialect/AttnDialect.h"

namespace fovea::codegen {

/// The index of `op` whose neighbours share a vector of `lanes` elements, or
/// -1 when they are better computed one by one. It is the last parallel index,
/// so that results are stored as vectors, or a reduction index of a reducer
/// whose partial results can be combined. What decides: how many reads are of
/// neighbouring elements, and how many would be gathers. `isAllowed` says
/// whether an index may be it.
int vectorIndex(attn::ComputeOp op, unsigned lanes,
                llvm::function_ref<bool(unsigned)> isAllowed);

/// A condition `index == value` that holds for every element that counts.
struct Equality {
  unsigned index;
  mlir::Value value;
};

/// The equalities of the condition of `op` that determine one of its indices
/// by the others.
llvm::SmallVector<Equality> equalitiesOf(attn::ComputeOp op);

/// Which indices of its op a value of a body or condition depends on, as bits;
/// an index of a loop around is none of them.
uint64_t dependence(mlir::Value value);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_VECTORISE_H
