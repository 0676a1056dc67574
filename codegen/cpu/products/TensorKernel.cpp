//===- TensorKernel.cpp - the sums of tensor cores on a CPU ---------------===//

#include "codegen/cpu/products/TensorKernel.h"

using namespace mlir;
using namespace fovea::codegen;

void fovea::codegen::declareTensorCore(KernelBuilder &builder,
                                       ModuleOp module) {
  if (module.lookupSymbol(tensorCoreName))
    return;
  Type number = builder.i64(), pointer = builder.pointer();
  Type arguments[] = {number, number,  number, pointer, pointer,
                      number, pointer, number, number,  number};
  builder.setInsertionPointToEnd(module.getBody());
  builder
      .create<func::FuncOp>(tensorCoreName,
                            builder.getFunctionType(arguments, {}))
      .setPrivate();
}

/// The address of term `term` of row `row`, as the arguments of a micro-kernel
/// say.
static Value addressOf(KernelBuilder &b, Type element, LeftSide side,
                       ValueRange left, Value row, Value term) {
  Type number = b.i64();
  switch (side) {
  case LeftSide::strided:
    return b.at(element, left[0],
                b.add(b.mul(row, left[1]), b.mul(term, left[2])));
  case LeftSide::staged:
    return b.at(element, left[0],
                b.add(b.mul(row, b.number(stagedStride)), term));
  case LeftSide::columns: {
    Value column = b.load(b.pointer(), b.at(number, left[0], term));
    return b.at(element, column, b.add(left[1], row));
  }
  case LeftSide::runs: {
    Value source = left[0], list = left[1], runs = left[2], run = left[3];
    Value at = b.add(left[4], term);
    Value entry = b.load(
        number, b.at(number, list, b.add(b.mul(row, runs), b.div(at, run))));
    return b.select(b.equal(entry, b.number(nowhere)), left[5],
                    b.at(element, source, b.add(entry, b.rem(at, run))));
  }
  }
  llvm_unreachable("no such left side");
}

std::string fovea::codegen::emitTensorKernel(KernelBuilder &builder,
                                             GemmElement element,
                                             const GemmTile &tile,
                                             const KernelShape &shape) {
  std::string name = kernelName(element, shape);
  Type number = builder.i64(), pointer = builder.pointer(), real = element.type;
  SmallVector<Type> arguments = leftArguments(builder, shape.left);
  size_t numLeft = arguments.size();
  arguments.append(
      {pointer, number, pointer, number, number, number, builder.getI1Type()});
  if (shape.left == LeftSide::strided || shape.left == LeftSide::staged)
    arguments.append({pointer, number});
  builder.function(name, arguments, /*isPrivate=*/true, [&](ValueRange all) {
    KernelBuilder &b = builder;
    ValueRange left = all.take_front(numLeft), args = all.drop_front(numLeft);
    Value panels = args[0], panelSize = args[1], c = args[2], ldc = args[3];
    Value terms = args[4], columns = args[5];
    Value zero = b.number(0), one = b.number(1),
          width = b.number(tile.columns());
    Value goesOn = b.select(args[6], one, zero);
    Value row = b.scratch(real, mostTerms);
    Value computed = b.min(columns, b.number(shape.vectors * tile.lanes));
    b.loop(zero, b.number(shape.rows), one, [&](Value i) {
      b.loop(zero, terms, one, [&](Value k) {
        Value from = addressOf(b, real, shape.left, left, i, k);
        b.store(b.load(real, from), b.at(real, row, k));
      });
      b.loop(zero, computed, width, [&](Value column) {
        Value panel =
            b.at(real, panels, b.mul(b.div(column, width), panelSize));
        Value sums = b.at(real, c, b.add(b.mul(i, ldc), column));
        b.call(tensorCoreName,
               {b.number(element.sums->terms), b.number(element.sums->digits),
                b.number(element.sums->placeOfZero), row, panel, width, sums,
                b.min(width, b.sub(computed, column)), terms, goesOn});
      });
    });
  });
  return name;
}
