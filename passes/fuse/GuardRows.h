//===- GuardRows.h - work follows the guard ---------------------*- C++ -*-===//
//
// `if g[t] > 0 then y[t] else 0` looks at some rows of y only. A layer whose
// rows nobody looks at elsewhere is computed for these rows.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_FUSE_GUARDROWS_H
#define FOVEA_PASSES_FUSE_GUARDROWS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// Gives the equations of a block the guards of their readers as conditions,
/// if layers get less work by it. These are layers of a batch, before their
/// products have names, whose rows are then gathered.
void guardRows(mlir::Block &block);

/// The same for the products of a step. An example has one row of each, which
/// is computed or not. `lanes`: their columns are a multiple of it.
void guardSteps(mlir::Block &block, int64_t lanes);

/// The blocks of a program that hold equations.
llvm::SmallVector<mlir::Block *> blocksOf(ProgramOp program);

} // namespace fovea::attn

#endif // FOVEA_PASSES_FUSE_GUARDROWS_H
