//===- MicroKernel.h - one tile of C in registers -------------*- C++ -*-===//
//
// Private functions of a kernel module that Gemm.cpp and Pack.cpp emit; the
// interface is Gemm.h.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_PRODUCTS_MICROKERNEL_H
#define FOVEA_CODEGEN_CPU_PRODUCTS_MICROKERNEL_H

#include "codegen/cpu/products/Gemm.h"
#include "codegen/kernel/KernelBuilder.h"

namespace fovea::codegen {

/// The addressing of A in a micro-kernel.
enum class LeftSide {
  strided, // A[i, k] at a + i*ars + k*acs
  staged,  // the same, where ars is `stagedStride` and acs is 1
  runs,    // each row consists of runs, whose places a list has
  columns, // each column, which is adjacent elements, has an address
};

/// The shape of one micro-kernel.
struct KernelShape {
  int64_t rows;
  /// The vectors computed per row of C. They may span several adjacent panels;
  /// the last panel may contribute fewer than all of its vectors.
  int64_t vectors;
  LeftSide left;
};

/// The row pitch of staged A: an odd number of cache lines in f32, so that the
/// rows of a tile map to distinct sets.
constexpr int64_t stagedStride = 512 + 16;

/// Adds the function that computes `rows` rows of C, and returns its name. Its
/// arguments:
///   where A is       strided, staged: a, ars, acs
///                    runs: a, list, runs, run, term, none: row i has
///                      list[i * runs + r] for run r, of `run` elements; the
///                      first term is number `term` of the row, and `none` has
///                      zeros for a run that is nowhere, or for all of k
///                    columns: list, first: A[i, k] is element first + i at the
///                      address list[k]
///   bp, panelSize    panel p at bp + p*panelSize, already at the first k
///   c, ldc           C[i, j] at c + i*ldc + j
///   k                how many terms
///   columns          how many columns of C exist from c on; more than are
///                    computed are ignored
///   accumulate: i1   start from C instead of 0
///   ahead, step      strided, staged: where to prefetch from, a line per turn,
///                    and how many bytes on the next one is; strided does not
std::string emitMicroKernel(KernelBuilder &builder, GemmElement element,
                            const GemmTile &tile, const KernelShape &shape);

std::string kernelName(GemmElement element, const KernelShape &shape);

/// The most terms of one call of a kernel.
constexpr int64_t mostTerms = 768;

/// The arguments with the address of A.
llvm::SmallVector<mlir::Type> leftArguments(KernelBuilder &builder,
                                            LeftSide left);

/// The terms that one turn of a loop over staged A adds. It prefetches one
/// cache line.
constexpr int64_t termsPerTurn = 2;

/// Transposes a square of vectors: afterwards lane j of vector i is the former
/// lane i of vector j.
void transposeSquare(KernelBuilder &builder,
                     llvm::MutableArrayRef<mlir::Value> square);

/// Adds `@fovea_pack_<t>`, or with `isFar` `@fovea_pack_far_<t>`.
void emitPack(KernelBuilder &builder, GemmElement element, const GemmTile &tile,
              bool isFar);
/// Adds `@fovea_pack_parts_<t>`.
void emitPackParts(KernelBuilder &builder, GemmElement element,
                   const GemmTile &tile);

/// Adds `@fovea_product_<t>`, which calls `@fovea_pack_<t>` and
/// `@fovea_gemm_<t>`.
void emitProduct(KernelBuilder &builder, GemmElement element,
                 const GemmTile &tile);

/// Returns the name of the function that multiplies a block of rows and terms.
/// Its arguments: the address of A, as in a micro-kernel; bp, panelSize, c,
/// ldc, m, k, n, first, last, accumulate; and for `staged` the next part to
/// stage: a, ars, acs.
std::string gemmBlockName(LeftSide left, GemmElement element);

/// `count` zeros, or all of `depth` where that are fewer: what a run is that is
/// nowhere.
mlir::Value zerosOfRun(KernelBuilder &builder, mlir::VectorType vector,
                       mlir::Value count, int64_t depth);

/// Adds `@fovea_gemm_columns_<t>`, which calls `@fovea_pack_<t>`.
void emitGather(KernelBuilder &builder, GemmElement element,
                const GemmTile &tile);

/// `stem` with the element types appended, like fovea_gemm_f32.
std::string nameFor(llvm::StringRef stem, GemmElement element);

/// The type of packed elements in memory: whole numbers of 16 bits for bf16.
mlir::Type rightInMemory(GemmElement element);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_PRODUCTS_MICROKERNEL_H
