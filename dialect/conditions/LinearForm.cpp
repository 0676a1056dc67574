//===- LinearForm.cpp - what index arithmetic adds up ---------------------===//

#include "dialect/conditions/LinearForm.h"
#include "dialect/AttnDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fovea::attn;

/// Shared subexpressions are visited once per use, so the work needs a
/// bound.
static constexpr unsigned maxVisits = 256;

/// Returns whether a cast preserves index arithmetic: an index that was a
/// number in between is still an index.
static bool isArithmetic(Value value) {
  return isa<BlockArgument>(value) ||
         isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::IndexCastOp,
             arith::ConstantOp, ExtentOp>(value.getDefiningOp());
}

std::optional<LinearForm> LinearForm::of(Value value) {
  LinearForm form;
  SmallVector<std::pair<Value, int64_t>> worklist = {{value, 1}};
  bool fits = true;
  auto times = [&](int64_t factor, const APInt &number) {
    int64_t product = 0;
    fits &= number.getSignificantBits() <= 64 &&
            !llvm::MulOverflow(factor, number.getSExtValue(), product);
    return product;
  };
  auto addTo = [&](int64_t &sum, int64_t term) {
    fits &= !llvm::AddOverflow(sum, term, sum);
  };
  for (unsigned visits = 0; fits && !worklist.empty(); ++visits) {
    if (visits == maxVisits)
      return std::nullopt;
    auto [next, factor] = worklist.pop_back_val();
    Operation *op = next.getDefiningOp();
    APInt number;
    if (matchPattern(next, m_ConstantInt(&number))) {
      addTo(form.constant, times(factor, number));
    } else if (isa_and_nonnull<arith::AddIOp>(op)) {
      worklist.push_back({op->getOperand(1), factor});
      worklist.push_back({op->getOperand(0), factor});
    } else if (isa_and_nonnull<arith::SubIOp>(op)) {
      worklist.push_back(
          {op->getOperand(1), times(factor, APInt::getAllOnes(64))});
      worklist.push_back({op->getOperand(0), factor});
    } else if (isa_and_nonnull<arith::MulIOp>(op) &&
               matchPattern(op->getOperand(1), m_ConstantInt(&number))) {
      worklist.push_back({op->getOperand(0), times(factor, number)});
    } else if (isa_and_nonnull<arith::MulIOp>(op) &&
               matchPattern(op->getOperand(0), m_ConstantInt(&number))) {
      worklist.push_back({op->getOperand(1), times(factor, number)});
    } else if (isa_and_nonnull<arith::IndexCastOp>(op) &&
               isArithmetic(op->getOperand(0))) {
      worklist.push_back({op->getOperand(0), factor});
    } else {
      addTo(form.terms[next], factor);
    }
  }
  if (!fits)
    return std::nullopt;
  form.terms.remove_if([](const auto &term) { return term.second == 0; });
  return form;
}

std::optional<LinearForm> LinearForm::ofIndices(Value value, ComputeOp op) {
  std::optional<LinearForm> form = of(value);
  if (form && llvm::all_of(form->terms, [&](const auto &term) {
        auto index = dyn_cast<BlockArgument>(term.first);
        return index && index.getOwner()->getParentOp() == op;
      }))
    return form;
  return std::nullopt;
}
