//===- Gemm.cpp - matrix products of any size -----------------------------===//
//
// Cuts a product into blocks that fit the caches and calls micro-kernels on
// their tiles. Where a block ends is visible in no result: sums go through C
// between blocks of k, and a store and a load are exact.
//
// The loops, from outside: blocks of k, blocks of rows (its part of A is copied
// and stays in the second-level cache, with the panel's part of B), panels,
// tiles of rows. While a panel is multiplied the next one is prefetched into
// the second-level cache, and the rows of A that are copied next: a core reads
// them too late by itself.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/Gemm.h"
#include "codegen/cpu/products/MicroKernel.h"

using namespace mlir;
using namespace fovea::codegen;

using Values = KernelBuilder::Values;

/// Terms of one block. A panel's part of it takes 96 KB.
static constexpr int64_t blockDepth = 512;
/// Between rows of staged A: an odd number of cache lines in f32, so that the
/// rows of a tile lie in distinct sets.
static constexpr int64_t stagedStride = blockDepth + 16;
/// Products of so few rows read B once per row at most; several panels at a
/// time then give enough independent chains.
static constexpr int64_t thinRows = 3;
/// Rows of one block: 200 KB of A in f32, and enough tiles to prefetch a whole
/// panel meanwhile.
static constexpr int64_t blockRows = 96;

std::string fovea::codegen::packName(Type element) {
  return nameFor("fovea_pack", element);
}
std::string fovea::codegen::packFarName(Type element) {
  return nameFor("fovea_pack_far", element);
}
std::string fovea::codegen::packPartsName(Type element) {
  return nameFor("fovea_pack_parts", element);
}
std::string fovea::codegen::gemmName(Type element) {
  return nameFor("fovea_gemm", element);
}
std::string fovea::codegen::gemmRunsName(Type element) {
  return nameFor("fovea_gemm_runs", element);
}

GemmTile fovea::codegen::gemmTile(Type element, const Target &target) {
  bool hasMany = target.vectorRegisters >= 32;
  return {.rows = hasMany ? 8 : 6,
          .lanes = target.lanes(element),
          .vectors = hasMany ? 3 : 2};
}

bool fovea::codegen::isGemmElement(Type element) {
  return element.isF32() || element.isF64();
}

namespace {

constexpr int64_t lineBytes = 64;

/// What all functions of one element type share.
struct Emitter {
  KernelBuilder &b;
  Type element;
  VectorType vector;
  GemmTile tile;

  Emitter(KernelBuilder &b, Type element, const GemmTile &tile)
      : b(b), element(element), vector(VectorType::get(tile.lanes, element)),
        tile(tile) {}

  /// Panels side by side for so few rows: eight chains at least, and no more
  /// than fit into the registers that the target has.
  int64_t thinPanels(int64_t rows) const {
    return rows == 1 ? 4 : rows == 2 ? 2 : 1;
  }
  /// The height of tiles of the last panel, which has fewer vectors: as many
  /// chains as elsewhere, as far as there are registers for them.
  int64_t lastRows(int64_t vectors) const {
    int64_t rows = tile.rows * tile.vectors / vectors;
    return std::min<int64_t>(rows, tile.rows * 3 / 2);
  }
  Value address(Value base, Value row, Value stride) {
    return b.at(element, base, b.mul(row, stride));
  }
  void emitStage();
  void emitStageRuns();
  struct Ahead {
    Value from, step;
  };
  Ahead ahead(ValueRange args, Value row, Value panel);
  void emitBlock();
  void emitGemm(bool byRuns);
};

/// The arguments of a block, in their order.
enum BlockArgument {
  A,
  Ars,
  Acs,
  Bp,
  PanelSize,
  C,
  Ldc,
  M,
  K,
  N,
  First,
  Last,
  Accumulate,
  NextA,
  NextArs,
  NextAcs
};

} // namespace

static std::string stageName(Type element) {
  return nameFor("fovea_gemm_stage", element);
}
static std::string stageRunsName(Type element) {
  return nameFor("fovea_gemm_stage_runs", element);
}

/// Copies A[m, k] to `out`, row after row with `stagedStride` between them.
/// Arguments: a, ars, acs, m, k, out.
void Emitter::emitStage() {
  Type number = b.i64(), pointer = b.pointer();
  Type arguments[] = {pointer, number, number, number, number, pointer};
  b.function(
      stageName(element), arguments, /*isPrivate=*/true, [&](ValueRange args) {
        Value a = args[0], ars = args[1], acs = args[2];
        Value m = args[3], k = args[4], out = args[5];
        Value zero = b.number(0), one = b.number(1);
        Value lanes = b.number(tile.lanes), stride = b.number(stagedStride);

        auto copyRows = [&] {
          b.loop(zero, m, one, [&](Value i) {
            Value input = address(a, i, ars);
            Value output = address(out, i, stride);
            Value whole = b.sub(k, b.rem(k, lanes));
            b.loop(zero, whole, lanes, [&](Value j) {
              b.store(b.load(vector, b.at(element, input, j)),
                      b.at(element, output, j));
            });
            b.branch(b.less(whole, k), [&] {
              Value mask = b.maskBelow(b.sub(k, whole), tile.lanes);
              b.store(b.load(vector, b.at(element, input, whole), mask),
                      b.at(element, output, whole));
            });
          });
        };
        // The columns of A are rows of memory. Squares at the edges are
        // computed whole: what they write beyond the block is never read.
        auto transpose = [&] {
          b.loop(zero, k, lanes, [&](Value j) {
            b.loop(zero, m, lanes, [&](Value i) {
              Value mask = b.maskBelow(b.sub(m, i), tile.lanes);
              Values square;
              for (int64_t lane = 0; lane < tile.lanes; ++lane) {
                Value column = b.add(j, b.number(lane));
                // A column beyond k is read again from the last one.
                column = b.min(column, b.sub(k, one));
                square.push_back(b.load(
                    vector, b.at(element, address(a, column, acs), i), mask));
              }
              transposeSquare(b, square);
              Value output = b.at(element, address(out, i, stride), j);
              for (int64_t lane = 0; lane < tile.lanes; ++lane)
                b.store(square[lane],
                        b.at(element, output, lane * stagedStride));
            });
          });
        };
        auto copyElements = [&] {
          b.loop(zero, m, one, [&](Value i) {
            Value input = address(a, i, ars);
            Value output = address(out, i, stride);
            b.loop(zero, k, one, [&](Value j) {
              b.store(b.load(element, address(input, j, acs)),
                      b.at(element, output, j));
            });
          });
        };
        b.branch(b.equal(acs, one), copyRows,
                 [&] { b.branch(b.equal(ars, one), transpose, copyElements); });
      });
}

/// The same of rows that consist of runs, from `term` on. Arguments: a, list,
/// runs, run, term, m, k, out.
void Emitter::emitStageRuns() {
  Type number = b.i64(), pointer = b.pointer();
  Type arguments[] = {pointer, pointer, number, number,
                      number,  number,  number, pointer};
  b.function(
      stageRunsName(element), arguments, /*isPrivate=*/true,
      [&](ValueRange args) {
        Value a = args[0], list = args[1], runs = args[2], run = args[3];
        Value term = args[4], m = args[5], k = args[6], out = args[7];
        Value zero = b.number(0), one = b.number(1);
        Value lanes = b.number(tile.lanes), stride = b.number(stagedStride);
        Value end = b.add(term, k);
        Value firstRun = b.div(term, run), lastRun = b.divUp(end, run);
        b.loop(zero, m, one, [&](Value i) {
          Value entries = b.at(number, list, b.mul(i, runs));
          Value output = address(out, i, stride);
          b.loop(firstRun, lastRun, one, [&](Value index) {
            Value entry = b.load(number, b.at(number, entries, index));
            Value begin = b.mul(index, run);
            Value from = b.max(begin, term);
            Value count = b.sub(b.min(b.add(begin, run), end), from);
            Value to = b.at(element, output, b.sub(from, term));
            // What the last vector writes beyond the run is written again.
            auto fill = [&](auto value) {
              b.loop(zero, count, lanes,
                     [&](Value j) { b.store(value(j), b.at(element, to, j)); });
            };
            b.branch(
                b.equal(entry, b.number(nowhere)),
                [&] { fill([&](Value) { return b.constant(vector, 0); }); },
                [&] {
                  Value input =
                      b.at(element, a, b.add(entry, b.sub(from, begin)));
                  auto isWhole = b.equal(b.rem(count, lanes), zero);
                  b.branch(
                      isWhole,
                      [&] {
                        fill([&](Value j) {
                          return b.load(vector, b.at(element, input, j));
                        });
                      },
                      [&] {
                        fill([&](Value j) {
                          Value mask = b.maskBelow(b.sub(count, j), tile.lanes);
                          return b.load(vector, b.at(element, input, j), mask);
                        });
                      });
                });
          });
        });
      });
}

/// What a tile prefetches into the second-level cache, a line per turn: the
/// first tiles of a panel the next panel, all others what the next block will
/// stage of A.
Emitter::Ahead Emitter::ahead(ValueRange args, Value row, Value panel) {
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  Value zero = b.number(0), one = b.number(1), line = b.number(lineBytes);
  Value elements = b.number(lineBytes / bytes);
  Value turns = b.max(b.div(args[K], b.number(termsPerTurn)), one);
  Value number = b.div(row, b.number(tile.rows));
  // A panel has as many lines as so many tiles have turns.
  Value ofPanel = b.number(termsPerTurn * tile.columns() * bytes / lineBytes);
  Value nextPanel =
      b.at(element, address(args[Bp], b.add(panel, one), args[PanelSize]),
           b.mul(b.mul(number, turns), elements));

  // The other tiles, from the first panel on. Where they suffice, those of the
  // last panels: what comes much too early is gone again.
  Value others =
      b.max(b.sub(b.div(args[M], b.number(tile.rows)), ofPanel), zero);
  Value all = b.mul(b.sub(args[Last], args[First]), others);
  Value lines = b.divUp(b.mul(args[M], args[K]), elements);
  Value early = b.max(b.sub(all, b.divUp(lines, turns)), zero);
  Value isByColumns = b.less(one, args[NextAcs]);
  Value isWhole = b.either(isByColumns, b.equal(args[NextArs], args[K]));
  Value inA =
      b.add(b.mul(b.sub(panel, args[First]), others), b.sub(number, ofPanel));
  inA = b.sub(inA, b.select(isWhole, early, zero));
  Value isOfPanel = b.either(b.less(number, ofPanel), b.less(inA, zero));

  // A line of columns belongs to several rows: tiles take turns at its terms.
  Value parts = b.number(termsPerTurn);
  Value byColumns = b.add(b.mul(b.mul(b.rem(inA, parts), turns), args[NextAcs]),
                          b.mul(b.div(inA, parts), elements));
  Value byRows = b.mul(b.mul(inA, turns), elements);
  Value nextA =
      b.at(element, args[NextA], b.select(isByColumns, byColumns, byRows));
  Value step =
      b.select(isByColumns, b.mul(args[NextAcs], b.number(bytes)), line);
  return {.from = b.select(isOfPanel, nextPanel, nextA),
          .step = b.select(isOfPanel, line, step)};
}

/// One block of rows and of k times panels: tiles of the full height, then one
/// or two of nearly equal height.
void Emitter::emitBlock() {
  Type number = b.i64(), pointer = b.pointer();
  Type arguments[] = {pointer,       number,  number, pointer, number, pointer,
                      number,        number,  number, number,  number, number,
                      b.getI1Type(), pointer, number, number};
  /// Kernels by rows: one panel; several; and the last panel, by vectors.
  std::map<int64_t, std::string> single, wide, last;
  for (int64_t rows = 1; rows <= tile.rows; ++rows) {
    bool isThin = rows <= thinRows;
    int64_t stride = isThin ? 0 : stagedStride;
    single[rows] =
        emitMicroKernel(b, element, tile, {rows, 1, tile.vectors, stride});
    if (isThin)
      wide[rows] = emitMicroKernel(b, element, tile,
                                   {rows, thinPanels(rows), tile.vectors, 0});
  }
  for (int64_t vectors = 1; vectors <= tile.vectors; ++vectors)
    last[vectors] = emitMicroKernel(
        b, element, tile, {lastRows(vectors), 1, vectors, stagedStride});

  b.function(
      nameFor("fovea_gemm_block", element), arguments, /*isPrivate=*/true,
      [&](ValueRange args) {
        Value columns = b.number(tile.columns());
        Value zero = b.number(0), one = b.number(1);
        auto callKernel = [&](StringRef kernel, Value row, Value panel) {
          Value column = b.mul(panel, columns);
          Value c = b.at(element, address(args[C], row, args[Ldc]), column);
          Ahead next = ahead(args, row, panel);
          b.call(kernel,
                 {address(args[A], row, args[Ars]), args[Ars], args[Acs],
                  address(args[Bp], panel, args[PanelSize]), args[PanelSize], c,
                  args[Ldc], args[K], b.sub(args[N], column), args[Accumulate],
                  next.from, next.step});
        };
        auto multiplyThin = [&] {
          b.dispatch(args[M], thinRows, [&](int64_t rows) {
            Value step = b.number(thinPanels(rows));
            Value count = b.sub(args[Last], args[First]);
            Value end = b.sub(args[Last], b.rem(b.max(count, zero), step));
            b.loop(args[First], end, step,
                   [&](Value panel) { callKernel(wide[rows], zero, panel); });
            if (thinPanels(rows) > 1)
              b.loop(end, args[Last], one, [&](Value panel) {
                callKernel(single[rows], zero, panel);
              });
          });
        };
        // All tiles but the last two are full; 12 rows become 6 and 6.
        auto multiplyRows = [&](int64_t rows, StringRef kernel, Value panel) {
          Value height = b.number(rows), tallest = b.number(tile.rows);
          Value above = b.rem(args[M], height);
          Value whole = b.sub(args[M], above);
          if (rows == tile.rows)
            whole = b.select(b.equal(above, zero), args[M],
                             b.max(b.sub(whole, height), zero));
          b.loop(zero, whole, height,
                 [&](Value row) { callKernel(kernel, row, panel); });
          Value left = b.sub(args[M], whole);
          Value step = b.select(b.less(tallest, left),
                                b.divUp(left, b.number(2)), b.max(left, one));
          b.loop(whole, args[M], step, [&](Value row) {
            Value rows = b.min(step, b.sub(args[M], row));
            b.dispatch(rows, tile.rows, [&](int64_t rows) {
              callKernel(single[rows], row, panel);
            });
          });
        };
        auto multiplyTiles = [&] {
          b.loop(args[First], args[Last], one, [&](Value panel) {
            Value exist = b.sub(args[N], b.mul(panel, columns));
            b.branch(
                b.atMost(columns, exist),
                [&] { multiplyRows(tile.rows, single[tile.rows], panel); },
                [&] {
                  Value vectors = b.divUp(exist, b.number(tile.lanes));
                  b.dispatch(vectors, tile.vectors, [&](int64_t vectors) {
                    multiplyRows(lastRows(vectors), last[vectors], panel);
                  });
                });
          });
        };
        b.branch(b.atMost(args[M], b.number(thinRows)), multiplyThin,
                 multiplyTiles);
      });
}

void Emitter::emitGemm(bool byRuns) {
  Type number = b.i64(), pointer = b.pointer();
  SmallVector<Type> arguments = {pointer, number, number, pointer,
                                 pointer, number, number, number,
                                 number,  number, number, b.getI1Type()};
  if (byRuns) {
    // A list and its width, and the length of a run.
    arguments[1] = pointer;
    arguments.insert(arguments.begin() + 3, number);
  }
  std::string name = byRuns ? gemmRunsName(element) : gemmName(element);
  b.function(name, arguments, /*isPrivate=*/false, [&](ValueRange args) {
    Value a = args[0], list = args[1], runs = args[2];
    Value ars = args[1], acs = args[2], run;
    if (byRuns) {
      run = args[3];
      ars = acs = b.number(1);
      args = args.drop_front();
    }
    Value bp = args[3], c = args[4], ldc = args[5];
    Value m = args[6], n = args[7], k = args[8];
    Value first = args[9], last = args[10], accumulate = args[11];
    Value zero = b.number(0), one = b.number(1);

    Value isTall = b.less(b.number(thinRows), m);
    Value staged = byRuns ? b.truth(true) : isTall;
    Value scratch = b.scratch(element, (blockRows + tile.lanes) * stagedStride);

    // k = 0 still makes one turn, which writes zeros.
    Value terms = b.max(k, one);
    Value limit = b.select(staged, b.number(blockDepth), terms);
    Value depth = b.divUp(terms, b.divUp(terms, limit));
    Value tallest = b.number(blockRows);
    Value height = b.divUp(b.max(m, one), b.divUp(b.max(m, one), tallest));
    height = b.mul(b.divUp(height, b.number(tile.rows)), b.number(tile.rows));
    Value panelSize = b.mul(k, b.number(tile.columns()));

    b.loop(zero, terms, depth, [&](Value term) {
      Value length = b.min(depth, b.sub(k, term));
      Value goesOn = b.either(accumulate, b.less(zero, term));
      Value panels = b.at(element, bp, b.mul(term, b.number(tile.columns())));
      b.loop(zero, m, height, [&](Value row) {
        Value count = b.min(height, b.sub(m, row));
        Value from = byRuns ? a : address(address(a, term, acs), row, ars);
        // What is staged next: rows below, or the first ones of the next terms.
        // Runs are left to the processor: what is prefetched then is there
        // already.
        Value after = panels;
        if (!byRuns)
          after =
              b.select(b.less(b.add(row, count), m), address(from, count, ars),
                       address(a, b.add(term, length), acs));
        auto multiply = [&](Value block, Value blockRs, Value blockCs) {
          b.call(nameFor("fovea_gemm_block", element),
                 {block, blockRs, blockCs, panels, panelSize,
                  address(c, row, ldc), ldc, count, length, n, first, last,
                  goesOn, after, byRuns ? zero : ars, byRuns ? one : acs});
        };
        auto stage = [&] {
          if (byRuns)
            b.call(stageRunsName(element),
                   {a, b.at(number, list, b.mul(row, runs)), runs, run, term,
                    count, length, scratch});
          else
            b.call(stageName(element),
                   {from, ars, acs, count, length, scratch});
          multiply(scratch, b.number(stagedStride), one);
        };
        if (byRuns)
          stage();
        else
          b.branch(staged, stage, [&] { multiply(from, ars, acs); });
      });
    });
  });
}

void fovea::codegen::emitGemm(ModuleOp module, Type element,
                              const Target &target) {
  assert(isGemmElement(element) && "no product of this element type");
  KernelBuilder builder(module);
  GemmTile tile = gemmTile(element, target);
  for (bool isFar : {false, true})
    emitPack(builder, element, tile, isFar);
  emitPackParts(builder, element, tile);
  Emitter emitter(builder, element, tile);
  emitter.emitBlock();
  emitter.emitStage();
  emitter.emitStageRuns();
  for (bool byRuns : {false, true})
    emitter.emitGemm(byRuns);
  emitProduct(builder, element, tile);
  emitGather(builder, element, tile);
}
