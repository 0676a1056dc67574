//===- WeightFormat.h - how programs store weights --------------*- C++ -*-===//

#ifndef FOVEA_RUNTIME_DATA_WEIGHTFORMAT_H
#define FOVEA_RUNTIME_DATA_WEIGHTFORMAT_H

namespace fovea::runtime {

/// The weights that programs read. `real`: those of training. `int8`: whole
/// numbers and scales (passes/derive/QuantiseProducts.cpp). `bf16` and `int4`:
/// rounded to 8 binary digits, or to multiples of a scale for each group
/// (passes/derive/RoundWeights.cpp).
enum class WeightFormat { real, int8, bf16, int4 };

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_WEIGHTFORMAT_H
