//===- RoundWeights.cpp - parameters in bf16 ------------------------------===//
//
// `--precision bf16` on a CPU is part of the equations: every program, and the
// interpreter, reads the same rounded parameters. Arithmetic stays as it is, so
// each machine has the same bits.
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
  void runOnOperation() override {
    getOperation().walk([](ParamOp param) {
      ArrayType type = param.getResult().getType();
      if (type.getRank() < leastRank || !type.getElementType().isF64())
        return;
      param.setPath(fovea::runtime::bf16Name(param.getPath().str()));
      setPrecision(param, BFloat16Type::get(param.getContext()));
    });
  }
};
} // namespace
