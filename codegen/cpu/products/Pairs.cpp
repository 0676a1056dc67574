//===- Pairs.cpp - factors in bf16, two terms in four bytes ---------------===//
//
// Terms are rounded where they are staged or packed, so that kernels only
// multiply. The rows of memory are those of A or B, or their columns: then
// squares of pairs are transposed in registers.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/Pairs.h"
#include "codegen/cpu/products/MicroKernel.h"
#include "codegen/kernel/RoundedFactors.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fovea::codegen;

using Values = KernelBuilder::Values;

/// Panels that are packed together, so that a row of B is read at once.
static constexpr int64_t panelsTogether = 8;

Value fovea::codegen::pairsOf(KernelBuilder &b, Value terms) {
  return b.divUp(terms, b.number(2));
}

//===----------------------------------------------------------------------===//
// Pairs in registers
//===----------------------------------------------------------------------===//

static Value whole(KernelBuilder &b, int32_t value, unsigned lanes) {
  return b.constant(withLanes(b.getI32Type(), lanes), value);
}

static Value bitsOf(KernelBuilder &b, Value real) {
  return b.create<arith::BitcastOp>(withLanes(b.getI32Type(), lanesOf(real)),
                                    real);
}

static Value numbersOf(KernelBuilder &b, Value bits) {
  return b.create<arith::BitcastOp>(withLanes(b.getF32Type(), lanesOf(bits)),
                                    bits);
}

/// The numbers in the upper or the lower halves.
static Value halfOf(KernelBuilder &b, Value pairs, bool isUpper) {
  unsigned lanes = lanesOf(pairs);
  if (isUpper)
    return numbersOf(b,
                     b.create<arith::AndIOp>(pairs, whole(b, -65536, lanes)));
  return numbersOf(b, b.create<arith::ShLIOp>(pairs, whole(b, 16, lanes)));
}

static Value callIntrinsic(KernelBuilder &b, StringRef name, Type result,
                           ValueRange operands) {
  return b
      .create<LLVM::CallIntrinsicOp>(result, b.getStringAttr(name), operands)
      .getResults();
}

Value fovea::codegen::addPair(KernelBuilder &b, const GemmTile &tile,
                              Value left, Value right, Value sum) {
  if (tile.multipliesPairs && lanesOf(sum)) {
    auto halves = VectorType::get(2 * tile.lanes, b.getBF16Type());
    return callIntrinsic(b, "llvm.x86.avx512bf16.dpbf16ps.512", sum.getType(),
                         {sum, b.create<vector::BitCastOp>(halves, left),
                          b.create<vector::BitCastOp>(halves, right)});
  }
  for (bool isUpper : {true, false})
    sum =
        addProduct(b, halfOf(b, left, isUpper), halfOf(b, right, isUpper), sum);
  return sum;
}

/// The rounded numbers of two vectors, in an order that
/// `places` gives. Few machines have an instruction for it.
static Value roundBoth(KernelBuilder &b, const GemmTile &tile, Value first,
                       Value second, ArrayRef<int64_t> places) {
  auto halves = VectorType::get(2 * tile.lanes, b.getBF16Type());
  Value rounded = callIntrinsic(b, "llvm.x86.avx512bf16.cvtne2ps2bf16.512",
                                halves, {second, first});
  auto whole = VectorType::get(2 * tile.lanes, b.getI16Type());
  rounded = b.create<vector::BitCastOp>(whole, rounded);
  rounded = b.create<vector::ShuffleOp>(rounded, rounded, places);
  return b.create<vector::BitCastOp>(
      VectorType::get(tile.lanes, b.getI32Type()), rounded);
}

/// The pairs of terms 2p, one in each lane, and terms 2p + 1.
static Value join(KernelBuilder &b, const GemmTile &tile, Value upper,
                  Value lower) {
  unsigned lanes = lanesOf(upper);
  if (tile.multipliesPairs && lanes) {
    SmallVector<int64_t> places;
    for (int64_t lane = 0; lane < tile.lanes; ++lane)
      places.append({tile.lanes + lane, lane});
    return roundBoth(b, tile, upper, lower, places);
  }
  Value low = bitsOf(b, factorOf(b, lower));
  low = b.create<arith::ShRUIOp>(low, whole(b, 16, lanes));
  return b.create<arith::OrIOp>(bitsOf(b, factorOf(b, upper)), low);
}

/// The pairs of two vectors of consecutive terms.
static Value pairUp(KernelBuilder &b, const GemmTile &tile, Value first,
                    Value second) {
  SmallVector<int64_t> even, odd, turned;
  for (int64_t lane = 0; lane < tile.lanes; ++lane) {
    even.push_back(2 * lane);
    odd.push_back(2 * lane + 1);
    turned.append({2 * lane + 1, 2 * lane});
  }
  if (tile.multipliesPairs)
    return roundBoth(b, tile, first, second, turned);
  return join(b, tile, b.create<vector::ShuffleOp>(first, second, even),
              b.create<vector::ShuffleOp>(first, second, odd));
}

//===----------------------------------------------------------------------===//
// A
//===----------------------------------------------------------------------===//

void fovea::codegen::copyPairs(KernelBuilder &b, const GemmTile &tile,
                               Value input, Value output, Value terms) {
  Type real = b.getF32Type(), pair = b.getI32Type();
  auto vector = VectorType::get(tile.lanes, real);
  Value size = b.number(2 * tile.lanes);
  Value end = b.sub(terms, b.rem(terms, size));
  auto copy = [&](Value term, Value left) {
    auto loadFrom = [&](int64_t first) {
      Value mask = left ? b.maskBelow(b.sub(left, b.number(first)), tile.lanes)
                        : Value();
      return b.load(vector, b.at(real, b.at(real, input, term), first), mask);
    };
    Value pairs = pairUp(b, tile, loadFrom(0), loadFrom(tile.lanes));
    b.store(pairs, b.at(pair, output, b.div(term, b.number(2))));
  };
  b.loop(b.number(0), end, size, [&](Value term) { copy(term, nullptr); });
  b.branch(b.less(end, terms), [&] { copy(end, b.sub(terms, end)); });
}

namespace {
/// The arguments of `stagePairs`.
struct Staging {
  KernelBuilder &b;
  const GemmTile &tile;
  Value a, ars, acs, m, k, out;

  Value in(Value row, Value term) {
    return b.at(b.getF32Type(), a, b.add(b.mul(row, ars), b.mul(term, acs)));
  }
  Value to(Value row, Value pair) {
    return b.at(b.getI32Type(), out,
                b.add(b.mul(row, b.number(stagedStride)), pair));
  }
  void copyRows();
  void transpose();
  void copyElements();
};
} // namespace

void Staging::copyRows() {
  Value zero = b.number(0);
  b.loop(zero, m, b.number(1),
         [&](Value i) { copyPairs(b, tile, in(i, zero), to(i, zero), k); });
}

/// The columns of A are rows of memory. Squares at the edges are computed
/// whole: pairs beyond the last are never read.
void Staging::transpose() {
  auto vector = VectorType::get(tile.lanes, b.getF32Type());
  Value zero = b.number(0), one = b.number(1), lanes = b.number(tile.lanes);
  b.loop(zero, pairsOf(b, k), lanes, [&](Value j) {
    b.loop(zero, m, lanes, [&](Value i) {
      Value rows = b.sub(m, i), mask = b.maskBelow(rows, tile.lanes);
      Values square;
      for (int64_t lane = 0; lane < tile.lanes; ++lane) {
        Value term = b.mul(b.add(j, b.number(lane)), b.number(2));
        // A column beyond k repeats the last one.
        Value upper = b.min(term, b.sub(k, one));
        Value next = b.add(term, one), lower = b.min(next, b.sub(k, one));
        Value below =
            b.maskBelow(b.select(b.less(next, k), rows, zero), tile.lanes);
        square.push_back(join(b, tile, b.load(vector, in(i, upper), mask),
                              b.load(vector, in(i, lower), below)));
      }
      transposeSquare(b, square);
      for (int64_t lane = 0; lane < tile.lanes; ++lane)
        b.store(square[lane], to(b.add(i, b.number(lane)), j));
    });
  });
}

/// A pair of a row or a column, from scalars: those before `k` exist.
static Value loadPair(KernelBuilder &b, const GemmTile &tile, Value k,
                      Value pair, llvm::function_ref<Value(Value)> address) {
  Type real = b.getF32Type();
  Value term = b.mul(pair, b.number(2)), next = b.add(term, b.number(1));
  Value lower = b.choose(
      b.less(next, k), [&] { return b.load(real, address(next)); },
      [&] { return b.constant(real, 0); });
  return join(b, tile, b.load(real, address(term)), lower);
}

void Staging::copyElements() {
  Value zero = b.number(0), one = b.number(1);
  b.loop(zero, m, one, [&](Value i) {
    b.loop(zero, pairsOf(b, k), one, [&](Value j) {
      b.store(loadPair(b, tile, k, j, [&](Value term) { return in(i, term); }),
              to(i, j));
    });
  });
}

void fovea::codegen::stagePairs(KernelBuilder &b, const GemmTile &tile,
                                ValueRange place, Value m, Value k, Value out) {
  Staging staging{b, tile, place[0], place[1], place[2], m, k, out};
  Value one = b.number(1);
  b.branch(
      b.equal(staging.acs, one), [&] { staging.copyRows(); },
      [&] {
        b.branch(
            b.equal(staging.ars, one), [&] { staging.transpose(); },
            [&] { staging.copyElements(); });
      });
}

//===----------------------------------------------------------------------===//
// B
//===----------------------------------------------------------------------===//

namespace {
/// The arguments of a pack function.
struct PairPacking {
  KernelBuilder &b;
  const GemmTile &tile;
  Value source, rs, cs, k, n, out, first, last, parts; // null: one part

  Type real() { return b.getF32Type(); }
  VectorType vector() { return VectorType::get(tile.lanes, real()); }
  Value in(Value term, Value column) {
    return b.at(real(), source, b.add(b.mul(term, rs), b.mul(column, cs)));
  }
  /// Vector `v` of pair `pair` of a panel.
  Value to(Value panel, Value pair, int64_t v) {
    Value row = b.add(b.mul(panel, pairsOf(b, k)), pair);
    return b.at(b.getI32Type(),
                b.at(b.getI32Type(), out, b.mul(row, b.number(tile.columns()))),
                v * tile.lanes);
  }
  /// The column of B at a place, and how many are there from it on.
  struct Column {
    Value at, left;
  };
  Column columnOf(Value panel, int64_t v) {
    Value place =
        b.add(b.mul(panel, b.number(tile.columns())), b.number(v * tile.lanes));
    return {parts ? columnOfParts(b, tile, place, n, parts) : place,
            b.sub(n, place)};
  }
  void copyRows();
  void transpose();
  void copyElements();
  void pack();
};
} // namespace

/// cs = 1: two rows of B become one of pairs.
void PairPacking::copyRows() {
  Value zero = b.number(0), one = b.number(1), width = b.number(tile.columns());
  b.loop(first, last, b.number(panelsTogether), [&](Value begin) {
    Value end = b.min(last, b.add(begin, b.number(panelsTogether)));
    b.loop(zero, pairsOf(b, k), one, [&](Value pair) {
      Value term = b.mul(pair, b.number(2)), next = b.add(term, one);
      Value isPair = b.less(next, k);
      b.loop(begin, end, one, [&](Value panel) {
        auto copy = [&](bool isWhole) {
          for (int64_t v = 0; v < tile.vectors; ++v) {
            auto [column, left] = columnOf(panel, v);
            Value upper, lower;
            if (!isWhole) {
              upper = b.maskBelow(left, tile.lanes);
              lower = b.maskBelow(b.select(isPair, left, zero), tile.lanes);
            }
            b.store(join(b, tile, b.load(vector(), in(term, column), upper),
                         b.load(vector(), in(next, column), lower)),
                    to(panel, pair, v));
          }
        };
        Value isFull = b.atMost(b.mul(b.add(panel, one), width), n);
        b.branch(
            b.both(isPair, isFull), [&] { copy(true); }, [&] { copy(false); });
      });
    });
  });
}

/// rs = 1: columns of the panel are rows of memory.
void PairPacking::transpose() {
  Value zero = b.number(0), one = b.number(1), lanes = b.number(tile.lanes);
  Value pairs = pairsOf(b, k);
  b.loop(first, last, one, [&](Value panel) {
    b.loop(zero, pairs, lanes, [&](Value pair) {
      Value term = b.mul(pair, b.number(2)), terms = b.sub(k, term);
      for (int64_t v = 0; v < tile.vectors; ++v) {
        auto [column, left] = columnOf(panel, v);
        auto turn = [&, column = column, left = left](bool isWhole) {
          Values square;
          for (int64_t lane = 0; lane < tile.lanes; ++lane) {
            Value from = in(term, b.add(column, b.number(lane)));
            auto loadFrom = [&](int64_t place) {
              Value mask;
              if (!isWhole)
                mask =
                    b.maskBelow(b.select(b.less(b.number(lane), left),
                                         b.sub(terms, b.number(place)), zero),
                                tile.lanes);
              return b.load(vector(), b.at(real(), from, place), mask);
            };
            square.push_back(
                pairUp(b, tile, loadFrom(0), loadFrom(tile.lanes)));
          }
          transposeSquare(b, square);
          for (int64_t lane = 0; lane < tile.lanes; ++lane) {
            Value at = b.add(pair, b.number(lane));
            auto store = [&] { b.store(square[lane], to(panel, at, v)); };
            if (isWhole)
              store();
            else
              b.branch(b.less(at, pairs), store);
          }
        };
        b.branch(
            b.both(b.atMost(lanes, left),
                   b.atMost(b.number(2 * tile.lanes), terms)),
            [&] { turn(true); }, [&] { turn(false); });
      }
    });
  });
}

void PairPacking::copyElements() {
  Value zero = b.number(0), one = b.number(1), lanes = b.number(tile.lanes);
  Type pair = b.getI32Type();
  b.loop(first, last, one, [&](Value panel) {
    b.loop(zero, pairsOf(b, k), one, [&](Value i) {
      for (int64_t v = 0; v < tile.vectors; ++v) {
        auto [column, left] = columnOf(panel, v);
        Value exist = b.max(zero, b.min(left, lanes)), output = to(panel, i, v);
        b.clear(pair, output, lanes);
        b.loop(zero, exist, one, [&, column = column](Value lane) {
          b.store(loadPair(b, tile, k, i,
                           [&](Value term) {
                             return in(term, b.add(column, lane));
                           }),
                  b.at(pair, output, lane));
        });
      }
    });
  });
}

void PairPacking::pack() {
  Value one = b.number(1);
  b.branch(
      b.equal(cs, one), [&] { copyRows(); },
      [&] {
        b.branch(
            b.equal(rs, one), [&] { transpose(); }, [&] { copyElements(); });
      });
}

void fovea::codegen::emitPackPairs(KernelBuilder &builder,
                                   const GemmTile &tile) {
  Type number = builder.i64(), pointer = builder.pointer();
  GemmElement element = GemmElement::inPairs(builder.getF32Type());
  SmallVector<Type> arguments = {pointer, number,  number, number,
                                 number,  pointer, number, number};
  auto emit = [&](StringRef name) {
    builder.function(name, arguments, /*isPrivate=*/false,
                     [&](ValueRange args) {
                       PairPacking packing{builder,
                                           tile,
                                           args[0],
                                           args[1],
                                           args[2],
                                           args[3],
                                           args[4],
                                           args[5],
                                           args[6],
                                           args[7],
                                           args.size() > 8 ? args[8] : Value()};
                       packing.pack();
                     });
  };
  emit(packName(element));
  arguments.push_back(number);
  emit(packPartsName(element));
}
