//===- WidenFactors.cpp - matrix products read whole f32 rows -------------===//
//
// Decides which products read rows of two bytes: those in strips, which copy
// what they multiply. Other kernels read rows of real numbers in memory, so an
// array that they read has elements of f64 again. One that several programs
// exchange keeps its two bytes, and they read a copy.
//
//===----------------------------------------------------------------------===//

#include "dialect/Precision.h"
#include "dialect/RoundedFactors.h"
#include "passes/Passes.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/Equations.h"
#include "passes/analysis/Product.h"
#include "passes/analysis/StoredRows.h"
#include "passes/kernels/Members.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_WIDENFACTORS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

static bool hasStoredRows(Value array) {
  return cast<ArrayType>(array.getType()).getElementType().isBF16();
}

/// Whether a kernel in strips copies what a product reads.
static bool isCopied(ReadOp read, ComputeOp product) {
  auto kernel = dyn_cast<KernelOp>(product->getParentOp());
  std::optional<ExampleProduct> factors = exampleProductOf(product);
  if (!kernel || kernel.getSchedule() != Schedule::strips || !factors ||
      TargetAttr::of(product).getTileColumns() == 0 || precisionOf(product) ||
      roundsFactors(product))
    return false;
  if (read == factors->right)
    return true;
  std::optional<int64_t> terms = numberOf(product.getExtents()[factors->k]);
  bool hasRows =
      sharedBy(product).back() < static_cast<int64_t>(product.getNumParallel());
  return read == factors->left && hasRows && terms && *terms <= widestLeft;
}

/// Whether a matrix product needs what a read gives in f32.
static bool needsReal(ReadOp read) {
  auto reader = read->getParentOfType<ComputeOp>();
  return reader && productOf(reader) && !isCopied(read, reader);
}

/// Whether a matrix product needs an array, or a view of it, in f32.
static bool needsReal(Value array) {
  return llvm::any_of(array.getUsers(), [](Operation *user) {
    if (auto reshape = dyn_cast<ReshapeOp>(user))
      return needsReal(reshape.getResult());
    auto read = dyn_cast<ReadOp>(user);
    return read && needsReal(read);
  });
}

/// A copy of an array with elements of f64.
static Value widen(Value array) {
  ComputeOp copy =
      mapElements(array, "", [](OpBuilder &, Value number) { return number; });
  setBatch(copy, isPerExample(array) ? BatchKind::each : BatchKind::once);
  return copy.getResult();
}

namespace {
struct WidenFactors : fovea::attn::impl::WidenFactorsBase<WidenFactors> {
  /// The products that read arrays of two bytes read copies.
  void copyFactors(ProgramOp program) {
    llvm::MapVector<Value, SmallVector<ReadOp>> reads;
    program.walk([&](ReadOp read) {
      if (hasStoredRows(read.getArray()) && needsReal(read))
        reads[read.getArray()].push_back(read);
    });
    for (auto &[array, readers] : reads) {
      Value copy = widen(array);
      for (ReadOp read : readers)
        read.getArrayMutable().set(copy);
    }
  }

  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (failed(verifyBatched(program)))
      return signalPassFailure();
    bool isAny = false;
    program.walk([&](ReadOp read) { isAny |= hasStoredRows(read.getArray()); });
    if (!isAny)
      return;
    storeRows(program, [](Value array) { return !needsReal(array); });
    copyFactors(program);
  }
};
} // namespace
