//===- Tile.cpp - a tile of a matrix product ------------------------------===//

#include "codegen/gpu/products/Tile.h"
#include "codegen/gpu/program/Threads.h"
#include "codegen/kernel/Runs.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fovea::codegen;

/// The address space of shared memory.
static constexpr unsigned shared = 3;

//===----------------------------------------------------------------------===//
// What all tiles are made of
//===----------------------------------------------------------------------===//

Value fovea::codegen::sharedMemory(KernelBuilder &kernel, ModuleOp module,
                                   StringRef name, Type element,
                                   int64_t count) {
  std::string symbol = "fovea_tile_" + name.str();
  if (!module.lookupSymbol(symbol)) {
    OpBuilder::InsertionGuard guard(kernel);
    kernel.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(element, count);
    kernel.create<LLVM::GlobalOp>(type, /*isConstant=*/false,
                                  LLVM::Linkage::Internal, symbol, Attribute(),
                                  /*alignment=*/16, shared);
  }
  auto pointer = LLVM::LLVMPointerType::get(kernel.getContext(), shared);
  return kernel.create<LLVM::AddressOfOp>(pointer, symbol);
}

static Value sizedMemory(KernelBuilder &kernel, ModuleOp module,
                         StringRef symbol, unsigned alignment) {
  if (!module.lookupSymbol(symbol)) {
    OpBuilder::InsertionGuard guard(kernel);
    kernel.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(kernel.getI8Type(), 0);
    kernel.create<LLVM::GlobalOp>(type, /*isConstant=*/false,
                                  LLVM::Linkage::External, symbol, Attribute(),
                                  alignment, shared);
  }
  auto pointer = LLVM::LLVMPointerType::get(kernel.getContext(), shared);
  return kernel.create<LLVM::AddressOfOp>(pointer, symbol);
}

Value fovea::codegen::sizedMemory(KernelBuilder &kernel, ModuleOp module) {
  Value address = ::sizedMemory(kernel, module, "fovea_rooms", 16);
  return kernel.create<LLVM::AddrSpaceCastOp>(kernel.pointer(), address);
}
Value fovea::codegen::stageMemory(KernelBuilder &kernel, ModuleOp module) {
  return ::sizedMemory(kernel, module, "fovea_stages", 1024);
}

/// The pitch between terms. Not a multiple of the 32 memory banks, so that
/// threads that load terms of one row do not wait for each other.
static int64_t strideOfTerms(int64_t along) { return along + 4; }

TileMemory fovea::codegen::tileMemory(KernelBuilder &kernel, ModuleOp module,
                                      Type element, const TileShape &shape) {
  if (shape.isRounded)
    return tensorTileMemory(kernel, module, shape);
  auto memoryOf = [&](StringRef side, int64_t along) {
    int64_t count = strideOfTerms(along) * shape.terms;
    std::string name = side.str() + (element.isF64() ? "_f64_" : "_f32_") +
                       std::to_string(count);
    Value address = sharedMemory(kernel, module, name, element, count);
    return kernel.create<LLVM::AddrSpaceCastOp>(kernel.pointer(), address);
  };
  Value a = memoryOf("a", shape.rows), b = memoryOf("b", shape.columns);
  return {a, b};
}

static bool isOne(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) && number == 1;
}

bool TileSide::isDeep() const { return list ? !listsTerms : isOne(deep); }

Value TileSide::element(KernelBuilder &b, Type type, Value at,
                        Value term) const {
  if (!list) {
    Value place = b.add(b.mul(at, along), b.mul(term, deep));
    return b.load(type, b.at(type, base, place));
  }
  Value row = listsTerms ? term : at, inRow = listsTerms ? at : term;
  Value entry = b.mul(row, b.number(runs));
  if (runs != 1) {
    entry = b.add(entry, b.div(inRow, run));
    inRow = b.rem(inRow, run);
  }
  Value start = b.load(b.i64(), b.at(b.i64(), list, entry));
  return b.choose(
      b.equal(start, b.number(nowhere)), [&] { return b.constant(type, 0); },
      [&] { return b.load(type, b.at(type, base, b.add(start, inRow))); });
}

Value TileSide::elementOrZero(KernelBuilder &b, Type type, Value at, Value end,
                              Value term, Value last) const {
  Value isThere = b.both(b.less(at, end), b.less(term, last));
  auto zero = [&] { return b.constant(type, 0); };
  if (list)
    return b.choose(isThere, [&] { return element(b, type, at, term); }, zero);
  // Branchless, so that all loads are in flight: out-of-range loads read the
  // last element.
  at = b.min(at, b.sub(end, b.number(1)));
  term = b.min(term, b.sub(last, b.number(1)));
  return b.select(isThere, element(b, type, at, term), zero());
}

KernelBuilder::Values TileSide::fourOrZeros(KernelBuilder &b, Type type,
                                            Value at, Value end, Value term,
                                            Value last) const {
  constexpr int64_t four = 4, bytes = 16;
  KernelBuilder::Values values;
  if (!isInFours) {
    for (int64_t i = 0; i < four; ++i)
      values.push_back(
          elementOrZero(b, type, at, end, b.add(term, b.number(i)), last));
    return values;
  }
  Value isThere = b.both(b.less(at, end), b.less(term, last));
  at = b.min(at, b.sub(end, b.number(1)));
  term = b.min(term, b.sub(last, b.number(four)));
  Value all = b.create<LLVM::LoadOp>(
      VectorType::get(four, type),
      b.at(type, base, b.add(b.mul(at, along), term)), /*alignment=*/bytes);
  for (int64_t i = 0; i < four; ++i)
    values.push_back(b.select(
        isThere, b.create<vector::ExtractOp>(all, ArrayRef<int64_t>{i}),
        b.constant(type, 0)));
  return values;
}

std::pair<Value, Value> Tile::range(KernelBuilder &b) const {
  Value first = b.number(0), last = terms;
  if (termsBefore)
    first = b.max(first, b.sub(row, termsBefore));
  if (termsAfter)
    last = b.min(last, b.add(b.add(row, b.number(shape.rows)), termsAfter));
  return {first, last};
}

Value Tile::begin(KernelBuilder &b, Value at, Value column) const {
  Value zero = b.constant(element, 0);
  if (!goesOn)
    return zero;
  return b.choose(
      b.both(b.less(at, rows), b.less(column, columns)),
      [&] {
        return b.load(element,
                      b.at(element, c, b.add(b.mul(at, cRow), column)));
      },
      [&] { return zero; });
}

void Tile::store(KernelBuilder &b, Value sum, Value at, Value column) const {
  b.branch(b.both(b.less(at, rows), b.less(column, columns)), [&] {
    Value inBand;
    if (columnsBefore)
      inBand = b.both(inBand, b.atMost(b.sub(at, columnsBefore), column));
    if (columnsAfter)
      inBand = b.both(inBand, b.atMost(column, b.add(at, columnsAfter)));
    if (inBand)
      sum = b.select(inBand, sum, b.constant(element, 0));
    b.store(sum, b.at(element, c, b.add(b.mul(at, cRow), column)));
  });
}

//===----------------------------------------------------------------------===//
// Unpacked factors
//===----------------------------------------------------------------------===//

/// Elements of a thread along each side of a tile.
static int64_t sideOfThread(const TileShape &shape) {
  int64_t each = shape.rows * shape.columns / shape.threads;
  assert((each == 4 || each == 16 || each == 64) &&
         "a thread has as many rows as columns");
  return each == 4 ? 2 : each == 16 ? 4 : 8;
}

namespace {
struct TileEmitter {
  KernelBuilder &b;
  const Tile &t;
  int64_t own;
  Value thread = nullptr;

  using Values = KernelBuilder::Values;

  TileEmitter(KernelBuilder &b, const Tile &t)
      : b(b), t(t), own(sideOfThread(t.shape)) {}

  Value num(int64_t value) { return b.number(value); }
  /// Elements of a side that a thread brings, of `along` rows.
  int64_t numBrought(int64_t along) const {
    return along * t.shape.terms / t.shape.threads;
  }
  /// The row and the term of a side's element number `number` of this thread.
  std::pair<Value, Value> broughtAt(const TileSide &side, int64_t along,
                                    int64_t number);

  void fetch(const TileSide &side, int64_t along, Value firstTerm, Value first,
             Value end, Values &values);
  Values fetchBoth(Value firstTerm);
  /// A thread has so many adjacent elements along a side. Those of all
  /// threads come before the next ones, so the threads of a warp read
  /// neighbours.
  int64_t neighbours() const { return std::min<int64_t>(own, 4); }
  /// The position of a thread's element `i` along a side, from its first one
  /// on.
  int64_t at(int64_t along, int64_t i) const {
    int64_t run = neighbours();
    return i / run * (along * run / own) + i % run;
  }
  Values readOwn(Value from, int64_t along, int64_t stride, Value term,
                 Value first);
  void put(Value to, const TileSide &side, int64_t along, int64_t stride,
           ValueRange values);
  void putRows(ValueRange values) {
    put(t.memory.a, t.a, t.shape.rows, strideOfTerms(t.shape.rows), values);
  }
  /// The address of a block's kept terms of B, from `term` on.
  Value keptAt(Value term) {
    return b.at(t.element, t.kept, b.mul(term, num(t.shape.columns)));
  }
  Values multiply(Value terms, Value row, Value column, Values sums,
                  Value right, int64_t stride);
  Values multiplyKept(Value row, Value column, Values sums);
  void keep();
  void emit();
};
} // namespace

/// Neighbouring threads load neighbouring elements.
std::pair<Value, Value> TileEmitter::broughtAt(const TileSide &side,
                                               int64_t along, int64_t number) {
  bool isDeep = side.isDeep();
  Value place = b.add(thread, num(number * t.shape.threads));
  Value width = num(isDeep ? t.shape.terms : along);
  Value quick = b.rem(place, width), slow = b.div(place, width);
  return isDeep ? std::pair(slow, quick) : std::pair(quick, slow);
}

/// The elements of a side for some terms, zeros where there are none.
void TileEmitter::fetch(const TileSide &side, int64_t along, Value firstTerm,
                        Value first, Value end, Values &values) {
  for (int64_t number = 0; number < numBrought(along); ++number) {
    auto [row, term] = broughtAt(side, along, number);
    Value at = b.add(first, row), deep = b.add(firstTerm, term);
    Value isThere = b.both(b.less(at, end), b.less(deep, t.terms));
    values.push_back(b.choose(
        isThere, [&] { return side.element(b, t.element, at, deep); },
        [&] { return b.constant(t.element, 0); }));
  }
}

KernelBuilder::Values TileEmitter::fetchBoth(Value firstTerm) {
  Values values;
  fetch(t.a, t.shape.rows, firstTerm, t.row, t.rows, values);
  fetch(t.b, t.shape.columns, firstTerm, t.column, t.columns, values);
  return values;
}

/// Stores elements of a side, `stride` from a term to the next one.
void TileEmitter::put(Value to, const TileSide &side, int64_t along,
                      int64_t stride, ValueRange values) {
  for (auto [number, value] : llvm::enumerate(values)) {
    auto [row, term] = broughtAt(side, along, static_cast<int64_t>(number));
    b.store(value, b.at(t.element, to, b.add(b.mul(term, num(stride)), row)));
  }
}

/// The elements of this thread along a side for one term, from `first` on.
KernelBuilder::Values TileEmitter::readOwn(Value from, int64_t along,
                                           int64_t stride, Value term,
                                           Value first) {
  Values elements;
  auto type = VectorType::get(neighbours(), t.element);
  // As the memory of a block is.
  constexpr unsigned mostAlignment = 16;
  unsigned bytes = neighbours() * t.element.getIntOrFloatBitWidth() / 8;
  for (int64_t i = 0; i < own; i += neighbours()) {
    Value place =
        b.add(b.mul(term, num(stride)), b.add(first, num(at(along, i))));
    Value run = b.create<LLVM::LoadOp>(type, b.at(t.element, from, place),
                                       std::min(bytes, mostAlignment));
    for (int64_t lane = 0; lane < neighbours(); ++lane)
      elements.push_back(b.create<vector::ExtractOp>(run, lane));
  }
  return elements;
}

/// The sums of this thread with the terms that are in memory, of B at `right`.
KernelBuilder::Values TileEmitter::multiply(Value terms, Value row,
                                            Value column, Values sums,
                                            Value right, int64_t stride) {
  return b.loop(num(0), terms, num(1), sums, [&](Value term, ValueRange sums) {
    Values ofA = readOwn(t.memory.a, t.shape.rows, strideOfTerms(t.shape.rows),
                         term, row);
    Values ofB = readOwn(right, t.shape.columns, stride, term, column);
    Values next;
    for (int64_t i = 0; i < own; ++i)
      for (int64_t j = 0; j < own; ++j)
        next.push_back(b.fma(ofA[i], ofB[j], sums[i * own + j]));
    return next;
  });
}

/// Updates the sums with the terms of B that the block keeps: only those of A
/// are loaded.
KernelBuilder::Values TileEmitter::multiplyKept(Value row, Value column,
                                                Values sums) {
  size_t numSums = sums.size();
  fetch(t.a, t.shape.rows, num(0), t.row, t.rows, sums);
  sums = b.loop(num(0), t.keptTerms, num(t.shape.terms), sums,
                [&](Value term, ValueRange values) {
                  putRows(values.drop_front(numSums));
                  waitForBlock(b);
                  Values ahead;
                  fetch(t.a, t.shape.rows, b.add(term, num(t.shape.terms)),
                        t.row, t.rows, ahead);
                  Value count =
                      b.min(num(t.shape.terms), b.sub(t.keptTerms, term));
                  Values next = multiply(count, row, column,
                                         Values(values.take_front(numSums)),
                                         keptAt(term), t.shape.columns);
                  waitForBlock(b);
                  next.append(ahead);
                  return next;
                });
  sums.truncate(numSums);
  return sums;
}

void TileEmitter::keep() {
  thread = threadInBlock(b);
  b.loop(num(0), t.keptTerms, num(t.shape.terms), [&](Value term) {
    Values values;
    fetch(t.b, t.shape.columns, term, t.column, t.columns, values);
    put(keptAt(term), t.b, t.shape.columns, t.shape.columns, values);
  });
}

void TileEmitter::emit() {
  thread = threadInBlock(b);
  Value threadsAlong = num(t.shape.columns / own);
  Value row = b.mul(b.div(thread, threadsAlong), num(neighbours()));
  Value column = b.mul(b.rem(thread, threadsAlong), num(neighbours()));
  auto rowAt = [&](int64_t i) {
    return b.add(b.add(t.row, row), num(at(t.shape.rows, i)));
  };
  auto columnAt = [&](int64_t j) {
    return b.add(b.add(t.column, column), num(at(t.shape.columns, j)));
  };
  Values values;
  for (int64_t i = 0; i < own; ++i)
    for (int64_t j = 0; j < own; ++j)
      values.push_back(t.begin(b, rowAt(i), columnAt(j)));
  size_t numSums = values.size();
  auto [first, last] = t.range(b);
  if (t.kept) {
    values = multiplyKept(row, column, values);
    first = t.keptTerms;
  }
  if (t.shape.isAhead)
    values.append(fetchBoth(first));
  int64_t stride = strideOfTerms(t.shape.columns);
  values = b.loop(
      first, last, num(t.shape.terms), values,
      [&](Value term, ValueRange values) {
        Values fetched = t.shape.isAhead ? Values(values.drop_front(numSums))
                                         : fetchBoth(term);
        ValueRange both = fetched;
        auto ofA = static_cast<size_t>(numBrought(t.shape.rows));
        putRows(both.take_front(ofA));
        put(t.memory.b, t.b, t.shape.columns, stride, both.drop_front(ofA));
        waitForBlock(b);
        Values ahead;
        if (t.shape.isAhead)
          ahead = fetchBoth(b.add(term, num(t.shape.terms)));
        Value count = b.min(num(t.shape.terms), b.sub(last, term));
        Values next =
            multiply(count, row, column, Values(values.take_front(numSums)),
                     t.memory.b, stride);
        // Nobody fills it again before all have read it.
        waitForBlock(b);
        next.append(ahead);
        return next;
      });
  for (int64_t i = 0; i < own; ++i)
    for (int64_t j = 0; j < own; ++j)
      t.store(b, values[i * own + j], rowAt(i), columnAt(j));
}

void fovea::codegen::keepColumns(KernelBuilder &kernel, const Tile &tile) {
  TileEmitter(kernel, tile).keep();
}

void fovea::codegen::emitTile(KernelBuilder &kernel, const Tile &tile) {
  if (tile.shape.isRounded)
    return emitTensorTile(kernel, tile);
  TileEmitter(kernel, tile).emit();
}
