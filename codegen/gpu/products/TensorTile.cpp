//===- TensorTile.cpp - a tile by tensor cores ----------------------------===//
//
// Factors are rounded to bf16 on their way into the block's memory, 32 terms at
// a time, while the previous 32 are multiplied: two pieces of that memory
// alternate, with one barrier each.
//
// There are two warps along the rows. mma.sync multiplies 16 rows by 8 columns
// over 16 terms and adds to sums in f32. A piece keeps the layout of its side
// in memory: a row of terms per row, or a row of rows per term, which ldmatrix
// transposes. The row pitch is 16 bytes off a bank conflict.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/products/TensorOps.h"
#include "codegen/gpu/products/Tile.h"
#include "codegen/gpu/program/Threads.h"

using namespace mlir;
using namespace fovea::codegen;

/// Terms of a piece, and the padding of its rows. A tile has as many rows as
/// columns.
static constexpr int64_t pieceTerms = 32, spare = 8;
static constexpr int64_t warpsOfRows = 2;
/// Neighbours that a thread loads at a time.
static constexpr int64_t quad = 4;

/// The 32-bit words of a side's piece, in either layout.
static int64_t wordsOfPiece(const TileShape &shape) {
  return shape.rows * (pieceTerms + spare) / 2;
}

TileMemory fovea::codegen::tensorTileMemory(KernelBuilder &kernel,
                                            ModuleOp module,
                                            const TileShape &shape) {
  auto memoryOf = [&](StringRef side) {
    std::string name = side.str() + "_bf16_" + std::to_string(shape.rows);
    return sharedMemory(kernel, module, name, kernel.getI32Type(),
                        2 * wordsOfPiece(shape));
  };
  Value a = memoryOf("a"), b = memoryOf("b");
  return {a, b};
}

namespace {
/// A side and the pieces of it.
struct Piece {
  const TileSide &side;
  Value memory, first, end; // of its rows
  bool isDeep;
  int64_t rowLength; // elements from one row of the piece to the next

  Piece(const TileSide &side, Value memory, Value first, Value end,
        const TileShape &shape)
      : side(side), memory(memory), first(first), end(end),
        isDeep(side.isDeep()),
        rowLength((isDeep ? pieceTerms : shape.rows) + spare) {}
};

struct TensorTileEmitter {
  KernelBuilder &b;
  const Tile &t;
  Piece a, c;
  int64_t warpRows, warpColumns; // elements of a warp
  Value thread = nullptr, lane = nullptr;
  Value warpRow = nullptr, warpColumn = nullptr;

  using Values = KernelBuilder::Values;

  TensorTileEmitter(KernelBuilder &b, const Tile &t)
      : b(b), t(t), a(t.a, t.memory.a, t.row, t.rows, t.shape),
        c(t.b, t.memory.b, t.column, t.columns, t.shape),
        warpRows(t.shape.rows / warpsOfRows),
        warpColumns(t.shape.rows /
                    (t.shape.threads / warpThreads / warpsOfRows)) {}

  Value num(int64_t value) { return b.number(value); }
  int64_t quadsOfThread() {
    return t.shape.rows * pieceTerms / quad / t.shape.threads;
  }
  /// The word of a piece that contains an element.
  Value place(const Piece &piece, Value turn, Value row, Value element) {
    Value word =
        b.div(b.add(b.mul(row, num(piece.rowLength)), element), num(2));
    word = b.add(word, b.mul(turn, num(wordsOfPiece(t.shape))));
    return b.create<LLVM::GEPOp>(piece.memory.getType(), b.getI32Type(),
                                 piece.memory, ArrayRef<LLVM::GEPArg>{word});
  }
  /// The row of a piece that this thread loads, and its first element.
  std::pair<Value, Value> quadOf(const Piece &piece, int64_t number) {
    Value at = b.add(thread, num(number * t.shape.threads));
    Value across = num((piece.isDeep ? pieceTerms : t.shape.rows) / quad);
    return {b.div(at, across), b.mul(b.rem(at, across), num(quad))};
  }

  void fetch(const Piece &piece, Value firstTerm, Value last, Values &values);
  void put(const Piece &piece, Value turn, ValueRange values);
  Values fragment(const Piece &piece, Value turn, Value along, int64_t term,
                  bool isLeft);
  Values multiply(Value turn, ValueRange sums);
  void forSums(llvm::function_ref<void(Value at, Value column)> body);
  void emit();
};
} // namespace

/// The elements of a side that this thread loads, zeros outside.
void TensorTileEmitter::fetch(const Piece &piece, Value firstTerm, Value last,
                              Values &values) {
  for (int64_t number = 0; number < quadsOfThread(); ++number) {
    auto [row, element] = quadOf(piece, number);
    for (int64_t i = 0; i < quad; ++i) {
      Value quick = b.add(element, num(i));
      Value at = b.add(piece.first, piece.isDeep ? row : quick);
      Value term = b.add(firstTerm, piece.isDeep ? quick : row);
      values.push_back(
          piece.side.elementOrZero(b, t.element, at, piece.end, term, last));
    }
  }
}

/// Rounds the fetched elements to nearest even, and stores them to shared
/// memory.
void TensorTileEmitter::put(const Piece &piece, Value turn, ValueRange values) {
  auto words = VectorType::get(2, b.getI32Type());
  for (int64_t number = 0; number < quadsOfThread(); ++number) {
    ValueRange own = values.slice(number * quad, quad);
    Value both = b.create<vector::FromElementsOp>(
        words,
        ValueRange{roundPair(b, own[0], own[1]), roundPair(b, own[2], own[3])});
    auto [row, element] = quadOf(piece, number);
    b.create<LLVM::StoreOp>(both, place(piece, turn, row, element),
                            /*alignment=*/8);
  }
}

/// The operand of an instruction, from row or column `along` of the tile and
/// from term `term` of the piece: of the left side one, 16 rows; of the right
/// side two, 8 columns each.
TensorTileEmitter::Values TensorTileEmitter::fragment(const Piece &piece,
                                                      Value turn, Value along,
                                                      int64_t term,
                                                      bool isLeft) {
  // Four matrices of 8 x 8; a thread has the address of one row. The left side
  // goes along its rows first, the right one along the terms.
  Value row = b.rem(lane, num(8)), matrix = b.div(lane, num(8));
  Value quick = b.mul(b.rem(matrix, num(2)), num(8)),
        slow = b.mul(b.div(matrix, num(2)), num(8));
  Value ofRows = isLeft ? quick : slow, ofTerms = isLeft ? slow : quick;
  along = b.add(along, ofRows);
  Value deep = b.add(num(term), ofTerms);
  Value address = piece.isDeep ? place(piece, turn, b.add(along, row), deep)
                               : place(piece, turn, b.add(deep, row), along);
  return loadMatrices(b, address, /*transposes=*/!piece.isDeep);
}

/// The sums with the terms of a piece.
TensorTileEmitter::Values TensorTileEmitter::multiply(Value turn,
                                                      ValueRange before) {
  Values sums(before);
  for (int64_t term = 0; term < pieceTerms; term += mmaTerms) {
    SmallVector<Values> left, right;
    for (int64_t row = 0; row < warpRows; row += mmaRows)
      left.push_back(fragment(a, turn, b.add(warpRow, num(row)), term, true));
    for (int64_t column = 0; column < warpColumns; column += 2 * mmaColumns) {
      Values both =
          fragment(c, turn, b.add(warpColumn, num(column)), term, false);
      right.push_back({both[0], both[1]});
      right.push_back({both[2], both[3]});
    }
    MutableArrayRef<Value> rest = sums;
    for (const Values &rows : left)
      for (const Values &columns : right) {
        Values next = multiplyMatrices(b, rows, columns, rest.take_front(4));
        llvm::copy(next, rest.begin());
        rest = rest.drop_front(4);
      }
  }
  return sums;
}

/// The places of the sums of this thread, in order. Of an instruction's result,
/// it has two neighbours of a row, and two of the row 8 below.
void TensorTileEmitter::forSums(llvm::function_ref<void(Value, Value)> body) {
  Value row = b.add(b.add(t.row, warpRow), b.div(lane, num(4)));
  Value column =
      b.add(b.add(t.column, warpColumn), b.mul(b.rem(lane, num(4)), num(2)));
  for (int64_t i = 0; i < warpRows; i += mmaRows)
    for (int64_t j = 0; j < warpColumns; j += mmaColumns)
      for (int64_t k = 0; k < 4; ++k)
        body(b.add(row, num(i + k / 2 * 8)), b.add(column, num(j + k % 2)));
}

void TensorTileEmitter::emit() {
  thread = threadInBlock(b);
  lane = b.rem(thread, num(warpThreads));
  Value warp = b.div(thread, num(warpThreads));
  warpRow = b.mul(b.rem(warp, num(warpsOfRows)), num(warpRows));
  warpColumn = b.mul(b.div(warp, num(warpsOfRows)), num(warpColumns));

  auto [first, last] = t.range(b);
  // Instructions begin at the same terms whatever the tile.
  first = b.mul(b.div(b.max(first, num(0)), num(mmaTerms)), num(mmaTerms));
  int64_t numSums = warpRows * warpColumns / warpThreads;
  int64_t numFetched = quadsOfThread() * quad;
  Value zero = b.constant(t.element, 0);
  Values carried;
  forSums([&](Value at, Value column) {
    carried.push_back(t.begin(b, at, column));
  });
  llvm::append_range(carried,
                     b.chooseAll(
                         b.less(first, last),
                         [&] {
                           Values fetched;
                           fetch(a, first, last, fetched);
                           fetch(c, first, last, fetched);
                           return fetched;
                         },
                         [&] { return Values(2 * numFetched, zero); }));
  carried = b.loop(
      first, last, num(pieceTerms), carried, [&](Value term, ValueRange now) {
        Value turn = b.rem(b.div(b.sub(term, first), num(pieceTerms)), num(2));
        put(a, turn, now.slice(numSums, numFetched));
        put(c, turn, now.slice(numSums + numFetched, numFetched));
        // All have stored theirs, and nobody reads the target of the next turn.
        waitForBlock(b);
        Values fetched;
        Value next = b.add(term, num(pieceTerms));
        fetch(a, next, last, fetched);
        fetch(c, next, last, fetched);
        Values result = multiply(turn, now.take_front(numSums));
        llvm::append_range(result, fetched);
        return result;
      });
  // Nobody stores parts of another tile before all have read this one's.
  waitForBlock(b);

  ValueRange sums = ValueRange(carried).take_front(numSums);
  forSums([&](Value at, Value column) {
    t.store(b, sums.front(), at, column);
    sums = sums.drop_front();
  });
}

void fovea::codegen::emitTensorTile(KernelBuilder &kernel, const Tile &tile) {
  TensorTileEmitter(kernel, tile).emit();
}
