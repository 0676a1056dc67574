//===- RemoveDropout.cpp - decoding drops nothing -------------------------===//
//
// Orders follow from the equations, dropout among them: if decoding had lost it
// before, its sums would be other ones than those of training. So it goes when
// every sum has its order.
//
//===----------------------------------------------------------------------===//

#include "dialect/RoundedFactors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Passes.h"
#include "passes/analysis/Equations.h"
#include "passes/analysis/Orders.h"
#include "passes/derive/FoldConstants.h"

namespace fovea::attn {
#define GEN_PASS_DEF_REMOVEDROPOUT
#include "passes/Passes.h.inc"
} // namespace fovea::attn

using namespace mlir;
using namespace fovea::attn;

/// Returns whether a value is what dropout multiplies by: it depends on a word,
/// and reads no array.
static bool isFactor(Value value) {
  llvm::SetVector<Value> visited;
  visited.insert(value);
  bool hasWord = false;
  for (unsigned i = 0; i < visited.size(); ++i) {
    Operation *def = visited[i].getDefiningOp();
    if (!def)
      continue;
    if (def->getNumRegions() != 0 || isa<ReadOp>(def))
      return false;
    auto random = dyn_cast<RandomOp>(def);
    hasWord |= random && random.givesWord();
    visited.insert_range(def->getOperands());
  }
  return hasWord;
}

/// A fused sum of `x * factor` adds x with one rounding, whatever x is. It does
/// so without the factor as well, where x may be a product.
static void addUnfused(ComputeOp sum) {
  OrderAttr order = sum.getOrderAttr();
  auto product = sum.getYielded().getDefiningOp<arith::MulFOp>();
  if (order && order.getFused() && product &&
      (isFactor(product.getLhs()) || isFactor(product.getRhs()))) {
    removeRoundedFactors(sum);
    sum.setOrderAttr(withoutFusing(order));
  }
}

namespace {

struct RemoveDropout : fovea::attn::impl::RemoveDropoutBase<RemoveDropout> {
  void runOnOperation() override {
    auto system = getOperation().lookupSymbol<SystemOp>("decode");
    if (!system)
      return markAllAnalysesPreserved();
    llvm::SetVector<ComputeOp> equations;
    system.walk([&](RandomOp op) {
      if (op.givesWord())
        equations.insert(op->getParentOfType<ComputeOp>());
    });
    for (ComputeOp equation : equations) {
      addUnfused(equation);
      keepAll(equation);
    }
  }

  /// Every word becomes the word of an evaluation without a seed. A dropped
  /// array then is its input.
  void keepAll(ComputeOp equation) {
    equation.walk([&](RandomOp op) {
      if (!op.givesWord())
        return;
      OpBuilder at(op);
      op.replaceAllUsesWith(
          arith::ConstantIntOp::create(at, op.getLoc(), op.noWord, 64)
              .getResult());
      op.erase();
    });
    foldConstants(equation, FrozenRewritePatternSet());
    if (Value source = copiedBy(equation)) {
      equation.replaceAllUsesWith(source);
      equation.erase();
    }
  }
};

} // namespace
