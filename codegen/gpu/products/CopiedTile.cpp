//===- CopiedTile.cpp - tiles of copied factors by warps ------------------===//
//
// A block of eight warps, two along the rows, computes 128 x 128 elements. Each
// thread copies eight times 16 bytes of a piece of 64 terms; two pieces are in
// flight while mma.sync multiplies one:
//
//   wait for the piece, and for all threads
//   begin to copy the piece after the next one
//   multiply
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/products/CopiedProduct.h"
#include "codegen/gpu/products/TensorOps.h"
#include "codegen/gpu/program/Threads.h"
#include "passes/memory/Copies.h"

using namespace mlir;
using namespace fovea::codegen;
using fovea::attn::copyTerms;

static constexpr int64_t warpsAlongRows = 2, warpsAlongColumns = 4,
                         warpRows = copyRows / warpsAlongRows,
                         warpColumns = copyRows / warpsAlongColumns,
                         grain = 16; // bytes of a copy, eight terms
static_assert(warpThreads * warpsAlongRows * warpsAlongColumns ==
              threadsOfCopiedTile);

Stages fovea::codegen::stagesOfWarps() {
  return {.count = 3, .bytes = 2 * copyBytes};
}

namespace {
struct CopiedTileEmitter {
  KernelBuilder &b;
  const CopiedProduct &p;
  Stages stages;
  Value memory, thread, lane, warpRow, warpColumn;

  using Values = KernelBuilder::Values;
  Value num(int64_t value) { return b.number(value); }

  Value place(Value bytes) {
    return b.create<LLVM::GEPOp>(memory.getType(), b.getI8Type(), memory,
                                 ArrayRef<LLVM::GEPArg>{bytes});
  }
  void fetch(Value row, Value column, Value piece);
  Values fragment(Value side, Value along, int64_t term, bool isLeft);
  Values multiply(Value piece, ValueRange before);
  void emitUnit(Value unit);
};
} // namespace

/// Starts to copy a piece, if there is one. It commits a group of copies in any
/// case, so that waits can count groups.
void CopiedTileEmitter::fetch(Value row, Value column, Value piece) {
  b.branch(b.less(piece, p.termTiles), [&] {
    Value to = b.mul(b.rem(piece, num(stages.count)), num(stages.bytes));
    auto copy = [&](const CopiedFactor &side, Value tile, int64_t ahead) {
      constexpr int64_t turns = halfBytes / grain / threadsOfCopiedTile;
      for (int64_t half = 0; half < halves; ++half) {
        Value from = side.half(b, tile, piece, num(half));
        Value there = b.add(to, num(ahead + half * halfBytes));
        for (int64_t turn = 0; turn < turns; ++turn) {
          Value own =
              b.mul(b.add(thread, num(turn * threadsOfCopiedTile)), num(grain));
          beginCopy(b, place(b.add(there, own)),
                    b.at(b.getI8Type(), from, own));
        }
      }
    };
    copy(p.a, row, 0);
    copy(p.b, column, copyBytes);
  });
  endCopies(b);
}

/// The operand of an instruction, as in TensorTile.cpp: from row `along` of a
/// side and from term `term` of the piece.
CopiedTileEmitter::Values CopiedTileEmitter::fragment(Value side, Value along,
                                                      int64_t term,
                                                      bool isLeft) {
  Value row = b.rem(lane, num(8)), matrix = b.div(lane, num(8));
  Value quick = b.rem(matrix, num(2)), slow = b.div(matrix, num(2));
  Value ofRows = isLeft ? quick : slow, ofTerms = isLeft ? slow : quick;
  bool rowsAreTerms = (isLeft ? p.a : p.b).rowsAreTerms;
  Value line = b.add(along, b.mul(ofRows, num(8)));
  Value deep = b.add(num(term), b.mul(ofTerms, num(8)));
  Value eight = b.div(deep, num(8));
  if (rowsAreTerms) {
    // Lines of 64 columns, those of the other half after them.
    constexpr int64_t columns = copyRows / halves;
    side = b.add(side, b.mul(b.div(line, num(columns)), num(halfBytes)));
    eight = b.div(b.rem(line, num(columns)), num(8));
    line = deep;
  }
  // Rows of eight begin where 8 divides the number, so `row` is what is left.
  Value swizzled = b.create<arith::XOrIOp>(eight, row);
  Value bytes = b.add(b.mul(b.add(line, row), num(2 * copyTerms)),
                      b.mul(swizzled, num(grain)));
  return loadMatrices(b, place(b.add(side, bytes)), rowsAreTerms);
}

CopiedTileEmitter::Values CopiedTileEmitter::multiply(Value piece,
                                                      ValueRange before) {
  Values sums(before);
  Value left = b.mul(b.rem(piece, num(stages.count)), num(stages.bytes));
  Value right = b.add(left, num(copyBytes));
  for (int64_t term = 0; term < copyTerms; term += mmaTerms) {
    SmallVector<Values> rows, columns;
    for (int64_t i = 0; i < warpRows; i += mmaRows)
      rows.push_back(fragment(left, b.add(warpRow, num(i)), term, true));
    for (int64_t j = 0; j < warpColumns; j += 2 * mmaColumns) {
      Values both = fragment(right, b.add(warpColumn, num(j)), term, false);
      columns.push_back({both[0], both[1]});
      columns.push_back({both[2], both[3]});
    }
    MutableArrayRef<Value> rest = sums;
    for (const Values &row : rows)
      for (const Values &column : columns) {
        llvm::copy(multiplyMatrices(b, row, column, rest.take_front(4)),
                   rest.begin());
        rest = rest.drop_front(4);
      }
  }
  return sums;
}

void CopiedTileEmitter::emitUnit(Value unit) {
  auto [row, column] = tileOfUnit(b, p, unit);
  for (int64_t piece = 0; piece + 1 < stages.count; ++piece)
    fetch(row, column, num(piece));
  Values sums(warpRows * warpColumns / warpThreads,
              b.constant(b.getF32Type(), 0));
  sums = b.loop(num(0), p.termTiles, num(1), sums,
                [&](Value piece, ValueRange now) {
                  // Of those after this one all but one have come.
                  waitForCopies(b, stages.count - 2);
                  waitForBlock(b);
                  fetch(row, column, b.add(piece, num(stages.count - 1)));
                  return multiply(piece, now);
                });
  // Nobody copies parts of another tile before all have read this one's.
  waitForBlock(b);
  Value firstRow =
      b.add(b.add(b.mul(row, num(copyRows)), warpRow), b.div(lane, num(4)));
  Value firstColumn = b.add(b.add(b.mul(column, num(copyRows)), warpColumn),
                            b.mul(b.rem(lane, num(4)), num(2)));
  ValueRange rest = sums;
  for (int64_t i = 0; i < warpRows; i += mmaRows) {
    int64_t count = warpColumns / mmaColumns * 4;
    storeSums(b, p, rest.take_front(count), b.add(firstRow, num(i)),
              firstColumn);
    rest = rest.drop_front(count);
  }
}

void fovea::codegen::emitCopiedTiles(KernelBuilder &b, ModuleOp module,
                                     const CopiedProduct &product,
                                     Value units) {
  Value thread = threadInBlock(b);
  Value warp = b.div(thread, b.number(warpThreads));
  CopiedTileEmitter tiles{
      b,
      product,
      stagesOfWarps(),
      stageMemory(b, module),
      thread,
      b.rem(thread, b.number(warpThreads)),
      b.mul(b.rem(warp, b.number(warpsAlongRows)), b.number(warpRows)),
      b.mul(b.div(warp, b.number(warpsAlongRows)), b.number(warpColumns))};
  b.loop(blockNumber(b), units, numBlocks(b),
         [&](Value unit) { tiles.emitUnit(unit); });
}
