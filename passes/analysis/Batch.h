//===- Batch.h - what a batch has once, and what each example has ---------===//

#ifndef FOVEA_PASSES_ANALYSIS_BATCH_H
#define FOVEA_PASSES_ANALYSIS_BATCH_H

#include "dialect/AttnDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace fovea::attn {

/// A program attribute: its weights persist from run to run, and so do their
/// packed forms.
constexpr llvm::StringLiteral preparesName = "attn.prepares";

/// How a batch stores an array (the attribute `attn.batch` of its op): once,
/// once per example, or once as the sum over the examples.
enum class BatchKind { once, each, sum };

/// Returns whether the storage of `op`'s result in a batch is decided.
bool givesArrays(mlir::Operation *op);

/// Checks that the programs of `module` are past the phase `batch`, so that
/// every array has its batch attribute. Emits an error otherwise. Passes that
/// need it start with this check, because each may be run alone.
mlir::LogicalResult verifyBatched(mlir::ModuleOp module);
mlir::LogicalResult verifyBatched(ProgramOp program);

/// Valid after the phase `batch`.
BatchKind batchOf(mlir::Operation *op);

void setBatch(mlir::Operation *op, BatchKind kind);

/// Returns whether every example has its own copy of an array. Valid after the
/// phase `batch`.
bool isPerExample(mlir::Value array);

} // namespace fovea::attn

#endif // FOVEA_PASSES_ANALYSIS_BATCH_H
