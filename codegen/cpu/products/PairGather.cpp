//===- PairGather.cpp - gathered products of factors in bf16 --------------===//
//
// The rows of a gathered A are brought together and rounded, block by block;
// then they are multiplied as others are. What a list says is nowhere is zero.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/MicroKernel.h"
#include "codegen/cpu/products/Pairs.h"

using namespace mlir;
using namespace fovea::codegen;

/// Terms and rows of a block.
static constexpr int64_t gatheredTerms = 512, rowsOfBlock = 96;
/// The panels of B that are packed at a time.
static constexpr int64_t panelsOfBlock = 4;

namespace {
struct PairGatherer {
  KernelBuilder &b;
  GemmTile tile;
  GemmElement element;
  Value row, block; // room for the terms of a row, and for pairs of rows

  PairGatherer(KernelBuilder &b, const GemmTile &tile)
      : b(b), tile(tile), element(GemmElement::inPairs(b.getF32Type())) {}

  void takeRooms();
  Value at(Value base, Value index) { return b.at(element.type, base, index); }
  void stage(Value rows, Value terms, llvm::function_ref<void(Value row)> fill);
  void emitRuns();
  void emitColumns();
};
} // namespace

void PairGatherer::takeRooms() {
  row = b.scratch(element.type, gatheredTerms + 2 * tile.lanes);
  block = b.scratch(b.getI32Type(), (rowsOfBlock + tile.lanes) * stagedStride);
}

/// `fill` writes the terms of a row of the block.
void PairGatherer::stage(Value rows, Value terms,
                         llvm::function_ref<void(Value row)> fill) {
  b.loop(b.number(0), rows, b.number(1), [&](Value each) {
    fill(each);
    copyPairs(b, tile, row,
              b.at(b.getI32Type(), block, b.mul(each, b.number(stagedStride))),
              terms);
  });
}

void PairGatherer::emitRuns() {
  Type number = b.i64(), pointer = b.pointer(), real = element.type;
  Type arguments[] = {pointer, pointer, number,       number, pointer,
                      pointer, number,  number,       number, number,
                      number,  number,  b.getI1Type()};
  b.function(
      gemmRunsName(element), arguments, /*isPrivate=*/false,
      [&](ValueRange args) {
        Value a = args[0], list = args[1], runs = args[2];
        Value bp = args[4], c = args[5], ldc = args[6], m = args[7];
        Value k = args[9], zero = b.number(0), one = b.number(1);
        Value run = b.max(args[3], one), width = b.number(tile.columns());
        Value panelSize = b.mul(pairsOf(b, k), width);
        takeRooms();
        // k = 0 still makes one turn, which writes zeros.
        b.loop(zero, b.max(k, one), b.number(gatheredTerms), [&](Value term) {
          Value end = b.min(k, b.add(term, b.number(gatheredTerms)));
          Value terms = b.sub(end, term);
          b.loop(zero, m, b.number(rowsOfBlock), [&](Value first) {
            Value rows = b.min(b.number(rowsOfBlock), b.sub(m, first));
            stage(rows, terms, [&](Value each) {
              Value entries = b.mul(b.add(first, each), runs);
              b.loop(b.div(term, run), b.divUp(end, run), one, [&](Value r) {
                Value begin = b.mul(r, run), from = b.max(begin, term);
                Value count = b.sub(b.min(b.add(begin, run), end), from);
                Value to = at(row, b.sub(from, term));
                Value entry =
                    b.load(number, b.at(number, list, b.add(entries, r)));
                b.branch(
                    b.equal(entry, b.number(nowhere)),
                    [&] { b.clear(real, to, count); },
                    [&] {
                      Value source = at(a, b.add(entry, b.sub(from, begin)));
                      b.copy(real, to, source, count);
                    });
              });
            });
            Value panels = b.at(b.getI32Type(), bp,
                                b.mul(b.div(term, b.number(2)), width));
            b.call(gemmBlockName(LeftSide::staged, element),
                   {block, b.number(stagedStride), one, panels, panelSize,
                    at(c, b.mul(first, ldc)), ldc, rows, pairsOf(b, terms),
                    args[8], args[10], args[11],
                    b.either(args[12], b.less(zero, term)), a, one, one});
          });
        });
      });
}

void PairGatherer::emitColumns() {
  Type number = b.i64(), pointer = b.pointer(), real = element.type;
  Type arguments[] = {pointer, pointer, number, number, pointer, number, number,
                      pointer, number,  number, number, number,  number};
  b.function(
      gemmColumnsName(element), arguments, /*isPrivate=*/false,
      [&](ValueRange args) {
        Value a = args[0], list = args[1], runs = args[2], run = args[3];
        Value right = args[4], rs = args[5], cs = args[6], c = args[7];
        Value ldc = args[8], n = args[9], k = args[10];
        Value zero = b.number(0), one = b.number(1);
        Value width = b.number(tile.columns());
        Value together = b.number(panelsOfBlock * tile.columns());
        Value packed = b.scratch(
            b.getI32Type(), gatheredTerms / 2 * panelsOfBlock * tile.columns());
        takeRooms();
        b.loop(zero, b.max(k, one), b.number(gatheredTerms), [&](Value term) {
          Value terms = b.min(b.number(gatheredTerms), b.sub(k, term));
          b.loop(args[11], args[12], b.number(rowsOfBlock), [&](Value first) {
            Value rows = b.min(b.number(rowsOfBlock), b.sub(args[12], first));
            stage(rows, terms, [&](Value each) {
              Value place = b.add(first, each);
              Value ofRun = b.div(place, run), inRun = b.rem(place, run);
              b.loop(zero, terms, one, [&](Value i) {
                Value entry = b.load(
                    number, b.at(number, list,
                                 b.add(b.mul(b.add(term, i), runs), ofRun)));
                Value value = b.choose(
                    b.equal(entry, b.number(nowhere)),
                    [&] { return b.constant(real, 0); },
                    [&] { return b.load(real, at(a, b.add(entry, inRun))); });
                b.store(value, at(row, i));
              });
            });
            b.loop(zero, n, together, [&](Value column) {
              Value count = b.min(together, b.sub(n, column));
              Value panels = b.divUp(count, width);
              Value from = b.add(b.mul(term, rs), b.mul(column, cs));
              b.call(packName(element), {at(right, from), rs, cs, terms, count,
                                         packed, zero, panels});
              b.call(gemmBlockName(LeftSide::staged, element),
                     {block, b.number(stagedStride), one, packed,
                      b.mul(pairsOf(b, terms), width),
                      at(c, b.add(b.mul(first, ldc), column)), ldc, rows,
                      pairsOf(b, terms), count, zero, panels,
                      b.less(zero, term), a, one, one});
            });
          });
        });
      });
}

void fovea::codegen::emitPairGather(KernelBuilder &builder,
                                    const GemmTile &tile) {
  PairGatherer gatherer(builder, tile);
  gatherer.emitRuns();
  gatherer.emitColumns();
}
