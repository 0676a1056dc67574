//===- GroupGemm.h - products with weights in groups of 4 bits --*- C++ -*-===//
//
// The functions of Gemm.h for a right side B whose elements are multiples of a
// scale for each group of terms (runtime/data/Quantise.h). Packed, a group has
// 4 bits per element, and a scale in bf16 for each column. A few panels at a
// time become f32, and are multiplied as such: the bits are those of f32.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_PRODUCTS_GROUPGEMM_H
#define FOVEA_CODEGEN_CPU_PRODUCTS_GROUPGEMM_H

#include "codegen/cpu/products/Gemm.h"

namespace fovea::codegen {

/// Adds, after `emitGemm` for f32:
///
/// - `@fovea_pack_i4(%b: ptr, %rs, %cs, %k, %n, %out: ptr, %first, %last,
///   %parts)` packs panels as `@fovea_pack_parts_f32` does (%parts may be 1).
///   %b begins with the groups of column 0, %cs bytes before those of the next;
///   %rs has no effect. A panel is a sequence of groups of `weightsOfGroup`
///   terms. Each has the scales of its columns, and then a row of bytes for two
///   terms at a time, the first in the lower half of a byte. 8 is added to each
///   number.
///
/// - `@fovea_gemm_i4` and `@fovea_gemm_rows_i4` with the arguments of
///   `@fovea_gemm_f32` and `@fovea_gemm_rows_f32`.
void emitGroupGemm(mlir::ModuleOp module, const Target &target);

constexpr char packGroupsName[] = "fovea_pack_i4";
constexpr char gemmGroupsName[] = "fovea_gemm_i4";
constexpr char gemmGroupRowsName[] = "fovea_gemm_rows_i4";

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_PRODUCTS_GROUPGEMM_H
