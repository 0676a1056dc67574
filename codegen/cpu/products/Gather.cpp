//===- Gather.cpp - matrix products whose columns are gathered ------------===//
//
// The gradient of a convolution's weights has a term for each place of the
// result. A column of A consists of runs of an image, listed by address: each
// run is some rows of C, and is read in place. B is packed where it is used, in
// pieces that fit into the second-level cache.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/TensorKernel.h"

using namespace mlir;
using namespace fovea::codegen;

using Values = KernelBuilder::Values;

/// The panels and terms of B that are packed at a time.
static constexpr int64_t mostPanels = 4, depth = 512;
/// Elements of a run that are computed at a time.
static constexpr int64_t gatheredAtOnce = 512;

std::string fovea::codegen::gemmColumnsName(GemmElement element) {
  return nameFor("fovea_gemm_columns", element);
}

Value fovea::codegen::zerosOfRun(KernelBuilder &b, VectorType vector,
                                 Value count, int64_t depth) {
  Type element = vector.getElementType();
  int64_t lanes = vector.getNumElements();
  Value room = b.scratch(element, llvm::alignTo(depth, lanes));
  b.loop(b.number(0), b.min(count, b.number(depth)), b.number(lanes),
         [&](Value at) {
           b.store(b.constant(vector, 0), b.at(element, room, at));
         });
  return room;
}

namespace {
/// The arguments of the function.
struct Columns {
  KernelBuilder &b;
  GemmElement both;
  Type element;
  GemmTile tile;
  Value a, list, runs, run, right, rs, cs, c, ldc, n, k, first, last;

  Value address(Value base, Value row, Value stride) {
    return b.at(element, base, b.mul(row, stride));
  }
  void forRuns(llvm::function_ref<void(Value run, Value from, Value to)> body);
  void multiply();
};
} // namespace

/// The rows first..last-1, run by run.
void Columns::forRuns(
    llvm::function_ref<void(Value run, Value from, Value to)> body) {
  Value most = b.number(gatheredAtOnce);
  b.loop(b.div(first, run), b.divUp(last, run), b.number(1), [&](Value index) {
    Value begin = b.mul(index, run), zero = b.number(0);
    Value from = b.max(b.sub(first, begin), zero);
    Value to = b.min(b.sub(last, begin), run);
    b.loop(from, to, most, [&](Value part) {
      body(index, part, b.min(to, b.add(part, most)));
    });
  });
}

void Columns::multiply() {
  Type number = b.i64();
  Value zero = b.number(0), one = b.number(1);
  Value width = b.number(tile.columns());
  Value packed = b.scratch(element, depth * mostPanels * tile.columns());
  Value columns = b.scratch(number, depth);
  Value none = zerosOfRun(b, VectorType::get(tile.lanes, element), run,
                          gatheredAtOnce + tile.rows);
  Value together = b.mul(b.number(mostPanels), width);
  b.loop(zero, n, together, [&](Value column) {
    Value count = b.min(together, b.sub(n, column));
    Value panels = b.divUp(count, width);
    // k = 0 still makes one turn, which writes zeros.
    b.loop(zero, b.max(k, one), b.number(depth), [&](Value term) {
      Value terms = b.min(b.number(depth), b.sub(k, term));
      b.call(packName(element), {address(address(right, term, rs), column, cs),
                                 rs, cs, terms, count, packed, zero, panels});
      forRuns([&](Value index, Value from, Value to) {
        // Terms beyond the edge of an image are omitted at both ends.
        Values ends =
            b.loop(zero, terms, one, {terms, zero},
                   [&](Value each, ValueRange soFar) -> Values {
                     Value at = b.add(b.mul(b.add(term, each), runs), index);
                     Value entry = b.load(number, b.at(number, list, at));
                     Value there = b.at(element, a, b.add(entry, from));
                     Value isNowhere = b.equal(entry, b.number(nowhere));
                     b.store(b.select(isNowhere, none, there),
                             b.at(number, columns, each));
                     Value begin = b.min(soFar[0], each);
                     return {b.select(isNowhere, soFar[0], begin),
                             b.select(isNowhere, soFar[1], b.add(each, one))};
                   });
        Value begin = b.min(ends[0], ends[1]);
        if (both.sums)
          begin = b.sub(begin, b.rem(begin, b.number(termsOfGroups)));
        Value row = b.add(b.mul(index, run), from);
        b.call(gemmBlockName(LeftSide::columns, both),
               {b.at(number, columns, begin), zero,
                address(packed, begin, width), b.mul(terms, width),
                b.at(element, address(c, row, ldc), column), ldc,
                b.sub(to, from), b.sub(ends[1], begin), count, zero, panels,
                b.less(zero, term)});
      });
    });
  });
}

void fovea::codegen::emitGather(KernelBuilder &builder, GemmElement element,
                                const GemmTile &tile) {
  Type number = builder.i64(), pointer = builder.pointer();
  Type arguments[] = {pointer, pointer, number, number, pointer, number, number,
                      pointer, number,  number, number, number,  number};
  builder.function(gemmColumnsName(element), arguments, /*isPrivate=*/false,
                   [&](ValueRange args) {
                     Columns columns{.b = builder,
                                     .both = element,
                                     .element = element.type,
                                     .tile = tile,
                                     .a = args[0],
                                     .list = args[1],
                                     .runs = args[2],
                                     .run = args[3],
                                     .right = args[4],
                                     .rs = args[5],
                                     .cs = args[6],
                                     .c = args[7],
                                     .ldc = args[8],
                                     .n = args[9],
                                     .k = args[10],
                                     .first = args[11],
                                     .last = args[12]};
                     columns.multiply();
                   });
}
