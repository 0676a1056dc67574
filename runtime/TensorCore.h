//===- TensorCore.h - the sums of a GPU's tensor cores, on a CPU -*- C++
//-*-===//
//
// Products of bf16 numbers, added in the order and with the rounding of a
// tensor core (dialect/GroupedSums.h). Compiled code for a CPU calls
// this with `--precision bf16:sm_90`, so it has the bits of an H100.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_TENSORCORE_H
#define FOVEA_RUNTIME_TENSORCORE_H

#ifdef __cplusplus
#include <cstdint>
extern "C" {
#else
#include <stdint.h>
#endif

/// For each column j: sums[j] (+)= the sum of left[i] * right[i * width + j]
/// over `count` terms i. All factors are rounded to bf16 first, to nearest
/// even. Unless `goesOn`, sums begin with 0. `terms`, `digits` and
/// `placeOfZero` describe the tensor core. `left` and `right` begin with the
/// first term of a group.
void fovea_tensor_core(int64_t terms, int64_t digits, int64_t placeOfZero,
                       const float *left, const float *right, int64_t width,
                       float *sums, int64_t columns, int64_t count,
                       int64_t goesOn);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_RUNTIME_TENSORCORE_H */
