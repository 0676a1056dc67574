//===- RoundWeights.cpp - parameters in bf16 and in groups of 4 bits ------===//
//
// `--precision bf16` on a CPU and `--precision int4` are part of the equations:
// every program, and the interpreter, reads the same rounded parameters.
// Arithmetic stays as it is, so each machine has the same bits.
//
//===----------------------------------------------------------------------===//

#include "dialect/Precision.h"
#include "passes/Passes.h"
#include "runtime/data/Quantise.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_ROUNDWEIGHTS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// Biases and gains are few, and each has an effect on many sums.
static constexpr int64_t leastRank = 2;

namespace {
struct RoundWeights : fovea::attn::impl::RoundWeightsBase<RoundWeights> {
  using RoundWeightsBase::RoundWeightsBase;

  void runOnOperation() override {
    bool isBf16 = weights == fovea::runtime::WeightFormat::bf16;
    const fovea::runtime::StorageFormat *format =
        fovea::runtime::findStorageFormat(isBf16 ? "bf16" : "int4");
    getOperation().walk([&](ParamOp param) {
      ArrayType type = param.getResult().getType();
      if (type.getRank() < leastRank || !type.getElementType().isF64())
        return;
      std::string path = param.getPath().str();
      Attribute extent = type.getShape().getValue().back();
      param.setPath(fovea::runtime::narrowName(
          path, *format, cast<IntegerAttr>(extent).getInt()));
      setPrecision(param, isBf16
                              ? Type(BFloat16Type::get(param.getContext()))
                              : Type(IntegerType::get(param.getContext(), 4)));
    });
  }
};
} // namespace
