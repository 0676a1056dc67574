//===- FoldConstants.cpp - arithmetic on constants ------------------------===//
//
// MLIR's own canonicaliser folds `log(2)` with the libm of the machine that
// compiles. Then two machines would compile different programs. Here such a
// function stays, and compiled code computes it by its own formula.
//
//===----------------------------------------------------------------------===//

#include "passes/derive/FoldConstants.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/FoldUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"

namespace fovea::attn {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

/// Returns whether every libm gives the same result: IEEE 754 defines it.
static bool isExact(Operation *op) {
  return !isa<math::MathDialect>(op->getDialect()) ||
         isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::FloorOp, math::FmaOp, math::RoundOp, math::RoundEvenOp,
             math::SqrtOp, math::TruncOp>(op);
}

bool fovea::attn::foldConstants(Operation *op) {
  // The ops inside an op come before it, so nothing is visited once erased.
  SmallVector<Operation *> ops;
  op->walk([&](Operation *inner) {
    if (inner != op && isExact(inner))
      ops.push_back(inner);
  });
  OperationFolder folder(op->getContext());
  bool changed = false;
  for (Operation *inner : ops)
    changed |= inner->hasTrait<OpTrait::ConstantLike>()
                   ? !folder.insertKnownConstant(inner)
                   : succeeded(folder.tryToFold(inner));
  return changed;
}

void fovea::attn::foldConstants(Operation *op,
                                const FrozenRewritePatternSet &patterns) {
  GreedyRewriteConfig config;
  config.enableFolding(false);
  bool changed = true;
  while (changed) {
    foldConstants(op);
    changed = false;
    for (Region &region : op->getRegions()) {
      if (region.empty())
        continue;
      bool isRewritten = false;
      (void)applyPatternsGreedily(region, patterns, config, &isRewritten);
      changed |= isRewritten;
    }
  }
}

namespace {
struct FoldConstants : fovea::attn::impl::FoldConstantsBase<FoldConstants> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet all(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(all);
    for (RegisteredOperationName name : context->getRegisteredOperations())
      name.getCanonicalizationPatterns(all, context);
    patterns = FrozenRewritePatternSet(std::move(all));
    return success();
  }

  void runOnOperation() override { foldConstants(getOperation(), patterns); }

private:
  FrozenRewritePatternSet patterns;
};
} // namespace
