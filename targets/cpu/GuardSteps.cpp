//===- GuardSteps.cpp - a step computes the experts that it chooses -------===//
//
// A step of decoding has one row of each example. If all readers of a product
// look at it under one guard, the guard becomes its condition. A kernel in
// columns multiplies the rows for which it holds
// (codegen/cpu/loops/EmitEpilogue.cpp).
//
//===----------------------------------------------------------------------===//

#include "dialect/Target.h"
#include "passes/analysis/Batch.h"
#include "passes/fuse/GuardRows.h"
#include "targets/cpu/Passes.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_GUARDSTEPS
#include "targets/cpu/Passes.h.inc"
} // namespace fovea::attn

namespace {
struct GuardSteps : fovea::attn::impl::GuardStepsBase<GuardSteps> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    int64_t lanes = TargetAttr::of(getOperation()).getLanes();
    for (Block *block : blocksOf(getOperation()))
      guardSteps(*block, lanes);
  }
};
} // namespace
