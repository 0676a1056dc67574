//===- TakeBranches.cpp - branches that a condition decides ---------------===//

#include "passes/Passes.h"
#include "passes/analysis/Access.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_TAKEBRANCHES
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// Returns whether `a`, in the condition of `op`, and `b`, in its body, are
/// equal.
static bool isSame(Value a, Value b, ComputeOp op) {
  auto first = dyn_cast<BlockArgument>(a), second = dyn_cast<BlockArgument>(b);
  if (first && second && first.getOwner() == &op.getCondition().front() &&
      second.getOwner() == &op.getBody().front())
    return first.getArgNumber() == second.getArgNumber();
  Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
  return a == b ||
         (left && right && left->getNumRegions() == 0 &&
          OperationEquivalence::isEquivalentTo(
              left, right,
              [&](Value x, Value y) { return success(isSame(x, y, op)); },
              nullptr, OperationEquivalence::IgnoreLocations));
}

/// Returns whether the condition of `op` implies `condition`, in its
/// body.
static bool isRepeated(Value condition, ComputeOp op) {
  if (!op.hasCondition())
    return false;
  SmallVector<Value> known =
      conjunctsOf(op.getCondition().front().getTerminator()->getOperand(0));
  return llvm::all_of(conjunctsOf(condition), [&](Value part) {
    return llvm::any_of(known,
                        [&](Value other) { return isSame(other, part, op); });
  });
}

namespace {
struct TakeBranches : fovea::attn::impl::TakeBranchesBase<TakeBranches> {
  void runOnOperation() override {
    SmallVector<std::pair<scf::IfOp, ComputeOp>> branches;
    getOperation().walk([&](ComputeOp op) {
      SmallVector<Guard> known = guardsOf(op);
      op.getBody().walk([&](scf::IfOp branch) {
        if (follows(branch.getCondition(), op, known) ||
            isRepeated(branch.getCondition(), op))
          branches.push_back({branch, op});
      });
    });
    // Inner branches first, so that none is moved before it is processed.
    for (auto [branch, op] : branches) {
      Operation *yield = branch.thenYield();
      branch->getBlock()->getOperations().splice(
          branch->getIterator(), branch.thenBlock()->getOperations(),
          branch.thenBlock()->begin(), yield->getIterator());
      branch.replaceAllUsesWith(yield->getOperands());
      branch.erase();
    }
  }
};
} // namespace
