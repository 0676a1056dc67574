//===- TensorOps.h - the instructions of tensor cores ---------------------===//
//
// What all 32 threads of a warp do together, with matrices of bf16: the
// fragments of PTX's mma.sync.m16n8k16. Of the left side, 16 x 16, and of the
// result, 16 x 8, thread `lane` has elements of the rows lane / 4 and
// lane / 4 + 8; of the right side, 16 x 8, elements of the column lane / 4.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_PRODUCTS_TENSOROPS_H
#define FOVEA_CODEGEN_GPU_PRODUCTS_TENSOROPS_H

#include "codegen/kernel/KernelBuilder.h"
#include "dialect/Blocks.h"

namespace fovea::codegen {

/// What an instruction multiplies, and who does.
constexpr int64_t mmaRows = 16, mmaColumns = 8, mmaTerms = 16;
constexpr int64_t warpThreads = attn::threadsOfWarp;

/// A text of PTX, after all that touches memory ahead of it and ahead of all
/// after it. The emulator knows its instruction by its first word.
mlir::LLVM::InlineAsmOp sayPtx(KernelBuilder &kernel, llvm::StringRef text,
                               llvm::StringRef constraints,
                               mlir::ValueRange operands,
                               mlir::TypeRange results = {});

/// Two numbers rounded to bf16, to the nearest and of two to the even one, as a
/// word of 32 bits.
mlir::Value roundPair(KernelBuilder &kernel, mlir::Value low, mlir::Value high);

/// Four matrices of 8 x 8, as words. Each thread has the address of a row of
/// one of them, in memory that threads share.
KernelBuilder::Values loadMatrices(KernelBuilder &kernel, mlir::Value address,
                                   bool transposes);

/// Begins to copy 16 bytes to memory that threads share. Those between two ends
/// are a group; `waitForCopies` waits for all groups of this thread but the
/// last ones. Other threads see them after a barrier.
void beginCopy(KernelBuilder &kernel, mlir::Value to, mlir::Value from);
void endCopies(KernelBuilder &kernel);
void waitForCopies(KernelBuilder &kernel, int64_t allBut);

/// The sums, four of a thread, with the products of four words of the left side
/// and two of the right one.
KernelBuilder::Values multiplyMatrices(KernelBuilder &kernel,
                                       mlir::ValueRange left,
                                       mlir::ValueRange right,
                                       mlir::ValueRange sums);

/// The f32 that thread `lane` of the warp has.
mlir::Value valueOfLane(KernelBuilder &kernel, mlir::Value value,
                        mlir::Value lane);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_PRODUCTS_TENSOROPS_H
