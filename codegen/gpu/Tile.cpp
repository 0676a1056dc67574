//===- Tile.cpp - a tile of a matrix product ------------------------------===//

#include "codegen/gpu/Tile.h"
#include "codegen/gpu/Threads.h"
#include "codegen/kernel/Runs.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fovea::codegen;

/// Elements of a thread along each side.
static constexpr int64_t own = 4, threadsAlong = tileSide / own;
static_assert(threadsAlong * threadsAlong == tileThreads);

static Value sharedMemory(KernelBuilder &kernel, ModuleOp module,
                          StringRef name, Type element) {
  std::string symbol =
      "fovea_tile_" + name.str() + (element.isF64() ? "_f64" : "_f32");
  constexpr unsigned shared = 3;
  if (!module.lookupSymbol(symbol)) {
    OpBuilder::InsertionGuard guard(kernel);
    kernel.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(element, tileSide * tileTerms);
    kernel.create<LLVM::GlobalOp>(type, /*isConstant=*/false,
                                  LLVM::Linkage::Internal, symbol, Attribute(),
                                  /*alignment=*/16, shared);
  }
  auto pointer = LLVM::LLVMPointerType::get(kernel.getContext(), shared);
  Value address = kernel.create<LLVM::AddressOfOp>(pointer, symbol);
  return kernel.create<LLVM::AddrSpaceCastOp>(kernel.pointer(), address);
}

TileMemory fovea::codegen::tileMemory(KernelBuilder &kernel, ModuleOp module,
                                      Type element) {
  return {sharedMemory(kernel, module, "a", element),
          sharedMemory(kernel, module, "b", element)};
}

static bool isOne(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) && number == 1;
}

namespace {
struct TileEmitter {
  KernelBuilder &b;
  const Tile &t;
  Value thread = nullptr;

  using Values = KernelBuilder::Values;
  Value num(int64_t value) { return b.number(value); }

  void fill(Value to, Value firstTerm, const TileSide &side, Value first,
            Value end);
  Value element(const TileSide &side, Value at, Value term);
  Values multiply(Value terms, Value row, Value column, Values sums);
  void emit();
};
} // namespace

/// The element of a side, which is there.
Value TileEmitter::element(const TileSide &side, Value at, Value term) {
  if (!side.list) {
    Value place = b.add(b.mul(at, side.along), b.mul(term, side.deep));
    return b.load(t.element, b.at(t.element, side.base, place));
  }
  Value row = side.listsTerms ? term : at, inRow = side.listsTerms ? at : term;
  Value entry = b.mul(row, num(side.runs));
  if (side.runs != 1) {
    entry = b.add(entry, b.div(inRow, side.run));
    inRow = b.rem(inRow, side.run);
  }
  Value start = b.load(b.i64(), b.at(b.i64(), side.list, entry));
  return b.choose(
      b.equal(start, num(nowhere)), [&] { return b.constant(t.element, 0); },
      [&] {
        return b.load(t.element,
                      b.at(t.element, side.base, b.add(start, inRow)));
      });
}

/// The elements of a side for some terms, zeros where there are none.
/// Neighbouring threads read what lies side by side.
void TileEmitter::fill(Value to, Value firstTerm, const TileSide &side,
                       Value first, Value end) {
  bool isDeep = side.list ? !side.listsTerms : isOne(side.deep);
  for (int64_t turn = 0; turn < tileSide * tileTerms / tileThreads; ++turn) {
    Value place = b.add(thread, num(turn * tileThreads));
    Value width = num(isDeep ? tileTerms : tileSide);
    Value quick = b.rem(place, width), slow = b.div(place, width);
    Value term = isDeep ? quick : slow, along = isDeep ? slow : quick;
    Value at = b.add(first, along), deep = b.add(firstTerm, term);
    Value isThere = b.both(b.less(at, end), b.less(deep, t.terms));
    Value value = b.choose(
        isThere, [&] { return element(side, at, deep); },
        [&] { return b.constant(t.element, 0); });
    b.store(value,
            b.at(t.element, to, b.add(b.mul(term, num(tileSide)), along)));
  }
}

/// The sums of this thread with the terms that are in memory.
KernelBuilder::Values TileEmitter::multiply(Value terms, Value row,
                                            Value column, Values sums) {
  return b.loop(num(0), terms, num(1), sums, [&](Value term, ValueRange sums) {
    Value line = b.mul(term, num(tileSide));
    Values left, right, next;
    for (int64_t i = 0; i < own; ++i) {
      auto read = [&](Value from, Value at) {
        return b.load(t.element,
                      b.at(t.element, from, b.add(line, b.add(at, num(i)))));
      };
      left.push_back(read(t.memory.a, row));
      right.push_back(read(t.memory.b, column));
    }
    for (int64_t i = 0; i < own; ++i)
      for (int64_t j = 0; j < own; ++j)
        next.push_back(b.fma(left[i], right[j], sums[i * own + j]));
    return next;
  });
}

void TileEmitter::emit() {
  thread = threadInBlock(b);
  Value row = b.mul(b.div(thread, num(threadsAlong)), num(own));
  Value column = b.mul(b.rem(thread, num(threadsAlong)), num(own));
  Value firstRow = b.add(t.row, row), firstColumn = b.add(t.column, column);
  auto isInside = [&](int64_t i, int64_t j) {
    return b.both(b.less(b.add(firstRow, num(i)), t.rows),
                  b.less(b.add(firstColumn, num(j)), t.columns));
  };
  auto address = [&](int64_t i, int64_t j) {
    return b.at(t.element, t.c,
                b.add(b.mul(b.add(firstRow, num(i)), t.cRow),
                      b.add(firstColumn, num(j))));
  };
  Values sums(own * own, b.constant(t.element, 0));
  // Terms of which no row of the tile has any.
  Value first = num(0), last = t.terms;
  if (t.termsBefore)
    first = b.max(first, b.sub(t.row, t.termsBefore));
  if (t.termsAfter)
    last = b.min(last, b.add(b.add(t.row, num(tileSide)), t.termsAfter));
  sums = b.loop(first, last, num(tileTerms), sums,
                [&](Value term, ValueRange sums) {
                  fill(t.memory.a, term, t.a, t.row, t.rows);
                  fill(t.memory.b, term, t.b, t.column, t.columns);
                  waitForBlock(b);
                  Value count = b.min(num(tileTerms), b.sub(last, term));
                  Values next = multiply(count, row, column, Values(sums));
                  // Nobody fills it again before all have read it.
                  waitForBlock(b);
                  return next;
                });
  for (int64_t i = 0; i < own; ++i)
    for (int64_t j = 0; j < own; ++j)
      b.branch(isInside(i, j), [&] {
        Value sum = sums[i * own + j], inBand;
        Value at = b.add(firstRow, num(i)), n = b.add(firstColumn, num(j));
        if (t.columnsBefore)
          inBand = b.both(inBand, b.atMost(b.sub(at, t.columnsBefore), n));
        if (t.columnsAfter)
          inBand = b.both(inBand, b.atMost(n, b.add(at, t.columnsAfter)));
        if (inBand)
          sum = b.select(inBand, sum, b.constant(t.element, 0));
        b.store(sum, address(i, j));
      });
}

void fovea::codegen::emitTile(KernelBuilder &kernel, const Tile &tile) {
  TileEmitter{kernel, tile}.emit();
}
