//===- TrimScans.cpp - each row of a recurrence is kept once --------------===//

#include "passes/Passes.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_TRIMSCANS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

namespace {
struct TrimScans : fovea::attn::impl::TrimScansBase<TrimScans> {
  void trim(ScanOp op) {
    SmallVector<unsigned> kept;
    for (unsigned i = 0; i < op.getNumStacked(); ++i) {
      auto *same = llvm::find_if(kept, [&](unsigned other) {
        return op.getStackedValue(other) == op.getStackedValue(i) &&
               op.getAxes()[other] == op.getAxes()[i];
      });
      if (same != kept.end())
        op.getStacked(i).replaceAllUsesWith(op.getStacked(*same));
      else
        kept.push_back(i);
    }
    llvm::erase_if(kept,
                   [&](unsigned i) { return op.getStacked(i).use_empty(); });
    if (kept.size() == op.getNumStacked())
      return;
    unsigned numCarries = op.getNumCarries();
    SmallVector<int64_t> axes;
    SmallVector<Type> types =
        llvm::to_vector(TypeRange(op->getResultTypes()).take_front(numCarries));
    SmallVector<Value> results(op->getResults().take_front(numCarries));
    SmallVector<Value> yielded(
        op.getYield()->getOperands().take_front(numCarries));
    for (unsigned i : kept) {
      axes.push_back(op.getAxes()[i]);
      types.push_back(op.getStacked(i).getType());
      results.push_back(op.getStacked(i));
      yielded.push_back(op.getStackedValue(i));
    }
    op.getYield()->setOperands(yielded);
    OpBuilder builder(op);
    auto trimmed = ScanOp::create(builder, op.getLoc(), types, op.getExtent(),
                                  op.getReverse(), op.getInits(), axes);
    trimmed->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    trimmed.getBody().takeBody(op.getBody());
    for (auto [from, to] : llvm::zip_equal(results, trimmed->getResults()))
      from.replaceAllUsesWith(to);
    op.erase();
  }

  void runOnOperation() override {
    SmallVector<ScanOp> scans;
    for (auto program : getOperation().getOps<ProgramOp>())
      program.walk([&](ScanOp op) { scans.push_back(op); });
    // From the last to the first: rows that a later scan no longer reads are
    // not kept.
    for (ScanOp op : llvm::reverse(scans))
      trim(op);
  }
};
} // namespace
