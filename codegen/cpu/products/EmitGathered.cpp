//===- EmitGathered.cpp - a product whose columns are gathered -----------===//
//
// The product of a sum over the examples with a gathered left side: a list has
// the addresses of its runs (codegen/program/RunLists.cpp).
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/program/ProgramEmitter.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

/// Rows per unit of a product with gathered columns.
static constexpr int64_t gatheredRows = 24;

/// Each range of units reads all of both sides: there is one per thread.
Value ProgramEmitter::unitsOfThread(int64_t units) {
  Value pool = main.pointerSlot(frame, runtime::Program::poolSlot);
  Type number = main.getI32Type();
  Value threads =
      main.create<func::CallOp>(poolThreadsName, number, pool).getResult(0);
  threads = main.create<arith::ExtSIOp>(main.i64(), threads);
  return main.divUp(main.number(units), threads);
}

void ProgramEmitter::emitGathered(ComputeOp op, RowsProduct product) {
  int termsSlot = slotOf(0);
  int64_t units = llvm::divideCeil(product.count, gatheredRows);
  std::string name = op.getLabel().value_or("").str() + ".gemm";
  launch(
      op, name, main.number(units),
      [&](KernelBuilder &kernel, Value frame, Value first, Value last) {
        auto slotOf = [&](const Storage &array) {
          return kernel.pointerSlot(frame, array.slot);
        };
        Value height = kernel.number(gatheredRows);
        Value count = kernel.number(product.count);
        if (skipsTerms(op, product)) {
          kernel.call(gemmChosenName(real),
                      {slotOf(storage.of(product.left.getArray())),
                       slotOf(*storage.rowListOf(op)),
                       slotOf(storage.of(product.right.getArray())),
                       kernel.number(product.rowStride),
                       slotOf(storage.of(op.getResult())),
                       kernel.number(product.width),
                       kernel.number(product.width),
                       kernel.slot(frame, termsSlot), kernel.mul(first, height),
                       kernel.min(kernel.mul(last, height), count)});
          return;
        }
        kernel.call(gemmColumnsName(elementOf(op, real)),
                    {slotOf(storage.of(product.left.getArray())),
                     slotOf(*storage.rowListOf(op)),
                     kernel.number(product.runs),
                     kernel.number(product.runLength),
                     slotOf(storage.of(product.right.getArray())),
                     kernel.number(product.rowStride),
                     kernel.number(product.columnStride),
                     slotOf(storage.of(op.getResult())),
                     kernel.number(product.width), kernel.number(product.width),
                     kernel.slot(frame, termsSlot), kernel.mul(first, height),
                     kernel.min(kernel.mul(last, height), count)});
      },
      unitsOfThread(units));
}
