//===- GroupTile.cpp - tiles by groups of warps ---------------------------===//
//
// A block has three concurrent parts. A producer thread of the last warp
// fetches tiles into the block's memory while any of the `stages` is empty: for
// each 64 terms, one of A and one or two of B. Two consumer groups of four
// warps multiply 64 rows each, with the sums in registers.
//
//   fetching     wait until stage s is empty, expect its bytes, copy
//   multiplying  wait until stage s is full, wgmma for each 16 terms, wait for
//                them, say that s is empty
//
// All parts process the same units in the same order, so the next unit's
// factors are fetched while the last sums are stored.
//
// The blocks of a cluster have vertically adjacent units, so B is the same for
// all of them. Each fetches its share of B for all: stage s of all blocks must
// be empty for that, and none exits before all do, because others still write
// to it.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/products/CopiedProduct.h"
#include "codegen/gpu/products/GroupOps.h"
#include "codegen/gpu/products/TensorOps.h"
#include "codegen/gpu/program/Threads.h"
#include "passes/memory/Copies.h"

using namespace mlir;
using namespace fovea::codegen;
using fovea::attn::copyTerms;

static constexpr int64_t numGroups = 2, warpsOfGroup = 4;
static_assert(groupThreadsOfTile == numGroups * groupOfWarps + warpThreads);
static_assert(numGroups * groupRows == copyRows && numGroups == halves);

Stages fovea::codegen::stagesOfGroups(int64_t columnsOfTile) {
  return {.count = 4, .bytes = copyBytes * (1 + columnsOfTile / copyRows)};
}

namespace {
struct GroupTileEmitter {
  KernelBuilder &b;
  const CopiedProduct &p;
  Stages stages;
  Value units, memory, barriers, blocks;

  using Values = KernelBuilder::Values;
  Value num(int64_t value) { return b.number(value); }

  Value addressOf(Value stage, Value bytes);
  /// The barrier for a full, or an empty, stage.
  Value barrierOf(Value stage, bool isFull);
  /// Calls `body` with the stage and the parity of each piece of a unit.
  Values forPieces(Value before, Values carried,
                   llvm::function_ref<Values(Value piece, Value stage,
                                             Value parity, ValueRange)>
                       body);
  void fetch();
  void multiply();
  void emit();
};
} // namespace

Value GroupTileEmitter::addressOf(Value stage, Value bytes) {
  return b.create<LLVM::GEPOp>(
      memory.getType(), b.getI8Type(), memory,
      ArrayRef<LLVM::GEPArg>{b.add(b.mul(stage, num(stages.bytes)), bytes)});
}

Value GroupTileEmitter::barrierOf(Value stage, bool isFull) {
  return b.create<LLVM::GEPOp>(
      barriers.getType(), b.i64(), barriers,
      ArrayRef<LLVM::GEPArg>{isFull ? stage : b.add(stage, num(stages.count))});
}

KernelBuilder::Values GroupTileEmitter::forPieces(
    Value before, Values carried,
    llvm::function_ref<Values(Value, Value, Value, ValueRange)> body) {
  return b.loop(num(0), p.termTiles, num(1), carried,
                [&](Value piece, ValueRange now) {
                  Value turn = b.add(before, piece);
                  Value stage = b.rem(turn, num(stages.count));
                  Value parity = b.rem(b.div(turn, num(stages.count)), num(2));
                  return body(piece, stage, parity, now);
                });
}

void GroupTileEmitter::fetch() {
  b.loop(
      blockNumber(b), units, numBlocks(b), num(0),
      [&](Value unit, ValueRange before) {
        auto [row, column] = tileOfUnit(b, p, unit);
        forPieces(
            before[0], {},
            [&](Value piece, Value stage, Value parity, ValueRange) {
              Value full = barrierOf(stage, true);
              // The first pieces need no signal: their waits refer to the phase
              // before the first.
              waitForPhase(b, barrierOf(stage, false), b.sub(num(1), parity));
              arriveExpecting(b, full, stages.bytes);
              for (int64_t half = 0; half < halves; ++half)
                fetchBytes(b, addressOf(stage, num(half * halfBytes)),
                           p.a.half(b, row, piece, num(half)), halfBytes, full);
              int64_t beside = p.columnsOfTile / copyRows;
              for (int64_t i = 0; i < beside; ++i) {
                Value own = b.add(b.mul(column, num(beside)), num(i));
                b.loop(blockInCluster(b), num(halves), blocks, [&](Value half) {
                  Value to = b.add(num((1 + i) * copyBytes),
                                   b.mul(half, num(halfBytes)));
                  fetchForAll(b, addressOf(stage, to),
                              p.b.half(b, own, piece, half), num(halfBytes),
                              full);
                });
              }
              return Values();
            });
        return Values{b.add(before[0], p.termTiles)};
      });
}

void GroupTileEmitter::multiply() {
  Value thread = threadInBlock(b);
  Value lane = b.rem(thread, num(warpThreads));
  Value group = b.div(thread, num(groupOfWarps));
  Value warp = b.rem(b.div(thread, num(warpThreads)), num(warpsOfGroup));
  // The position of this thread's sums in a tile.
  Value ownRow = b.add(b.mul(group, num(groupRows)),
                       b.add(b.mul(warp, num(16)), b.div(lane, num(4))));
  Value ownColumn = b.mul(b.rem(lane, num(4)), num(2));
  auto describe = [&](const CopiedFactor &factor, int64_t first) {
    Value address = addressOf(num(0), num(first));
    return factor.rowsAreTerms ? describeTerms(b, address, halfBytes)
                               : describeRows(b, address);
  };
  Value left = moveRows(b, describe(p.a, 0), b.mul(group, num(halfBytes)));
  Value right = describe(p.b, copyBytes);
  Value zero = b.constant(b.getF32Type(), 0);
  b.loop(blockNumber(b), units, numBlocks(b), num(0),
         [&](Value unit, ValueRange before) {
           auto [row, column] = tileOfUnit(b, p, unit);
           Values sums(p.columnsOfTile / 2, zero);
           sums = forPieces(
               before[0], sums,
               [&](Value, Value stage, Value parity, ValueRange carried) {
                 waitForPhase(b, barrierOf(stage, true), parity);
                 Value further = b.mul(stage, num(stages.bytes));
                 Values now(carried);
                 beginGroup(b);
                 for (int64_t term = 0; term < copyTerms; term += groupTerms) {
                   auto from = [&](Value side, const CopiedFactor &factor) {
                     int64_t bytes = term * (factor.rowsAreTerms ? 128 : 2);
                     return moveRows(b, side, b.add(further, num(bytes)));
                   };
                   now = multiplyGroup(b, from(left, p.a), from(right, p.b),
                                       now, p.b.rowsAreTerms, p.a.rowsAreTerms);
                 }
                 now = finishGroup(b, now);
                 // A thread of each warp signals one of the blocks.
                 b.branch(b.less(lane, blocks),
                          [&] { arriveIn(b, lane, barrierOf(stage, false)); });
                 return now;
               });
           storeSums(b, p, sums, b.add(b.mul(row, num(copyRows)), ownRow),
                     b.add(b.mul(column, num(p.columnsOfTile)), ownColumn));
           return Values{b.add(before[0], p.termTiles)};
         });
}

void GroupTileEmitter::emit() {
  Value thread = threadInBlock(b);
  b.branch(b.equal(thread, num(0)), [&] {
    for (int64_t stage = 0; stage < stages.count; ++stage) {
      beginBarrier(b, barrierOf(num(stage), true), num(1));
      beginBarrier(b, barrierOf(num(stage), false),
                   b.mul(blocks, num(numGroups * warpsOfGroup)));
    }
    showBarriers(b);
  });
  waitForCluster(b);
  Value multiplies = b.less(thread, num(numGroups * groupOfWarps));
  b.branch(
      multiplies, [&] { multiply(); },
      [&] {
        b.branch(b.equal(thread, num(numGroups * groupOfWarps)),
                 [&] { fetch(); });
      });
  waitForCluster(b);
}

void fovea::codegen::emitGroupTiles(KernelBuilder &kernel, ModuleOp module,
                                    const CopiedProduct &product, Value units) {
  Stages stages = stagesOfGroups(product.columnsOfTile);
  Value barriers =
      sharedMemory(kernel, module, "barriers", kernel.i64(), 2 * stages.count);
  Value memory = stageMemory(kernel, module);
  GroupTileEmitter{
      kernel, product, stages, units, memory, barriers, blocksOfCluster(kernel)}
      .emit();
}
