//===- WidenFactors.cpp - matrix products read whole f32 rows -------------===//
//
// The kernels of products read rows of real numbers in memory. So an array that
// a product reads has elements of f64 again. One that several programs exchange
// keeps its two bytes, and the product reads a copy.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Product.h"
#include "passes/analysis/StoredRows.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_WIDENFACTORS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

static bool hasStoredRows(Value array) {
  return cast<ArrayType>(array.getType()).getElementType().isBF16();
}

/// Whether a matrix product reads an array, or a view of it.
static bool isFactor(Value array) {
  return llvm::any_of(array.getUsers(), [](Operation *user) {
    if (auto reshape = dyn_cast<ReshapeOp>(user))
      return isFactor(reshape.getResult());
    auto reader = user->getParentOfType<ComputeOp>();
    return reader && productOf(reader);
  });
}

/// A copy of an array with elements of f64.
static Value widen(Value array) {
  OpBuilder builder(array.getContext());
  builder.setInsertionPointAfterValue(array);
  Location loc = array.getLoc();
  auto type = cast<ArrayType>(array.getType());
  SmallVector<Attribute> names;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    names.push_back(builder.getStringAttr("p" + Twine(axis)));
  auto copy =
      ComputeOp::create(builder, loc, "", names, type.getShape().getValue(), {},
                        type.getRank(), Reducer::none, type.getScalarType());
  builder.setInsertionPointToEnd(&copy.getBody().front());
  YieldOp::create(
      builder, loc,
      ReadOp::create(builder, loc, array, copy.getBody().getArguments())
          .getResult());
  setBatch(copy, isPerExample(array) ? BatchKind::each : BatchKind::once);
  return copy.getResult();
}

namespace {
struct WidenFactors : fovea::attn::impl::WidenFactorsBase<WidenFactors> {
  /// The products that read arrays of two bytes read copies.
  void copyFactors(ProgramOp program) {
    llvm::MapVector<Value, SmallVector<ReadOp>> reads;
    program.walk([&](ReadOp read) {
      auto reader = read->getParentOfType<ComputeOp>();
      if (reader && productOf(reader) && hasStoredRows(read.getArray()))
        reads[read.getArray()].push_back(read);
    });
    for (auto &[array, readers] : reads) {
      Value copy = widen(array);
      for (ReadOp read : readers)
        read.getArrayMutable().set(copy);
    }
  }

  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    for (auto program : getOperation().getOps<ProgramOp>()) {
      storeRows(program, [](Value array) { return !isFactor(array); });
      copyFactors(program);
    }
  }
};
} // namespace
