//===- RoundWeights.cpp - parameters as numbers of few bits ---------------===//
//
// `--precision` with a format that has no scales of columns is part of the
// equations: every program, and the interpreter, reads the same parameters.
// Arithmetic stays as it is, so each machine has the same bits.
//
//===----------------------------------------------------------------------===//

#include "dialect/Precision.h"
#include "mlir/AsmParser/AsmParser.h"
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
    const fovea::runtime::StorageFormat *format =
        fovea::runtime::findStorageFormat(weights.getValue());
    if (!format || format->hasColumns()) {
      getOperation().emitError() << "expected a format of weights without "
                                    "scales of columns, found '"
                                 << weights.getValue() << "'";
      return signalPassFailure();
    }
    Type element = parseType(format->element, &getContext());
    assert(element && "MLIR has the types of the table");
    getOperation().walk([&](ParamOp param) {
      ArrayType type = param.getResult().getType();
      if (type.getRank() < leastRank || !type.getElementType().isF64())
        return;
      std::string path = param.getPath().str();
      Attribute extent = type.getShape().getValue().back();
      param.setPath(fovea::runtime::narrowName(
          path, *format, cast<IntegerAttr>(extent).getInt()));
      setPrecision(param, element);
    });
  }
};
} // namespace
