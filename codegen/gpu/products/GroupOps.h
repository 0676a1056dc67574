//===- GroupOps.h - the instructions of sm_90a ------------------*- C++ -*-===//
//
// What four warps multiply together, and the barriers in shared memory by which
// a copy says that it has come. They are inline PTX, as a driver reads it; the
// emulator knows each by its first word.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_PRODUCTS_GROUPOPS_H
#define FOVEA_CODEGEN_GPU_PRODUCTS_GROUPOPS_H

#include "codegen/kernel/KernelBuilder.h"

namespace fovea::codegen {

/// What an instruction multiplies: 64 rows of the left side by up to 256
/// columns, over 16 terms.
constexpr int64_t groupRows = 64, groupTerms = 16, groupOfWarps = 128;

/// A barrier, whose phase ends when `arrivals` have come and all bytes that
/// they expect. One thread begins them, and says when all others of the
/// cluster, and copies, may see that.
void beginBarrier(KernelBuilder &kernel, mlir::Value barrier,
                  mlir::Value arrivals);
void showBarriers(KernelBuilder &kernel);
void arrive(KernelBuilder &kernel, mlir::Value barrier);
/// At the barrier that lies there in a block of the cluster.
void arriveIn(KernelBuilder &kernel, mlir::Value block, mlir::Value barrier);
void arriveExpecting(KernelBuilder &kernel, mlir::Value barrier, int64_t bytes);
/// Waits for the end of a phase: the first is 0, then 1, 0, ..
void waitForPhase(KernelBuilder &kernel, mlir::Value barrier,
                  mlir::Value parity);

/// Begins to copy consecutive bytes from memory to that of the block; they come
/// to `barrier`.
void fetchBytes(KernelBuilder &kernel, mlir::Value to, mlir::Value from,
                int64_t bytes, mlir::Value barrier);
/// The same for all blocks of the cluster, to the same place and the same
/// barrier of each.
void fetchForAll(KernelBuilder &kernel, mlir::Value to, mlir::Value from,
                 mlir::Value bytes, mlir::Value barrier);

/// What wgmma knows of a side: rows of 128 bytes, swizzled, from an address in
/// shared memory on that 1,024 divides.
mlir::Value describeRows(KernelBuilder &kernel, mlir::Value address);
/// The same of a side whose rows are terms, with 64 columns each; those of the
/// next 64 columns are `bytes` further.
mlir::Value describeTerms(KernelBuilder &kernel, mlir::Value address,
                          int64_t bytes);
/// A side so many bytes further.
mlir::Value moveRows(KernelBuilder &kernel, mlir::Value description,
                     mlir::Value bytes);

/// Between begin and finish, sums are on their way: nobody but another
/// multiplication may have them. `finishGroup` waits, and gives what they are.
void beginGroup(KernelBuilder &kernel);
/// The left side is described, or in registers: four words of a thread, as of
/// mma.sync (TensorOps.h), of the 16 rows that its warp has. Rows may be terms
/// of the right side, and of the left one, if it is described.
KernelBuilder::Values multiplyGroup(KernelBuilder &kernel,
                                    mlir::ValueRange left, mlir::Value right,
                                    mlir::ValueRange sums,
                                    bool rightRowsAreTerms = false,
                                    bool leftRowsAreTerms = false);
KernelBuilder::Values finishGroup(KernelBuilder &kernel, mlir::ValueRange sums);

/// A thread of a group of four warps has so many registers from here on: more
/// than before, when others have given them, or fewer.
void takeRegisters(KernelBuilder &kernel, int64_t count);
void giveRegisters(KernelBuilder &kernel, int64_t count);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_PRODUCTS_GROUPOPS_H
