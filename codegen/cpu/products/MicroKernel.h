//===- MicroKernel.h - one tile of C in registers -------------*- C++ -*-===//
//
// Private functions of a kernel module that Gemm.cpp and Pack.cpp build; users
// see Gemm.h.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_PRODUCTS_MICROKERNEL_H
#define FOVEA_CODEGEN_CPU_PRODUCTS_MICROKERNEL_H

#include "codegen/cpu/products/Gemm.h"
#include "codegen/kernel/KernelBuilder.h"

namespace fovea::codegen {

/// The shape of one micro-kernel.
struct KernelShape {
  int64_t rows;
  /// Adjacent panels. More than one only for a few rows.
  int64_t panels;
  /// Vectors of a panel that are computed; fewer than all in the last panel.
  int64_t vectors;
  /// Between the rows of A where that is a constant and acs is 1; otherwise 0.
  int64_t stride;
};

/// Adds the function that computes `rows` rows of `panels` adjacent panels of
/// C, and returns its name. Its arguments:
///   a, ars, acs      A[i, k] at a + i*ars + k*acs
///   bp, panelSize    panel p at bp + p*panelSize, already at the first k
///   c, ldc           C[i, j] at c + i*ldc + j
///   k                how many terms
///   columns          how many columns of C exist from c on; more than are
///                    computed are ignored
///   accumulate: i1   start from C instead of 0
///   ahead, step      where to prefetch from, a line per turn, and how many
///                    bytes on the next one is (with a stride)
/// With a `stride` other than 0, ars must be that number and acs 1.
std::string emitMicroKernel(KernelBuilder &builder, mlir::Type element,
                            const GemmTile &tile, const KernelShape &shape);

/// How many terms one turn of a loop over staged A adds. It prefetches one
/// cache line.
constexpr int64_t termsPerTurn = 2;

/// Transposes as many vectors as they have lanes: afterwards lane j of vector
/// i is what lane i of vector j was.
void transposeSquare(KernelBuilder &builder,
                     llvm::MutableArrayRef<mlir::Value> square);

/// Adds `@fovea_pack_<t>`, or with `isFar` `@fovea_pack_far_<t>`.
void emitPack(KernelBuilder &builder, mlir::Type element, const GemmTile &tile,
              bool isFar);
/// Adds `@fovea_pack_parts_<t>`.
void emitPackParts(KernelBuilder &builder, mlir::Type element,
                   const GemmTile &tile);

/// Adds `@fovea_product_<t>`, which calls `@fovea_pack_<t>` and
/// `@fovea_gemm_<t>`.
void emitProduct(KernelBuilder &builder, mlir::Type element,
                 const GemmTile &tile);

/// Adds `@fovea_product_runs_<t>`, which calls `@fovea_gemm_<t>`.
void emitGather(KernelBuilder &builder, mlir::Type element,
                const GemmTile &tile);

/// `stem` with the element type behind it, like fovea_gemm_f32.
std::string nameFor(llvm::StringRef stem, mlir::Type element);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_PRODUCTS_MICROKERNEL_H
