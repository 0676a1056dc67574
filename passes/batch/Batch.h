//===- Batch.h - what a batch has once, and what each example has ---------===//

#ifndef FOVEA_PASSES_BATCH_BATCH_H
#define FOVEA_PASSES_BATCH_BATCH_H

#include "dialect/AttnDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace fovea::attn {

/// Of a program: its weights stay as they are from run to run, so that what is
/// packed of them is kept.
constexpr llvm::StringLiteral preparesName = "attn.prepares";

/// How a batch has an array (the attribute `attn.batch` of the op that gives
/// it): once, once per example, or once as the sum over the examples.
enum class BatchKind { once, each, sum };

/// That the programs of `module` are past the phase `batch`: what gives an
/// array says how a batch has it. Emits an error otherwise. Passes that ask
/// begin with it, as each may be run alone.
mlir::LogicalResult verifyBatched(mlir::ModuleOp module);
mlir::LogicalResult verifyBatched(ProgramOp program);

/// After the phase `batch`.
BatchKind batchOf(mlir::Operation *op);

void setBatch(mlir::Operation *op, BatchKind kind);

/// Whether every example has an array of its own. After the phase `batch`.
bool isPerExample(mlir::Value array);

} // namespace fovea::attn

#endif // FOVEA_PASSES_BATCH_BATCH_H
