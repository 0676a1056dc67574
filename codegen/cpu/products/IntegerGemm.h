//===- IntegerGemm.h - products of whole numbers of 8 bits ----*- C++ -*-===//
//
// The functions of Gemm.h for factors that are whole numbers from -127 to 127,
// in f32. Each sum is below 2^24, so sums in i32 have the bits of any other
// order. Packed, B has one byte per element.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_PRODUCTS_INTEGERGEMM_H
#define FOVEA_CODEGEN_CPU_PRODUCTS_INTEGERGEMM_H

#include "codegen/cpu/products/Gemm.h"

namespace fovea::codegen {

/// Adds:
///
/// - `@fovea_pack_i8(%b: ptr, %rs, %cs, %k, %n, %out: ptr, %first, %last,
///   %parts)` packs panels of bytes as `@fovea_pack_parts_f32` does; %parts may
///   be 1.
///   Terms form groups of g = 2 or 4. Term k of column c is byte k % g of the
///   group (k / g) * columns + c. Each panel of K terms has room for alignTo(K,
///   4) + 4 bytes per column.
///
/// - `@fovea_gemm_i8` and `@fovea_gemm_rows_i8` with the arguments of
///   `@fovea_gemm_f32` and `@fovea_gemm_rows_f32`; the terms of A are adjacent,
///   and %accumulate is false.
void emitIntegerGemm(mlir::ModuleOp module, const Target &target);

constexpr char packIntegersName[] = "fovea_pack_i8";
constexpr char gemmIntegersName[] = "fovea_gemm_i8";
constexpr char gemmIntegerRowsName[] = "fovea_gemm_rows_i8";

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_PRODUCTS_INTEGERGEMM_H
