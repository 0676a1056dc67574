//===- GroupGemm.cpp - products with weights in groups of 4 bits ----------===//
//
// Decoding one sentence waits for weights from memory. They are read in 4 bits,
// become f32 in a scratch panel that stays in the cache, and are multiplied by
// the kernels of Gemm.cpp. Many rows share what became f32.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/GroupGemm.h"
#include "codegen/kernel/KernelBuilder.h"
#include "runtime/data/Quantise.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::codegen;
using runtime::weightsOfGroup;

using Values = KernelBuilder::Values;

/// Adjacent panels that become f32 together, and the terms of them: for few
/// rows as much as the first-level cache holds, for more as the second.
static constexpr int64_t panelsAtOnce = 4;
static constexpr int64_t fewRows = 4;
static constexpr int64_t termsOfFew = 2 * weightsOfGroup;
static constexpr int64_t termsOfMany = 8 * weightsOfGroup;

static constexpr char unpackName[] = "fovea_unpack_i4";

namespace {
struct GroupEmitter {
  KernelBuilder &b;
  GemmTile tile;
  Type i8, i16, i32, f32;

  GroupEmitter(KernelBuilder &b, const Target &target)
      : b(b), tile(gemmTile(b.getF32Type(), target)), i8(b.getI8Type()),
        i16(b.getIntegerType(16)), i32(b.getI32Type()), f32(b.getF32Type()) {}

  VectorType vectorOf(Type element) const {
    return VectorType::get(tile.lanes, element);
  }
  /// A whole number in each lane; of 0 lanes, a scalar.
  Value whole(Type type, int64_t value, unsigned lanes = 0) {
    Value scalar = b.create<arith::ConstantOp>(b.getIntegerAttr(type, value));
    return b.splat(scalar, lanes);
  }
  int64_t bytesOfScales() const { return 2 * tile.columns(); }
  int64_t bytesOfGroup() const {
    return bytesOfScales() + weightsOfGroup / 2 * tile.columns();
  }
  Value groups(Value terms) { return b.divUp(terms, b.number(weightsOfGroup)); }
  void packColumn(Value first, Value count, Value panel, Value column);
  void emitPack();
  void emitUnpack();
  void emitGemm(bool isListed);
};
} // namespace

/// A column of a panel, from its first group in memory.
void GroupEmitter::packColumn(Value first, Value count, Value panel,
                              Value column) {
  Value zero = b.number(0), one = b.number(1);
  b.loop(zero, count, one, [&](Value number) {
    Value from =
        b.at(i8, first, b.mul(number, b.number(runtime::bytesOfGroup)));
    Value to = b.at(i8, panel, b.mul(number, b.number(bytesOfGroup())));
    b.store(b.load(i16, from), b.at(i16, to, column));
    b.loop(zero, b.number(weightsOfGroup / 2), one, [&](Value i) {
      // 8 more than both numbers.
      Value byte = b.create<arith::XOrIOp>(
          b.load(i8, b.at(i8, from, b.add(i, b.number(sizeof(uint16_t))))),
          whole(i8, int8_t(0x88)));
      Value place = b.add(b.number(bytesOfScales()),
                          b.add(b.mul(i, b.number(tile.columns())), column));
      b.store(byte, b.at(i8, to, place));
    });
  });
}

void GroupEmitter::emitPack() {
  Type number = b.i64(), pointer = b.pointer();
  Type arguments[] = {pointer, number, number, number, number,
                      pointer, number, number, number};
  b.function(
      packGroupsName, arguments, /*isPrivate=*/false, [&](ValueRange args) {
        Value from = args[0], cs = args[2], n = args[4], parts = args[8];
        Value zero = b.number(0), columns = b.number(tile.columns());
        Value count = groups(args[3]);
        Value size = b.mul(count, b.number(bytesOfGroup()));
        b.loop(args[6], args[7], b.number(1), [&](Value number) {
          Value panel = b.at(i8, args[5], b.mul(number, size));
          // Columns past the last one are zeros.
          b.clear(i8, panel, size);
          b.loop(zero, columns, b.number(1), [&](Value column) {
            Value place = b.add(b.mul(number, columns), column);
            Value source = columnOfParts(b, tile, place, n, parts);
            packColumn(b.at(i8, from, b.mul(source, cs)),
                       b.select(b.less(place, n), count, zero), panel, column);
          });
        });
      });
}

/// The first terms of some groups as rows of f32. Arguments: the groups, the
/// number of terms, and the rows. One more row may be written.
void GroupEmitter::emitUnpack() {
  Type arguments[] = {b.pointer(), b.i64(), b.pointer()};
  b.function(unpackName, arguments, /*isPrivate=*/true, [&](ValueRange args) {
    Value zero = b.number(0), size = b.number(weightsOfGroup);
    Value columns = b.number(tile.columns());
    b.loop(zero, args[1], size, [&](Value term) {
      Value group =
          b.at(i8, args[0], b.mul(b.div(term, size), b.number(bytesOfGroup())));
      Values scales, lowest;
      for (int64_t v = 0; v < tile.vectors; ++v) {
        Value bits = b.create<arith::ExtUIOp>(
            vectorOf(i32),
            b.load(vectorOf(i16), b.at(i16, group, v * tile.lanes)));
        bits = b.create<arith::ShLIOp>(bits, whole(i32, 16, tile.lanes));
        scales.push_back(b.create<arith::BitcastOp>(vectorOf(f32), bits));
        lowest.push_back(b.create<arith::MulFOp>(
            scales.back(), b.constant(vectorOf(f32), -8)));
      }
      Value rows = b.at(i8, group, bytesOfScales());
      Value last = b.min(size, b.sub(args[1], term));
      b.loop(zero, last, b.number(2), [&](Value i) {
        Value from = b.at(i8, rows, b.mul(b.div(i, b.number(2)), columns));
        Value to = b.at(f32, args[2], b.mul(b.add(term, i), columns));
        for (int64_t v = 0; v < tile.vectors; ++v) {
          Value both = b.create<arith::ExtUIOp>(
              vectorOf(i32),
              b.load(vectorOf(i8), b.at(i8, from, v * tile.lanes)));
          auto store = [&](Value numbers, int64_t row) {
            Value reals = b.create<arith::SIToFPOp>(vectorOf(f32), numbers);
            b.store(b.fma(reals, scales[v], lowest[v]),
                    b.at(f32, to, row * tile.columns() + v * tile.lanes));
          };
          store(b.create<arith::AndIOp>(both, whole(i32, 15, tile.lanes)), 0);
          store(b.create<arith::ShRUIOp>(both, whole(i32, 4, tile.lanes)), 1);
        }
      });
    });
  });
}

/// `isListed`: the rows of A lie where a list says.
void GroupEmitter::emitGemm(bool isListed) {
  b.function(
      isListed ? gemmGroupRowsName : gemmGroupsName, gemmArguments(b, isListed),
      /*isPrivate=*/false, [&](ValueRange all) {
        ValueRange args = all.take_back(numCommonArguments);
        Value packed = args[0], c = args[1], ldc = args[2], m = args[3];
        Value n = args[4], k = args[5], first = args[6], last = args[7];
        Value zero = b.number(0), one = b.number(1);
        Value columns = b.number(tile.columns());
        Value size = b.mul(groups(k), b.number(bytesOfGroup()));
        Value depth = b.select(b.less(m, b.number(fewRows)),
                               b.number(termsOfFew), b.number(termsOfMany));
        Value scratch =
            b.scratch(f32, (panelsAtOnce * termsOfMany + 1) * tile.columns());
        b.loop(first, last, b.number(panelsAtOnce), [&](Value panel) {
          Value count = b.min(b.number(panelsAtOnce), b.sub(last, panel));
          Value column = b.mul(panel, columns);
          // k = 0 still makes one turn, which writes zeros.
          b.loop(zero, b.max(k, one), depth, [&](Value term) {
            Value terms = b.min(depth, b.sub(k, term));
            Value skipped = b.mul(b.div(term, b.number(weightsOfGroup)),
                                  b.number(bytesOfGroup()));
            b.loop(zero, count, one, [&](Value i) {
              Value from = b.add(b.mul(b.add(panel, i), size), skipped);
              b.call(unpackName,
                     {b.at(i8, packed, from), terms,
                      b.at(f32, scratch, b.mul(i, b.mul(terms, columns)))});
            });
            Value left =
                b.at(f32, all[0], isListed ? term : b.mul(term, all[2]));
            Values arguments = {left, all[1]};
            if (!isListed)
              arguments.push_back(all[2]);
            arguments.append({scratch, b.at(f32, c, column), ldc, m,
                              b.sub(n, column), terms, zero, count,
                              b.either(args[8], b.less(zero, term))});
            b.call(isListed ? gemmRowsName(f32) : gemmName(f32), arguments);
          });
        });
      });
}

void fovea::codegen::emitGroupGemm(ModuleOp module, const Target &target) {
  KernelBuilder builder(module);
  GroupEmitter emitter(builder, target);
  emitter.emitPack();
  emitter.emitUnpack();
  for (bool isListed : {false, true})
    emitter.emitGemm(isListed);
}
