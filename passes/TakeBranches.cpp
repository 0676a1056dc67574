//===- TakeBranches.cpp - branches that a condition decides ---------------===//

#include "passes/Access.h"
#include "passes/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_TAKEBRANCHES
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// Whether `condition` holds wherever all of `known` do.
static bool follows(Value condition, ComputeOp op, ArrayRef<Guard> known) {
  return llvm::all_of(conjunctsOf(condition), [&](Value part) {
    SmallVector<Guard> guards = guardsOf(part, op);
    return part.getDefiningOp<arith::CmpIOp>() && !guards.empty() &&
           llvm::all_of(guards, [&](const Guard &guard) {
             return llvm::any_of(known, [&](const Guard &other) {
               return other.lhs == guard.lhs && other.rhs == guard.rhs &&
                      other.offset <= guard.offset;
             });
           });
  });
}

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
