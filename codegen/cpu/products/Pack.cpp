//===- Pack.cpp - B in the order in which it is multiplied ----------------===//
//
// A panel is `columns` columns wide and stored row by row, so that the
// innermost loop of the product reads it sequentially. The two usual
// orientations, rows adjacent (x W) and columns adjacent (x W^T), have vector
// loops; any other stride is copied element by element.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/MicroKernel.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fovea::codegen;

using Values = KernelBuilder::Values;

/// Panels that are copied together, so that a row of B is read at once.
static constexpr int64_t panelsAtATime = 8;

namespace {

/// The arguments of the function and, while a panel is copied, the panel.
struct Packing {
  KernelBuilder &b;
  Type element; // in memory, of B and packed
  VectorType vector;
  GemmTile tile;
  bool isFar; // whole vectors go past the caches
  Value source, rs, cs, k, n, out, first, last;
  Value panel = nullptr;  // where it goes
  Value column = nullptr; // its first column
  Value left = nullptr;   // columns from there on, at most its width

  Value row(Value base, Value index) {
    return b.at(element, base, b.mul(index, b.number(tile.columns())));
  }
  void store(Value value, Value address) {
    if (isFar)
      b.storePast(value, address);
    else
      b.store(value, address);
  }
  Value loadBelow(Value count, Value address);
  void copyRows();
  void copyParts(Value parts);
  void forPanels(llvm::function_ref<void()> body);
  void transpose();
  void copyElements();
};

} // namespace

/// The elements of a vector before `count`. Few machines mask 16 bits at once.
Value Packing::loadBelow(Value count, Value address) {
  auto masked = [&] {
    return b.load(vector, address, b.maskBelow(count, tile.lanes));
  };
  if (isa<FloatType>(element))
    return masked();
  return b.choose(
      b.atMost(b.number(tile.lanes), count),
      [&] { return b.load(vector, address); }, masked);
}

/// cs = 1: rows of the panels are rows of B.
void Packing::copyRows() {
  Value width = b.number(tile.columns()), one = b.number(1);
  Value together = b.number(panelsAtATime), panelSize = b.mul(k, width);
  b.loop(first, last, together, [&](Value begin) {
    Value end = b.min(last, b.add(begin, together));
    b.loop(b.number(0), k, one, [&](Value i) {
      Value input = b.at(element, source, b.mul(i, rs)), output = row(out, i);
      b.loop(begin, end, one, [&](Value index) {
        Value column = b.mul(index, width), left = b.sub(n, column);
        Value from = b.at(element, input, column);
        Value to = b.at(element, output, b.mul(index, panelSize));
        auto fromVector = [&](int64_t v) {
          return b.at(element, from, v * tile.lanes);
        };
        auto toVector = [&](int64_t v) {
          return b.at(element, to, v * tile.lanes);
        };
        b.branch(
            b.atMost(width, left),
            [&] {
              for (int64_t v = 0; v < tile.vectors; ++v)
                store(b.load(vector, fromVector(v)), toVector(v));
            },
            [&] {
              for (int64_t v = 0; v < tile.vectors; ++v) {
                Value count = b.sub(left, b.number(v * tile.lanes));
                Value mask = b.maskBelow(count, tile.lanes);
                store(b.load(vector, fromVector(v), mask), toVector(v));
              }
            });
      });
    });
  });
}

/// A vector of every part, then the next of every part: each is a column of
/// vectors of the panels.
void Packing::copyParts(Value parts) {
  int64_t lanes = tile.lanes;
  Value zero = b.number(0), one = b.number(1), size = b.number(lanes);
  Value vectors = b.number(tile.vectors), width = b.div(n, parts);
  b.loop(b.mul(first, vectors), b.mul(last, vectors), one, [&](Value number) {
    Value place = b.add(b.mul(b.rem(number, parts), width),
                        b.mul(b.div(number, parts), size));
    Value from = b.at(element, source, b.mul(place, cs));
    Value to = b.at(element, row(out, b.mul(b.div(number, vectors), k)),
                    b.mul(b.rem(number, vectors), size));
    auto clear = [&] {
      b.loop(zero, k, one,
             [&](Value i) { store(b.constant(vector, 0), row(to, i)); });
    };
    auto copy = [&] {
      b.loop(zero, k, one, [&](Value i) {
        store(b.load(vector, b.at(element, from, b.mul(i, rs))), row(to, i));
      });
    };
    auto transpose = [&] {
      b.loop(zero, k, size, [&](Value i) {
        Value rowsLeft = b.sub(k, i);
        Values square;
        for (int64_t lane = 0; lane < lanes; ++lane) {
          Value column = b.at(element, from, b.mul(b.number(lane), cs));
          square.push_back(loadBelow(rowsLeft, b.at(element, column, i)));
        }
        transposeSquare(b, square);
        for (int64_t lane = 0; lane < lanes; ++lane)
          b.branch(b.less(b.number(lane), rowsLeft), [&] {
            store(square[lane], row(to, b.add(i, b.number(lane))));
          });
      });
    };
    b.branch(
        b.less(b.mul(number, size), n),
        [&] { b.branch(b.equal(cs, one), copy, transpose); }, clear);
  });
}

void Packing::forPanels(llvm::function_ref<void()> body) {
  Value width = b.number(tile.columns());
  b.loop(first, last, b.number(1), [&](Value index) {
    column = b.mul(index, width);
    left = b.min(b.sub(n, column), width);
    panel = row(out, b.mul(index, k));
    body();
  });
}

// Exchanges halves of ever larger blocks: log2(lanes) rounds of one shuffle per
// vector.
void fovea::codegen::transposeSquare(KernelBuilder &b,
                                     MutableArrayRef<Value> square) {
  int64_t lanes = square.size();
  for (int64_t bit = 1; bit < lanes; bit *= 2)
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & bit)
        continue;
      SmallVector<int64_t> low, high;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        // Lanes of the second operand are numbered from `lanes` on.
        low.push_back(lane & bit ? lanes + lane - bit : lane);
        high.push_back(lane & bit ? lanes + lane : lane + bit);
      }
      Value first = square[i], second = square[i + bit];
      square[i] = vector::ShuffleOp::create(b, first, second, low);
      square[i + bit] = vector::ShuffleOp::create(b, first, second, high);
    }
}

/// rs = 1: columns of the panel are rows of memory. Squares of `lanes` rows and
/// columns are transposed in registers; fewer remaining rows go through a
/// scratch square.
void Packing::transpose() {
  int64_t lanes = tile.lanes;
  Value zero = b.number(0);
  b.loop(zero, k, b.number(lanes), [&](Value i) {
    Value rowsLeft = b.min(b.sub(k, i), b.number(lanes));
    for (int64_t v = 0; v < tile.vectors; ++v) {
      Values square;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        Value index = b.number(v * lanes + lane);
        // A column beyond n is never accessed: its mask is empty.
        Value count = b.select(b.less(index, left), rowsLeft, zero);
        Value address = b.at(
            element, b.at(element, source, b.mul(b.add(column, index), cs)), i);
        square.push_back(loadBelow(count, address));
      }
      transposeSquare(b, square);
      Value output = b.at(element, row(panel, i), v * lanes);
      b.branch(
          b.equal(rowsLeft, b.number(lanes)),
          [&] {
            for (int64_t lane = 0; lane < lanes; ++lane)
              store(square[lane], b.at(element, output, lane * tile.columns()));
          },
          [&] {
            for (int64_t lane = 0; lane < lanes; ++lane)
              b.branch(b.less(b.number(lane), rowsLeft), [&] {
                b.store(square[lane],
                        b.at(element, output, lane * tile.columns()));
              });
          });
    }
  });
}

void Packing::copyElements() {
  Value zero = b.number(0);
  Value from = b.at(element, source, b.mul(column, cs));
  b.loop(zero, k, b.number(1), [&](Value i) {
    Value input = b.at(element, from, b.mul(i, rs));
    Value output = row(panel, i);
    b.loop(zero, left, b.number(1), [&](Value j) {
      Value address = b.at(element, input, b.mul(j, cs));
      b.store(b.load(element, address), b.at(element, output, j));
    });
    b.loop(left, b.number(tile.columns()), b.number(1), [&](Value j) {
      b.store(b.constant(element, 0), b.at(element, output, j));
    });
  });
}

/// Packing with the arguments of a pack function.
static Packing packing(KernelBuilder &b, GemmElement element,
                       const GemmTile &tile, bool isFar, ValueRange args) {
  return {.b = b,
          .element = rightInMemory(element),
          .vector = VectorType::get(tile.lanes, rightInMemory(element)),
          .tile = tile,
          .isFar = isFar,
          .source = args[0],
          .rs = args[1],
          .cs = args[2],
          .k = args[3],
          .n = args[4],
          .out = args[5],
          .first = args[6],
          .last = args[7]};
}

void fovea::codegen::emitPack(KernelBuilder &builder, GemmElement element,
                              const GemmTile &tile, bool isFar) {
  Type number = builder.i64(), pointer = builder.pointer();
  Type arguments[] = {pointer, number,  number, number,
                      number,  pointer, number, number};
  std::string name = isFar ? packFarName(element) : packName(element);
  builder.function(name, arguments, /*isPrivate=*/false, [&](ValueRange args) {
    Packing own = packing(builder, element, tile, isFar, args);
    auto byPanels = [&](void (Packing::*copy)()) {
      own.forPanels([&] { (own.*copy)(); });
    };
    Value one = builder.number(1);
    builder.branch(
        builder.equal(own.cs, one), [&] { own.copyRows(); },
        [&] {
          builder.branch(
              builder.equal(own.rs, one),
              [&] { byPanels(&Packing::transpose); },
              [&] { byPanels(&Packing::copyElements); });
        });
    if (isFar)
      builder.fence();
  });
}

void fovea::codegen::emitPackParts(KernelBuilder &builder, GemmElement element,
                                   const GemmTile &tile) {
  Type number = builder.i64(), pointer = builder.pointer();
  Type arguments[] = {pointer, number, number, number, number,
                      pointer, number, number, number};
  builder.function(packPartsName(element), arguments, /*isPrivate=*/false,
                   [&](ValueRange args) {
                     packing(builder, element, tile, /*isFar=*/false, args)
                         .copyParts(args[8]);
                   });
}
