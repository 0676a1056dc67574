//===- TensorOps.h - the instructions of tensor cores ---------------------===//
//
// Operations of all 32 threads of a warp on bf16 matrices: the fragments of
// PTX's mma.sync.m16n8k16. The left side has 16 x 16 elements, the right side
// and the result 16 x 8. Of the left side and of the result, thread `lane` has
// elements of the rows lane / 4 and lane / 4 + 8. Of the right side it has
// elements of the column lane / 4.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_PRODUCTS_TENSOROPS_H
#define FOVEA_CODEGEN_GPU_PRODUCTS_TENSOROPS_H

#include "codegen/kernel/KernelBuilder.h"
#include "targets/nvidia/Blocks.h"

namespace fovea::codegen {

/// The size of an instruction, and its threads.
constexpr int64_t mmaRows = 16, mmaColumns = 8, mmaTerms = 16;
constexpr int64_t warpThreads = attn::threadsOfWarp;

/// Calls `llvm.nvvm.NAME`, which gives nothing.
void runIntrinsic(KernelBuilder &kernel, llvm::StringRef name,
                  mlir::ValueRange operands = {});

/// A text of PTX, for instructions that LLVM has no intrinsic for. It is
/// ordered after all earlier and before all later memory accesses.
mlir::LLVM::InlineAsmOp sayPtx(KernelBuilder &kernel, llvm::StringRef text,
                               llvm::StringRef constraints,
                               mlir::ValueRange operands,
                               mlir::TypeRange results = {});

/// Two numbers rounded to bf16, to nearest even, as a 32-bit
/// word.
mlir::Value roundPair(KernelBuilder &kernel, mlir::Value low, mlir::Value high);

/// Four matrices of 8 x 8, as words. Each thread has the address of a row of
/// one of them, in shared memory.
KernelBuilder::Values loadMatrices(KernelBuilder &kernel, mlir::Value address,
                                   bool transposes);

/// Starts to copy 16 bytes to shared memory. Copies between two ends form a
/// group; `waitForCopies` waits for all groups of this thread except the last
/// ones. Other threads see them after a barrier.
void beginCopy(KernelBuilder &kernel, mlir::Value to, mlir::Value from);
void endCopies(KernelBuilder &kernel);
void waitForCopies(KernelBuilder &kernel, int64_t allBut);

/// Adds to the sums, four per thread, the products of four words of the left
/// side and two of the right one.
KernelBuilder::Values multiplyMatrices(KernelBuilder &kernel,
                                       mlir::ValueRange left,
                                       mlir::ValueRange right,
                                       mlir::ValueRange sums);

/// The f32 of the warp's thread `lane`.
mlir::Value valueOfLane(KernelBuilder &kernel, mlir::Value value,
                        mlir::Value lane);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_PRODUCTS_TENSOROPS_H
