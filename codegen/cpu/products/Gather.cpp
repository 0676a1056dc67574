//===- Gather.cpp - matrix products whose right side is gathered ----------===//
//
// B of a convolution's gradient is nowhere: each of its rows consists of runs
// of an image, which a list names. They are packed where they are used, in
// pieces that stay in the second-level cache.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/MicroKernel.h"

using namespace mlir;
using namespace fovea::codegen;

/// Terms that are packed at a time.
static constexpr int64_t depth = 512;

std::string fovea::codegen::productRunsName(Type element) {
  return nameFor("fovea_product_runs", element);
}

namespace {
struct Gather {
  KernelBuilder &b;
  Type element;
  VectorType vector;
  GemmTile tile;

  void packVector(Value source, Value list, Value runs, Value run, Value k,
                  Value column, Value count, Value out);
  void emitPackRuns();
  void emitProductRuns();
};
} // namespace

static std::string packRunsName(Type element) {
  return nameFor("fovea_pack_runs", element);
}

/// The columns column..column+count-1 of all terms, at most a vector of them.
/// They belong to one run or to several.
void Gather::packVector(Value source, Value list, Value runs, Value run,
                        Value k, Value column, Value count, Value out) {
  Value zero = b.number(0), one = b.number(1), lanes = b.number(tile.lanes);
  auto forTerms = [&](Value to, llvm::function_ref<void(Value, Value)> body) {
    b.loop(zero, k, one, [&](Value term) {
      body(term, b.at(element, to, b.mul(term, b.number(tile.columns()))));
    });
  };
  Value none = b.constant(vector, 0);
  b.branch(b.less(count, lanes),
           [&] { forTerms(out, [&](Value, Value to) { b.store(none, to); }); });
  Value end = b.add(column, count);
  Value firstRun = b.div(column, run);
  Value lastRun = b.select(b.less(zero, count), b.divUp(end, run), firstRun);
  b.loop(firstRun, lastRun, one, [&](Value index) {
    Value begin = b.mul(index, run);
    Value from = b.max(begin, column);
    Value length = b.sub(b.min(b.add(begin, run), end), from);
    Value within = b.sub(from, begin);
    auto copy = [&](Value mask) {
      forTerms(b.at(element, out, b.sub(from, column)), [&](Value term,
                                                            Value to) {
        Value at = b.add(b.mul(term, runs), index);
        Value entry = b.load(b.i64(), b.at(b.i64(), list, at));
        b.branch(
            b.equal(entry, b.number(nowhere)), [&] { b.store(none, to, mask); },
            [&] {
              Value input = b.at(element, source, b.add(entry, within));
              b.store(b.load(vector, input, mask), to, mask);
            });
      });
    };
    b.branch(
        b.equal(length, lanes), [&] { copy(nullptr); },
        [&] { copy(b.maskBelow(length, tile.lanes)); });
  });
}

/// Arguments: source, list, runs, run, k, column, count, out.
void Gather::emitPackRuns() {
  Type number = b.i64(), pointer = b.pointer();
  Type arguments[] = {pointer, pointer, number, number,
                      number,  number,  number, pointer};
  b.function(packRunsName(element), arguments, /*isPrivate=*/true,
             [&](ValueRange args) {
               Value column = args[5], count = args[6], out = args[7];
               Value zero = b.number(0);
               b.loop(zero, count, b.number(tile.columns()), [&](Value ahead) {
                 Value panel = b.at(element, out, b.mul(ahead, args[4]));
                 for (int64_t v = 0; v < tile.vectors; ++v) {
                   Value at = b.add(ahead, b.number(v * tile.lanes));
                   Value left = b.min(b.sub(count, at), b.number(tile.lanes));
                   packVector(args[0], args[1], args[2], args[3], args[4],
                              b.add(column, at), b.max(left, zero),
                              b.at(element, panel, v * tile.lanes));
                 }
               });
             });
}

void Gather::emitProductRuns() {
  Type number = b.i64(), pointer = b.pointer();
  Type arguments[] = {pointer, number, number,  pointer, pointer,
                      number,  number, pointer, number,  number,
                      number,  number, number,  number};
  b.function(productRunsName(element), arguments, /*isPrivate=*/false,
             [&](ValueRange args) {
               Value a = args[0], ars = args[1], acs = args[2],
                     source = args[3];
               Value list = args[4], runs = args[5], run = args[6];
               Value c = args[7], ldc = args[8], m = args[9], n = args[10];
               Value k = args[11], first = args[12], last = args[13];
               Value zero = b.number(0), one = b.number(1);
               Value width = b.number(tile.columns());
               Value scratch =
                   b.scratch(element, depth * gatheredPanels * tile.columns());
               b.loop(first, last, b.number(gatheredPanels), [&](Value panel) {
                 Value panels =
                     b.min(b.number(gatheredPanels), b.sub(last, panel));
                 Value column = b.mul(panel, width);
                 Value count = b.min(b.mul(panels, width), b.sub(n, column));
                 // k = 0 still makes one turn, which writes zeros.
                 b.loop(zero, b.max(k, one), b.number(depth), [&](Value term) {
                   Value terms = b.min(b.number(depth), b.sub(k, term));
                   b.call(packRunsName(element),
                          {source, b.at(number, list, b.mul(term, runs)), runs,
                           run, terms, column, count, scratch});
                   b.call(gemmName(element),
                          {b.at(element, a, b.mul(term, acs)), ars, acs,
                           scratch, b.at(element, c, column), ldc, m, count,
                           terms, zero, panels, b.less(zero, term)});
                 });
               });
             });
}

void fovea::codegen::emitGather(KernelBuilder &builder, Type element,
                                const GemmTile &tile) {
  Gather gather{builder, element, VectorType::get(tile.lanes, element), tile};
  gather.emitPackRuns();
  gather.emitProductRuns();
}
