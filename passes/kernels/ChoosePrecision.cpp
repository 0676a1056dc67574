//===- ChoosePrecision.cpp - products whose factors are rounded -----------===//
//
// Decides which matrix products have their factors rounded, where a program
// says that its machine may. It follows from the equation alone, never from
// the batch.
//
//===----------------------------------------------------------------------===//

#include "dialect/Precision.h"
#include "passes/Passes.h"
#include "passes/analysis/Product.h"
#include "passes/batch/Batch.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_CHOOSEPRECISION
#include "passes/Passes.h.inc"
} // namespace fovea::attn

/// What an instruction multiplies at once.
static constexpr int64_t termsAtOnce = 16, columnsAtOnce = 8, rowsAtOnce = 8;

/// Whether there are so many places; of lengths that is not known, and they
/// count as many.
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

namespace {
struct ChoosePrecision
    : fovea::attn::impl::ChoosePrecisionBase<ChoosePrecision> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    Type precision = allowedPrecision(getOperation());
    if (!precision)
      return;
    getOperation().walk([&](ComputeOp op) {
      ProductAttr product = productOf(op);
      if (product && isLarge(op, product))
        setPrecision(op, precision);
    });
  }
};
} // namespace
