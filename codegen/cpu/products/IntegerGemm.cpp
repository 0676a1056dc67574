//===- IntegerGemm.cpp - products of whole numbers of 8 bits --------------===//
//
// Two terms at a time: bytes of B become i16, and every lane has a pair of A.
// One instruction (pmaddwd, or vpdpwssd with its addition) multiplies 16 bits
// and adds two neighbours in i32. Full products of 8 bits: vpmaddubsw would
// saturate.
//
// With VNNI, four terms at a time: vpdpbusd multiplies unsigned bytes of A with
// signed bytes of B. So 128 is added to A, and each sum begins at -128 times
// the sum of its column of B. These sums follow each packed panel.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/IntegerGemm.h"
#include "codegen/kernel/KernelBuilder.h"
#include "dialect/Precision.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::codegen;

using Values = KernelBuilder::Values;

/// The pitch of staged rows of A, in elements: not a power of two.
static constexpr int64_t stagedRow = attn::exactTerms + 32;

namespace {
struct IntegerEmitter {
  KernelBuilder &b;
  Target target;
  GemmTile tile;
  Type i8, i16, i32, f32;

  IntegerEmitter(KernelBuilder &b, const Target &target)
      : b(b), target(target), tile(gemmTile(b.getF32Type(), target)),
        i8(b.getI8Type()), i16(b.getIntegerType(16)), i32(b.getI32Type()),
        f32(b.getF32Type()) {}

  VectorType vectorOf(Type element, int64_t perLane = 1) const {
    return VectorType::get(tile.lanes * perLane, element);
  }
  /// Adjacent panels for this few rows: enough chains to hide the latency.
  int64_t panelsAtOnce(int64_t rows) const {
    return rows == 1 ? 4 : rows == 2 ? 2 : 1;
  }
  std::string kernelName(int64_t rows, int64_t panels) const {
    return "fovea_gemm_tile_i8_" + std::to_string(rows) + "x" +
           std::to_string(panels);
  }
  /// Whether bytes are multiplied with bytes.
  bool hasBytes() const {
    StringRef feature = tile.lanes == 16 ? "+avx512vnni" : "+avxvnni";
    SmallVector<StringRef> features;
    StringRef(target.features).split(features, ',');
    return llvm::is_contained(features, feature);
  }
  /// The terms that are multiplied at once, and their type in staged A.
  int64_t terms() const { return hasBytes() ? 4 : 2; }
  Type stagedType() const { return hasBytes() ? i8 : i16; }
  Value groups(Value count) { return b.divUp(count, b.number(terms())); }
  /// The bytes of a panel with its columns' sums.
  Value panelBytes(Value count) {
    Value all = b.mul(groups(count), b.number(terms()));
    if (hasBytes())
      all = b.add(all, b.number(4));
    return b.mul(all, b.number(tile.columns()));
  }
  Value multiplyBytes(Value left, Value right, Value sum);
  Value multiplyPairs(Value left, Value right, Value sum);
  void emitPack();
  void emitKernel(int64_t rows, int64_t panels);
  Value firstSum(ValueRange args, Value panel, int64_t v);
  void stageRow(Value from, Value to, Value terms);
  void emitGemm(bool isListed);
};
} // namespace

/// sum + left[4i] * right[4i] + .. + left[4i + 3] * right[4i + 3], in lane i.
Value IntegerEmitter::multiplyBytes(Value left, Value right, Value sum) {
  StringRef name = tile.lanes == 16 ? "llvm.x86.avx512.vpdpbusd.512"
                                    : "llvm.x86.avx512.vpdpbusd.256";
  return b
      .create<LLVM::CallIntrinsicOp>(vectorOf(i32), b.getStringAttr(name),
                                     ValueRange{sum, left, right})
      .getResults();
}

/// sum + left[2i] * right[2i] + left[2i + 1] * right[2i + 1], in lane i.
Value IntegerEmitter::multiplyPairs(Value left, Value right, Value sum) {
  StringRef madd;
  if (llvm::Triple(target.triple).isX86())
    madd = tile.lanes == 16  ? "llvm.x86.avx512.pmaddw.d.512"
           : tile.lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                             : "";
  if (!madd.empty()) {
    Value both =
        b.create<LLVM::CallIntrinsicOp>(vectorOf(i32), b.getStringAttr(madd),
                                        ValueRange{left, right})
            .getResults();
    return b.create<arith::AddIOp>(sum, both);
  }
  auto wide = vectorOf(i32, 2);
  Value products =
      b.create<arith::MulIOp>(b.create<arith::ExtSIOp>(wide, left),
                              b.create<arith::ExtSIOp>(wide, right));
  for (int64_t first : {0, 1}) {
    SmallVector<int64_t> places;
    for (int64_t lane = 0; lane < tile.lanes; ++lane)
      places.push_back(2 * lane + first);
    sum = b.create<arith::AddIOp>(
        sum, b.create<vector::ShuffleOp>(products, products, places));
  }
  return sum;
}

void IntegerEmitter::emitPack() {
  Type number = b.i64(), pointer = b.pointer();
  Type arguments[] = {pointer, number, number, number, number,
                      pointer, number, number, number};
  b.function(
      packIntegersName, arguments, /*isPrivate=*/false, [&](ValueRange args) {
        Value from = args[0], rs = args[1], cs = args[2], k = args[3],
              n = args[4];
        Value zero = b.number(0), one = b.number(1), parts = args[8];
        Value columns = b.number(tile.columns());
        Value atOnce = b.number(terms()), size = panelBytes(k);
        Value padded = b.mul(groups(k), atOnce);
        Value none = b.create<arith::ConstantOp>(b.getIntegerAttr(i8, 0));
        Value noSum = b.create<arith::ConstantOp>(b.getIntegerAttr(i32, 0));
        Value shift = b.create<arith::ConstantOp>(b.getIntegerAttr(i32, -128));
        b.loop(args[6], args[7], one, [&](Value panel) {
          Value to = b.at(i8, args[5], b.mul(panel, size));
          b.loop(zero, columns, one, [&](Value column) {
            Value place = b.add(b.mul(panel, columns), column);
            Value source = columnOfParts(b, tile, place, n, parts);
            Value end = b.select(b.less(place, n), k, zero);
            auto address = [&](Value term) {
              Value group = b.add(b.mul(b.div(term, atOnce), columns), column);
              return b.at(i8, to,
                          b.add(b.mul(group, atOnce), b.rem(term, atOnce)));
            };
            Value first = b.at(i8, from, b.mul(source, cs));
            Values sums = b.loop(
                zero, end, one, ValueRange{noSum},
                [&](Value term, ValueRange sum) {
                  Value byte = b.load(i8, b.at(i8, first, b.mul(term, rs)));
                  b.store(byte, address(term));
                  Value whole = b.create<arith::ExtSIOp>(i32, byte);
                  return Values{b.create<arith::AddIOp>(sum.front(), whole)};
                });
            b.loop(end, padded, one,
                   [&](Value term) { b.store(none, address(term)); });
            if (hasBytes())
              b.store(b.create<arith::MulIOp>(sums.front(), shift),
                      b.at(i32, b.at(i8, to, b.mul(padded, columns)), column));
          });
        });
      });
}

/// One tile of C: `rows` rows of adjacent panels. Arguments: staged A, the
/// panels, the bytes of one, c, ldc, groups of terms, and how many columns of C
/// exist.
void IntegerEmitter::emitKernel(int64_t rows, int64_t panels) {
  Type number = b.i64(), pointer = b.pointer();
  Type arguments[] = {pointer, pointer, number, pointer,
                      number,  number,  number};
  int64_t vectors = panels * tile.vectors;
  b.function(
      kernelName(rows, panels), arguments, /*isPrivate=*/true,
      [&](ValueRange args) {
        Value left = args[0], c = args[3], ldc = args[4];
        Value zero = b.number(0), one = b.number(1);
        Values inB;
        for (int64_t panel = 0; panel < panels; ++panel)
          inB.push_back(b.at(i8, args[1], b.mul(args[2], b.number(panel))));
        Values first, sums;
        for (int64_t v = 0; v < vectors; ++v)
          first.push_back(firstSum(args, inB[v / tile.vectors], v));
        for (int64_t row = 0; row < rows; ++row)
          llvm::append_range(sums, first);
        Type ofB = vectorOf(i8, terms()), ofA = vectorOf(stagedType(), terms());
        sums = b.loop(
            zero, args[5], one, sums, [&](Value group, ValueRange current) {
              Values next = llvm::to_vector(current), right;
              for (int64_t v = 0; v < vectors; ++v) {
                Value from =
                    b.at(i8, inB[v / tile.vectors],
                         b.mul(group, b.number(terms() * tile.columns())));
                Value bytes =
                    b.load(ofB, b.at(i8, from,
                                     v % tile.vectors * terms() * tile.lanes));
                right.push_back(
                    hasBytes()
                        ? bytes
                        : b.create<arith::ExtSIOp>(ofA, bytes).getResult());
              }
              for (int64_t row = 0; row < rows; ++row) {
                Value all = b.load(
                    i32, b.at(i32, b.at(stagedType(), left, row * stagedRow),
                              group));
                Value factor =
                    b.create<vector::BitCastOp>(ofA, b.splat(all, tile.lanes));
                for (int64_t v = 0; v < vectors; ++v) {
                  Value &sum = next[row * vectors + v];
                  sum = hasBytes() ? multiplyBytes(factor, right[v], sum)
                                   : multiplyPairs(factor, right[v], sum);
                }
              }
              return next;
            });
        auto write = [&](bool isWhole) {
          for (int64_t row = 0; row < rows; ++row)
            for (int64_t v = 0; v < vectors; ++v) {
              Value to = b.at(f32, b.at(f32, c, b.mul(ldc, b.number(row))),
                              v * tile.lanes);
              Value sum = b.create<arith::SIToFPOp>(vectorOf(f32),
                                                    sums[row * vectors + v]);
              Value left = b.sub(args[6], b.number(v * tile.lanes));
              b.store(sum, to,
                      isWhole ? Value() : b.maskBelow(left, tile.lanes));
            }
        };
        b.branch(
            b.atMost(b.number(vectors * tile.lanes), args[6]),
            [&] { write(true); }, [&] { write(false); });
      });
}

/// What the sums of a vector of columns begin with.
Value IntegerEmitter::firstSum(ValueRange args, Value panel, int64_t v) {
  if (!hasBytes())
    return b.create<arith::ConstantOp>(b.getZeroAttr(vectorOf(i32)));
  Value sums =
      b.at(i8, panel, b.mul(args[5], b.number(terms() * tile.columns())));
  return b.load(vectorOf(i32), b.at(i32, sums, v % tile.vectors * tile.lanes));
}

/// Reals become i16, or bytes with 128 more. Up to a whole vector of them
/// follow the last one; B has zeros there.
void IntegerEmitter::stageRow(Value from, Value to, Value terms) {
  Value lanes = b.number(tile.lanes);
  b.loop(b.number(0), terms, lanes, [&](Value term) {
    Value mask = b.maskBelow(b.sub(terms, term), tile.lanes);
    Value reals = b.load(vectorOf(f32), b.at(f32, from, term), mask);
    Value numbers = b.create<arith::FPToSIOp>(vectorOf(i32), reals);
    if (hasBytes())
      numbers = b.create<arith::AddIOp>(
          numbers, b.create<arith::ConstantOp>(DenseElementsAttr::get(
                       vectorOf(i32), b.getI32IntegerAttr(128))));
    b.store(b.create<arith::TruncIOp>(vectorOf(stagedType()), numbers),
            b.at(stagedType(), to, term));
  });
}

/// `isListed`: the rows of A lie where a list says.
void IntegerEmitter::emitGemm(bool isListed) {
  Type number = b.i64();
  b.function(
      isListed ? gemmIntegerRowsName : gemmIntegersName,
      gemmArguments(b, isListed),
      /*isPrivate=*/false, [&](ValueRange all) {
        ValueRange args = all.take_back(numCommonArguments);
        Value panels = args[0], c = args[1], ldc = args[2], m = args[3];
        Value n = args[4], k = args[5], first = args[6], last = args[7];
        Value zero = b.number(0), one = b.number(1);
        Value columns = b.number(tile.columns()), height = b.number(tile.rows);
        Value size = panelBytes(k);
        Value staged = b.scratch(stagedType(), tile.rows * stagedRow);
        b.loop(zero, m, height, [&](Value row) {
          Value count = b.min(height, b.sub(m, row));
          b.loop(zero, count, one, [&](Value i) {
            Value place = b.add(row, i);
            place = isListed ? b.load(number, b.at(number, all[1], place))
                             : b.mul(place, all[1]);
            stageRow(b.at(f32, all[0], place),
                     b.at(stagedType(), staged, b.mul(i, b.number(stagedRow))),
                     k);
          });
          b.dispatch(count, tile.rows, [&](int64_t rows) {
            auto call = [&](Value panel, int64_t atOnce) {
              Value column = b.mul(panel, columns);
              b.call(kernelName(rows, atOnce),
                     {staged, b.at(i8, panels, b.mul(panel, size)), size,
                      b.at(f32, c, b.add(b.mul(row, ldc), column)), ldc,
                      groups(k), b.sub(n, column)});
            };
            int64_t atOnce = panelsAtOnce(rows);
            Value step = b.number(atOnce),
                  span = b.max(b.sub(last, first), zero);
            Value whole = b.sub(last, b.rem(span, step));
            b.loop(first, whole, step,
                   [&](Value panel) { call(panel, atOnce); });
            if (atOnce > 1)
              b.loop(whole, last, one, [&](Value panel) { call(panel, 1); });
          });
        });
      });
}

void fovea::codegen::emitIntegerGemm(ModuleOp module, const Target &target) {
  KernelBuilder builder(module);
  IntegerEmitter emitter(builder, target);
  emitter.emitPack();
  for (int64_t rows = 1; rows <= emitter.tile.rows; ++rows)
    for (int64_t panels : {int64_t(1), emitter.panelsAtOnce(rows)})
      emitter.emitKernel(rows, panels);
  for (bool isListed : {false, true})
    emitter.emitGemm(isListed);
}
