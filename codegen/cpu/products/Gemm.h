//===- Gemm.h - matrix products of any size -------------------*- C++ -*-===//
//
// Functions of a kernel module for C (+)= A * B, emitted once per element type
// and target: all sizes and strides are arguments. A function of the same
// module packs B beforehand: weights once, not at every use.
//
// Every element of C is one chain of fused multiply-adds in ascending k,
//
//     c = accumulate ? C[m, n] : +0;  for k = 0, 1, ..: c = fma(A[m, k], B[k,
//     n], c)
//
// whatever m, n, the element's tile, the tails, and the split of rows and
// panels among threads. A row computed alone has the bits of the same row in
// any batch.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_PRODUCTS_GEMM_H
#define FOVEA_CODEGEN_CPU_PRODUCTS_GEMM_H

#include "codegen/kernel/Runs.h"
#include "codegen/native/Target.h"
#include "dialect/GroupedSums.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/data/StorageFormat.h"

#include <string>

namespace fovea::codegen {

class KernelBuilder;

/// The elements of A and C, and those of B: of the same type, or numbers of a
/// rounded format, which f32 has exactly.
struct GemmElement {
  GemmElement(mlir::Type type, const runtime::StorageFormat *right = nullptr,
              std::optional<attn::GroupedSums> sums = std::nullopt)
      : type(type), right(right), sums(sums) {}

  /// Products of f32 whose factors are rounded to bf16 (Pairs.h).
  static GemmElement inPairs(mlir::Type type) {
    GemmElement element(type);
    element.pairs = true;
    return element;
  }

  mlir::Type type;
  const runtime::StorageFormat *right;
  /// In which groups terms are added; nothing: in a chain.
  std::optional<attn::GroupedSums> sums;
  /// Whether factors are rounded to bf16, and two terms packed in four bytes.
  bool pairs = false;
  bool isSame() const { return !right; }
};

/// The part of C in registers.
struct GemmTile {
  int64_t rows;    // of A and C
  int64_t lanes;   // elements of one vector
  int64_t vectors; // side by side
  /// Whether one instruction adds the products of a pair of terms.
  bool multipliesPairs = false;

  /// The width of a panel of packed B.
  int64_t columns() const { return lanes * vectors; }
  /// The number of panels for n columns; the last one may be ragged.
  int64_t panels(int64_t n) const { return (n + columns() - 1) / columns(); }
  /// The number of elements of B[k, n] in packed form.
  int64_t packedSize(int64_t k, int64_t n) const {
    return panels(n) * columns() * k;
  }
};

/// With 32 vector registers, 8 rows of three vectors: 8 x 48 in f32 with
/// AVX-512, 8 x 12 with NEON. Otherwise 6 rows of two: 6 x 16 with AVX2.
GemmTile gemmTile(mlir::Type element, const Target &target);

/// Returns whether `emitGemm` supports an element type: f32 and f64.
bool isGemmElement(mlir::Type element);

/// Adds the functions below for one element type, `<t>` being f32 or f64, and
/// their private helpers. A second call adds nothing. Pointers are to elements
/// and need the alignment of one element; strides count elements; no function
/// allocates. All numbers are i64 unless stated otherwise.
///
/// - `@fovea_pack_<t>(%b: ptr, %rs, %cs, %k, %n, %out: ptr, %first, %last)`
///   packs the panels first..last-1 of B[k, n], found at b + k*rs + n*cs, into
///   %out, where element (k, n) is at
///   ((n / columns) * K + k) * columns + n % columns. Columns beyond n are 0.
///   Fast where rs or cs is 1. Distinct panels may be packed by distinct
///   threads.
///
/// - `@fovea_pack_far_<t>` does the same with stores that bypass the caches:
///   for more than they hold, or for what is multiplied much later. %out begins
///   at a cache line.
///
/// - `@fovea_pack_parts_<t>(.., %first, %last, %parts)` packs B whose columns
///   are parts of n / %parts columns, a multiple of a vector: one vector of
///   each part, then the next of each. rs or cs is 1.
///
/// - `@fovea_gemm_<t>(%a: ptr, %ars, %acs, %bp: ptr, %c: ptr, %ldc, %m, %n, %k,
///   %first, %last, %accumulate: i1)` computes the columns of the panels
///   first..last-1 of C (+)= A * B: A[m, k] at a + m*ars + k*acs, %bp from
///   `fovea_pack` for the same k and n, C[m, n] at c + m*ldc + n. Neither A nor
///   the packed B may overlap C. With k = 0, C becomes 0 (or stays). It uses
///   about 220 KB of the stack in f32 and 430 KB in f64.
///
/// - `@fovea_gemm_rows_<t>(%a: ptr, %list: ptr, %bp, %c, %ldc, %m, %n, %k,
///   %first, %last, %accumulate)` does the same of rows that lie anywhere: row
///   m begins at a + list[m] (i64).
///
/// - `@fovea_product_<t>(%a: ptr, %ars, %acs, %b: ptr, %rs, %cs, %c: ptr, %ldc,
///   %m, %n, %k, %kBelow, %kAbove, %nBelow, %nAbove)` computes C = A * B from
///   an unpacked B: it packs B piece by piece. A is zero, and may be skipped,
///   unless m <= k + kBelow and k <= m + kAbove. C becomes zero unless m <= n +
///   nBelow and n <= m + nAbove. `unbounded` disables a bound. It uses 400 KB
///   of the stack more.
///
/// With B in bf16, packed and before, `<t>` is f32_bf16 (so for other formats),
/// and there is no `@fovea_product`.
///
/// With factors in bf16, the functions are f32_pairs. They give the sums of the
/// rounded factors as dialect/RoundedFactors.h defines them. Element
/// (k, n) is half of an i32 at
/// ((n / columns) * ceil(K / 2) + k / 2) * columns + n % columns. No function
/// packs past the caches.
///
/// With sums in groups, the functions are f32_groups_16_25_133, and so on. They
/// call `@fovea_tensor_core` (runtime/TensorCore.h), and read what
/// `@fovea_pack_f32` packs.
void emitGemm(mlir::ModuleOp module, GemmElement element, const Target &target);

/// Adds the functions for a gathered A; call `emitGemm` first.
///
/// - `@fovea_gemm_runs_<t>(%a: ptr, %list: ptr, %runs, %run, %bp, %c, %ldc,
///   %m, %n, %k, %first, %last, %accumulate)` gathers A: the terms of a row are
///   runs of %run adjacent elements, the last one may be shorter. Run r of row
///   m begins at a + list[m * %runs + r] (i64), or is 0 where that is
///   `nowhere`; such terms may be passed over.
///
/// - `@fovea_gemm_columns_<t>(%a: ptr, %list: ptr, %runs, %run, %b: ptr, %rs,
///   %cs, %c: ptr, %ldc, %n, %k, %first, %last)` gathers the columns of A: row
///   r * %run + i of term k is at a + list[k * %runs + r] + i, or 0, and may
///   then be passed over. B is found at b + k*rs + n*cs, and packed piece by
///   piece. It computes the rows first..last-1 of C = A * B, and uses 410 KB of
///   the stack in f32.
void emitGatheredGemm(mlir::ModuleOp module, GemmElement element,
                      const Target &target);

/// Adds another one, for rows that a condition selects:
///
/// - `@fovea_gemm_chosen_<t>(%a: ptr, %list: ptr, %b: ptr, %rs, %c: ptr, %ldc,
///   %n, %k, %first, %last)` computes the same as `@fovea_gemm_columns_<t>` for
///   one run of each term and rows of B of consecutive elements. It skips every
///   term that is nowhere. It uses 560 KB of the stack in f32.
void emitChosenGemm(mlir::ModuleOp module, mlir::Type element,
                    const Target &target);

/// The arguments of `gemm`, and of `gemmRows` if `isListed`: those of A, then
/// as many as both have.
llvm::SmallVector<mlir::Type> gemmArguments(KernelBuilder &b, bool isListed);
constexpr size_t numCommonArguments = 9;

/// The column of B at the place `place` of panels that join `parts` equal parts
/// of `n` columns: one vector of each part, then the next of each.
mlir::Value columnOfParts(KernelBuilder &b, const GemmTile &tile,
                          mlir::Value place, mlir::Value n, mlir::Value parts);

/// Far beyond every index.
constexpr int64_t unbounded = int64_t(1) << 40;

/// The names of these functions.
std::string packName(GemmElement element);
std::string packFarName(GemmElement element);
std::string packPartsName(GemmElement element);
std::string gemmName(GemmElement element);
std::string gemmRowsName(GemmElement element);
std::string gemmRunsName(GemmElement element);
std::string productName(GemmElement element);
std::string gemmColumnsName(GemmElement element);
std::string gemmChosenName(mlir::Type element);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_PRODUCTS_GEMM_H
