//===- Product.cpp - matrix products whose right side is used once --------===//
//
// C = A * B. B is packed where it is used, in pieces that fit into the
// second-level cache, and may be needed only along a diagonal. The order of the
// terms of each element does not depend on the pieces.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/MicroKernel.h"

using namespace mlir;
using namespace fovea::codegen;

/// The size of a packed piece: panels x terms, 393 KB.
static constexpr int64_t pieceSize = 4 * 512;
/// Terms of one piece; fewer along a diagonal, where whole pieces are skipped.
static constexpr int64_t deepest = 512, deepestInBand = 128;
/// Rows, and panels, that are skipped together.
static constexpr int64_t bandRows = 96, panelsInBand = 4;

std::string fovea::codegen::productName(GemmElement element) {
  return nameFor("fovea_product", element);
}

namespace {
/// The arguments, and values shared by all pieces.
struct Product {
  KernelBuilder &b;
  GemmElement both;
  Type element;
  GemmTile tile;
  Value a, ars, acs, right, rs, cs, c, ldc, m, n, k;
  Value kBelow, kAbove, nBelow, nAbove;

  Value isBounded(Value below, Value above) {
    return b.less(b.min(below, above), b.number(unbounded));
  }
  Value address(Value base, Value row, Value rowStride, Value column,
                Value columnStride) {
    return b.at(element, base,
                b.add(b.mul(row, rowStride), b.mul(column, columnStride)));
  }
  void multiply();
  void clearOutside();
};
} // namespace

void Product::multiply() {
  Value zero = b.number(0), one = b.number(1);
  Value width = b.number(tile.columns());
  Value scratch = b.scratch(element, pieceSize * tile.columns());
  Value inBand = b.either(isBounded(kBelow, kAbove), isBounded(nBelow, nAbove));
  Value height = b.select(inBand, b.number(bandRows), b.max(m, one));
  Value depth = b.min(b.max(k, one),
                      b.select(isBounded(kBelow, kAbove),
                               b.number(deepestInBand), b.number(deepest)));
  Value panels = b.div(b.number(pieceSize), depth);
  panels = b.select(inBand, b.min(panels, b.number(panelsInBand)), panels);
  Value columns = b.mul(panels, width);

  b.loop(zero, n, columns, [&](Value column) {
    Value numColumns = b.min(columns, b.sub(n, column));
    Value numPanels = b.divUp(numColumns, width);
    // k = 0 still makes one turn, which writes zeros.
    b.loop(zero, b.max(k, one), depth, [&](Value term) {
      Value terms = b.min(depth, b.sub(k, term));
      b.call(packName(both), {address(right, term, rs, column, cs), rs, cs,
                              terms, numColumns, scratch, zero, numPanels});
      Value isFirst = b.equal(term, zero);
      b.loop(zero, m, height, [&](Value row) {
        Value rows = b.min(height, b.sub(m, row));
        Value lastRow = b.sub(b.add(row, rows), one);
        auto touches = [&](Value from, Value count, Value below, Value above) {
          Value last = b.sub(b.add(from, count), one);
          return b.both(b.atMost(from, b.add(lastRow, above)),
                        b.atMost(row, b.add(last, below)));
        };
        // The first terms initialise C.
        Value matters =
            b.both(touches(column, numColumns, nBelow, nAbove),
                   b.either(isFirst, touches(term, terms, kBelow, kAbove)));
        b.branch(matters, [&] {
          b.call(gemmName(both),
                 {address(a, row, ars, term, acs), ars, acs, scratch,
                  address(c, row, ldc, column, one), ldc, rows, numColumns,
                  terms, zero, numPanels, b.less(zero, term)});
        });
      });
    });
  });
}

void Product::clearOutside() {
  Value zero = b.number(0), one = b.number(1);
  b.branch(isBounded(nBelow, nAbove), [&] {
    b.loop(zero, m, one, [&](Value row) {
      Value from = b.max(zero, b.min(n, b.sub(row, nBelow)));
      Value to = b.min(n, b.max(from, b.add(b.add(row, nAbove), one)));
      auto clear = [&](Value first, Value last) {
        b.loop(first, last, one, [&](Value column) {
          b.store(b.constant(element, 0), address(c, row, ldc, column, one));
        });
      };
      clear(zero, from);
      clear(to, n);
    });
  });
}

void fovea::codegen::emitProduct(KernelBuilder &builder, GemmElement element,
                                 const GemmTile &tile) {
  Type number = builder.i64(), pointer = builder.pointer();
  Type arguments[] = {pointer, number,  number, pointer, number,
                      number,  pointer, number, number,  number,
                      number,  number,  number, number,  number};
  builder.function(productName(element), arguments, /*isPrivate=*/false,
                   [&](ValueRange args) {
                     Product product{.b = builder,
                                     .both = element,
                                     .element = element.type,
                                     .tile = tile,
                                     .a = args[0],
                                     .ars = args[1],
                                     .acs = args[2],
                                     .right = args[3],
                                     .rs = args[4],
                                     .cs = args[5],
                                     .c = args[6],
                                     .ldc = args[7],
                                     .m = args[8],
                                     .n = args[9],
                                     .k = args[10],
                                     .kBelow = args[11],
                                     .kAbove = args[12],
                                     .nBelow = args[13],
                                     .nAbove = args[14]};
                     product.multiply();
                     product.clearOutside();
                   });
}
