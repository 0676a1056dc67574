//===- ChoosePrecision.cpp - products whose factors are rounded -----------===//
//
// Decides which matrix products round their factors, if a program allows it.
// The decision defines the result, so it depends only on the equation: never on
// the batch, and never on the target.
//
//===----------------------------------------------------------------------===//

#include "dialect/GroupedSums.h"
#include "dialect/Precision.h"
#include "passes/Passes.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Product.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_CHOOSEPRECISION
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// The smallest rounded product. These numbers are part of the definition of
/// the precision; they are the size of common matrix instructions.
static constexpr int64_t termsAtOnce = 16, columnsAtOnce = 8, rowsAtOnce = 8;

/// Returns whether there are that many places; lengths are unknown, and count
/// as many.
static bool hasMany(ComputeOp op, ArrayRef<unsigned> indices, int64_t least) {
  int64_t places = 1;
  for (unsigned index : indices) {
    auto extent = dyn_cast<IntegerAttr>(op.getExtents()[index]);
    if (!extent)
      return true;
    places *= extent.getInt();
  }
  return places >= least;
}

static bool isLarge(ComputeOp op, ProductAttr product) {
  bool isByRowsOfExamples = product.getKind() == ProductKind::weights ||
                            product.getKind() == ProductKind::place;
  return hasMany(op, product.getTerms(), termsAtOnce) &&
         hasMany(op, product.getColumns(), columnsAtOnce) &&
         (isByRowsOfExamples || hasMany(op, product.getRows(), rowsAtOnce));
}

/// Whether the target multiplies whole numbers as such: consecutive rows with
/// weights. They are exact in the type of everything else, too.
static bool multipliesIntegers(ComputeOp op, TargetAttr target) {
  ProductAttr product = productOf(op);
  bool isByRows = product && !product.getRun() &&
                  (product.getKind() == ProductKind::weights ||
                   product.getKind() == ProductKind::place);
  return isByRows &&
         target.multiplies(precisionOf(op), Float32Type::get(op.getContext()));
}

namespace {
struct ChoosePrecision
    : fovea::attn::impl::ChoosePrecisionBase<ChoosePrecision> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    TargetAttr target = TargetAttr::of(getOperation());
    getOperation().walk([&](ComputeOp op) {
      Type factor = precisionOf(op);
      if (factor && factor.isInteger(8) && !multipliesIntegers(op, target))
        removePrecision(op);
    });
    Type precision = allowedPrecision(getOperation());
    if (!precision)
      return;
    std::optional<GroupedSums> sums = allowedGroupedSums(getOperation());
    getOperation().walk([&](ComputeOp op) {
      ProductAttr product = productOf(op);
      if (!product || !isLarge(op, product))
        return;
      setPrecision(op, precision);
      if (sums)
        setGroupedSums(op, *sums);
    });
  }
};
} // namespace
