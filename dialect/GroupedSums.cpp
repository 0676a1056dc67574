//===- GroupedSums.cpp - sums of products in groups of terms --------------===//

#include "dialect/GroupedSums.h"
#include "dialect/AttnDialect.h"
#include "dialect/Precision.h"
#include "dialect/RoundedFactors.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace fovea::attn;

static constexpr StringLiteral sumsName = "attn.sums";

static bool isIn(int64_t number, int64_t least, int64_t most) {
  return number >= least && number <= most;
}

static std::optional<GroupedSums> readSums(ArrayRef<int64_t> numbers) {
  constexpr int64_t leastPlace = -149, mostPlace = -126;
  if (numbers.size() != 3 || !isIn(numbers[0], 1, mostGroupTerms) ||
      !isIn(numbers[1], 1, mostGroupDigits) ||
      !isIn(numbers[2], leastPlace, mostPlace))
    return std::nullopt;
  return GroupedSums{numbers[0], numbers[1], numbers[2]};
}

std::optional<GroupedSums> fovea::attn::groupedSumsOf(Operation *op) {
  auto numbers = op->getAttrOfType<DenseI64ArrayAttr>(sumsName);
  return numbers ? readSums(numbers.asArrayRef()) : std::nullopt;
}

std::optional<GroupedSums> fovea::attn::allowedGroupedSums(ProgramOp program) {
  std::optional<GroupedSums> own = groupedSumsOf(program);
  Operation *module = program->getParentOp();
  return own || !module ? own : groupedSumsOf(module);
}

void fovea::attn::setGroupedSums(Operation *op, const GroupedSums &sums) {
  op->setAttr(sumsName,
              DenseI64ArrayAttr::get(op->getContext(), {sums.terms, sums.digits,
                                                        sums.placeOfZero}));
}

//===----------------------------------------------------------------------===//
// Terms that are added one by one
//===----------------------------------------------------------------------===//

static bool hasSingleTerms(Operation *op) {
  auto numbers = op->getAttrOfType<DenseI64ArrayAttr>(sumsName);
  return numbers && numbers.asArrayRef() == ArrayRef<int64_t>{1};
}

bool fovea::attn::roundsFactors(Operation *op) {
  return isa<ComputeOp>(op) && hasSingleTerms(op);
}

bool fovea::attn::allowsRoundedFactors(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  return module && hasSingleTerms(module);
}

void fovea::attn::allowRoundedFactors(Operation *op) {
  op->setAttr(sumsName, DenseI64ArrayAttr::get(op->getContext(), {1}));
}

void fovea::attn::setRoundsFactors(Operation *op) {
  setPrecision(op, BFloat16Type::get(op->getContext()));
  allowRoundedFactors(op);
}

void fovea::attn::removeRoundedFactors(Operation *op) {
  if (!roundsFactors(op))
    return;
  removePrecision(op);
  op->removeAttr(sumsName);
}

static LogicalResult verifyRoundedFactors(ComputeOp sum) {
  OrderAttr order = sum.getOrderAttr();
  auto product = sum.getYielded().getDefiningOp<arith::MulFOp>();
  if (order && order.isChain() && order.getFused() && product &&
      product->getBlock() == &sum.getBody().front())
    return success();
  return sum.emitOpError()
         << "rounds its factors but is not a chain of fused products";
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult fovea::attn::verifyGroupedSums(Operation *op,
                                             NamedAttribute named) {
  if (named.getName() != sumsName)
    return success();
  if (roundsFactors(op) && failed(verifyRoundedFactors(cast<ComputeOp>(op))))
    return failure();
  bool mayBeSingle = isa<ComputeOp, ModuleOp>(op);
  if (!(mayBeSingle && hasSingleTerms(op)) &&
      !readSums(cast<DenseI64ArrayAttr>(named.getValue()).asArrayRef()))
    return op->emitOpError()
           << "expects 'attn.sums' to be the terms of a group (1 to "
           << mostGroupTerms << "), its digits (1 to " << mostGroupDigits
           << ") and the place of 0 (-149 to -126), but it is "
           << named.getValue();
  Type factor = precisionOf(op);
  if (isa<ComputeOp>(op) && (!factor || !factor.isBF16()))
    return op->emitOpError() << "has sums of rounded products, but its factors "
                                "are not bf16";
  return success();
}
