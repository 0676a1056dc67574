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

/// A comparison of two indices of the op as a guard.
static std::optional<Guard> guardOf(arith::CmpIOp compare, ComputeOp op) {
  AccessIndex lhs = classify(compare.getLhs(), op);
  AccessIndex rhs = classify(compare.getRhs(), op);
  if (lhs.kind != AccessIndex::Iterator || rhs.kind != AccessIndex::Iterator)
    return std::nullopt;
  int64_t offset = rhs.offset - lhs.offset;
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::slt:
    return Guard{lhs.iterator, rhs.iterator, offset - 1};
  case arith::CmpIPredicate::sle:
    return Guard{lhs.iterator, rhs.iterator, offset};
  case arith::CmpIPredicate::sgt:
    return Guard{rhs.iterator, lhs.iterator, -offset - 1};
  case arith::CmpIPredicate::sge:
    return Guard{rhs.iterator, lhs.iterator, -offset};
  default:
    return std::nullopt;
  }
}

/// Whether `condition` holds wherever all of `known` do.
static bool follows(Value condition, ComputeOp op, ArrayRef<Guard> known) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return follows(both.getLhs(), op, known) &&
           follows(both.getRhs(), op, known);
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  std::optional<Guard> guard =
      compare ? guardOf(compare, op) : std::optional<Guard>();
  return guard && llvm::any_of(known, [&](const Guard &other) {
           return other.lhs == guard->lhs && other.rhs == guard->rhs &&
                  other.offset <= guard->offset;
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
