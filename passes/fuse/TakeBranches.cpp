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

namespace {
struct TakeBranches : fovea::attn::impl::TakeBranchesBase<TakeBranches> {
  void runOnOperation() override {
    SmallVector<std::pair<scf::IfOp, ComputeOp>> branches;
    getOperation().walk([&](ComputeOp op) {
      SmallVector<Guard> known = guardsOf(op);
      if (known.empty())
        return;
      op.getBody().walk([&](scf::IfOp branch) {
        if (follows(branch.getCondition(), op, known))
          branches.push_back({branch, op});
      });
    });
    // Inner branches come first, so that none is moved before it is taken.
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
