//===- GroupOps.h - the instructions of sm_90a ------------------*- C++ -*-===//
//
// Products of warp groups, and the shared-memory barriers that signal the
// arrival of a copy: intrinsics, or inline PTX where LLVM has none.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_GPU_PRODUCTS_GROUPOPS_H
#define FOVEA_CODEGEN_GPU_PRODUCTS_GROUPOPS_H

#include "codegen/kernel/KernelBuilder.h"

namespace fovea::codegen {

/// The size of an instruction: 64 rows of the left side by up to 256 columns,
/// over 16 terms.
constexpr int64_t groupRows = 64, groupTerms = 16, groupOfWarps = 128;

/// A barrier, whose phase ends after `arrivals` and all the bytes that they
/// expect. One thread initialises barriers, and makes that visible to the
/// others of the cluster, and to copies.
void beginBarrier(KernelBuilder &kernel, mlir::Value barrier,
                  mlir::Value arrivals);
void showBarriers(KernelBuilder &kernel);
void arrive(KernelBuilder &kernel, mlir::Value barrier);
/// At the same barrier of another block in the cluster.
void arriveIn(KernelBuilder &kernel, mlir::Value block, mlir::Value barrier);
void arriveExpecting(KernelBuilder &kernel, mlir::Value barrier, int64_t bytes);
/// Waits for the end of a phase: the first is 0, then 1, 0, ..
void waitForPhase(KernelBuilder &kernel, mlir::Value barrier,
                  mlir::Value parity);

/// Starts to copy consecutive bytes from global memory to the block's; they
/// arrive at `barrier`.
void fetchBytes(KernelBuilder &kernel, mlir::Value to, mlir::Value from,
                int64_t bytes, mlir::Value barrier);
/// The same for all blocks of the cluster, to the same place and the same
/// barrier of each.
void fetchForAll(KernelBuilder &kernel, mlir::Value to, mlir::Value from,
                 mlir::Value bytes, mlir::Value barrier);

/// The descriptor of a side for wgmma: rows of 128 bytes, swizzled, from a
/// shared-memory address that is a multiple of 1,024.
mlir::Value describeRows(KernelBuilder &kernel, mlir::Value address);
/// The same for a side whose rows are terms, with 64 columns each; those of the
/// next 64 columns are `bytes` further.
mlir::Value describeTerms(KernelBuilder &kernel, mlir::Value address,
                          int64_t bytes);
/// A side so many bytes further.
mlir::Value moveRows(KernelBuilder &kernel, mlir::Value description,
                     mlir::Value bytes);

/// Between begin and finish, sums are in flight: only another multiplication
/// may use them. `finishGroup` waits, and returns them.
void beginGroup(KernelBuilder &kernel);
/// The left side is described, or in registers: four words per thread, as for
/// mma.sync (TensorOps.h), of the 16 rows of its warp. Rows may be terms of the
/// right side, and of a described left side.
KernelBuilder::Values multiplyGroup(KernelBuilder &kernel,
                                    mlir::ValueRange left, mlir::Value right,
                                    mlir::ValueRange sums,
                                    bool rightRowsAreTerms = false,
                                    bool leftRowsAreTerms = false);
/// The same of two described sides, for sums that begin with it.
KernelBuilder::Values multiplyFirst(KernelBuilder &kernel, mlir::Value left,
                                    mlir::Value right, int64_t columns);
KernelBuilder::Values finishGroup(KernelBuilder &kernel, mlir::ValueRange sums);
/// The same in two steps. Several groups of multiplications may be in flight:
/// the sums of all but the last `allBut` are awaited. `sides` are in registers
/// that awaited multiplications read, and that must stay until then.
void endGroup(KernelBuilder &kernel);
KernelBuilder::Values awaitGroups(KernelBuilder &kernel, int64_t allBut,
                                  mlir::ValueRange sums,
                                  mlir::ValueRange sides = {});

/// A thread of a warp group has so many registers from here on: more, after
/// others have released them, or fewer.
void takeRegisters(KernelBuilder &kernel, int64_t count);
void giveRegisters(KernelBuilder &kernel, int64_t count);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_GPU_PRODUCTS_GROUPOPS_H
