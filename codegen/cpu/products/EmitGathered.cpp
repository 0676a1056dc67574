//===- EmitGathered.cpp - a product whose right side is gathered ----------===//
//
// The product of a sum over the examples, the runs of whose right side lie
// where a list says (codegen/program/RunLists.cpp).
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/program/ProgramEmitter.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

void ProgramEmitter::emitGathered(ComputeOp op, RowsProduct product) {
  int termsSlot = storage.description().numSlots++;
  main.setSlot(frame, termsSlot, termsOf(product));
  int64_t panels = tile.panels(product.width);
  std::string name = op.getLabel().value_or("").str() + ".gemm";
  launch(op, name, main.number(llvm::divideCeil(panels, gatheredPanels)),
         [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
           auto slotOf = [&](const Storage &array) {
             return kernel.pointerSlot(frame, array.slot);
           };
           Value together = kernel.number(gatheredPanels);
           kernel.call(
               productRunsName(real),
               {slotOf(storage.of(product.left.getArray())), kernel.number(1),
                kernel.number(product.leftWidth),
                slotOf(storage.of(product.gathered.getArray())),
                slotOf(*storage.rowListOf(op)), kernel.number(product.runs),
                kernel.number(product.runLength),
                slotOf(storage.of(op.getResult())),
                kernel.number(product.width), kernel.number(product.count),
                kernel.number(product.width), kernel.slot(frame, termsSlot),
                kernel.mul(first, together),
                kernel.min(kernel.mul(last, together), kernel.number(panels))});
         });
}
