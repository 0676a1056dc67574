//===- StoreRows.cpp - rounded rows take two bytes ------------------------===//
//
// Decides which arrays have elements of bf16. It changes what is stored, and no
// number: attn-round-rows has decided what is rounded.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/analysis/Batch.h"
#include "passes/analysis/StoredRows.h"

using namespace mlir;
using namespace fovea::attn;

namespace fovea::attn {
#define GEN_PASS_DEF_STOREROWS
#include "passes/Passes.h.inc"
} // namespace fovea::attn

namespace {
struct StoreRows : fovea::attn::impl::StoreRowsBase<StoreRows> {
  void runOnOperation() override {
    if (failed(verifyBatched(getOperation())))
      return signalPassFailure();
    for (auto program : getOperation().getOps<ProgramOp>())
      storeRows(program, [](Value) { return true; });
  }
};
} // namespace
