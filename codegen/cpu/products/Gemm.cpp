//===- Gemm.cpp - matrix products of any size -----------------------------===//
//
// Cuts a product into cache-sized blocks and calls micro-kernels on their
// tiles. Block boundaries change no result: sums go through C between blocks of
// k, and a store and a load are exact.
//
// The loops, from outside: blocks of k, blocks of rows, panels, tiles of rows.
// The block's part of A is copied and stays in the second-level cache, with the
// panel's part of B. While a panel is multiplied, the next panel and the next
// rows of A are prefetched into the second-level cache: the hardware would read
// them too late.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/Gemm.h"
#include "codegen/cpu/products/MicroKernel.h"
#include "codegen/cpu/products/Pairs.h"
#include "codegen/cpu/products/TensorKernel.h"

using namespace mlir;
using namespace fovea::codegen;

using Values = KernelBuilder::Values;

/// Terms of one block. A panel's part of it takes 96 KB.
static constexpr int64_t blockDepth = stagedStride - 16;
/// The same for rows that consist of runs: nothing of A is copied.
static constexpr int64_t runsDepth = mostTerms;
/// This many elements of B stay in the second-level cache.
static constexpr int64_t mostNearPanels = int64_t(1) << 18;
/// Products of this few rows read B once per row at most; several panels at a
/// time then provide enough independent chains.
static constexpr int64_t thinRows = 3;
/// Rows of one block: 200 KB of A in f32, and enough tiles to prefetch a whole
/// panel meanwhile.
static constexpr int64_t blockRows = 96;

/// What is packed does not depend on the order of sums.
static GemmElement asPacked(GemmElement element) {
  element.sums.reset();
  return element;
}
std::string fovea::codegen::packName(GemmElement element) {
  return nameFor("fovea_pack", asPacked(element));
}
std::string fovea::codegen::packFarName(GemmElement element) {
  return nameFor("fovea_pack_far", asPacked(element));
}
std::string fovea::codegen::packPartsName(GemmElement element) {
  return nameFor("fovea_pack_parts", asPacked(element));
}
std::string fovea::codegen::gemmName(GemmElement element) {
  return nameFor("fovea_gemm", element);
}
std::string fovea::codegen::gemmRunsName(GemmElement element) {
  return nameFor("fovea_gemm_runs", element);
}

std::string fovea::codegen::gemmRowsName(GemmElement element) {
  return nameFor("fovea_gemm_rows", element);
}

std::string fovea::codegen::gemmBlockName(LeftSide left, GemmElement element) {
  return nameFor(left == LeftSide::runs      ? "fovea_gemm_block_runs"
                 : left == LeftSide::columns ? "fovea_gemm_block_columns"
                                             : "fovea_gemm_block",
                 element);
}

static bool hasFeature(const Target &target, StringRef feature) {
  SmallVector<StringRef> all;
  StringRef(target.features).split(all, ',');
  return llvm::is_contained(all, feature);
}

GemmTile fovea::codegen::gemmTile(Type element, const Target &target) {
  bool hasMany = target.vectorRegisters >= 32;
  return {.rows = hasMany ? 8 : 6,
          .lanes = target.lanes(element),
          .vectors = hasMany ? 3 : 2,
          .multipliesPairs = target.vectorBits == 512 && element.isF32() &&
                             hasFeature(target, "+avx512bf16")};
}

bool fovea::codegen::isGemmElement(Type element) {
  return element.isF32() || element.isF64();
}

namespace {

constexpr int64_t lineBytes = 64;

/// Shared by all functions of one element type.
struct Emitter {
  KernelBuilder &b;
  GemmElement both;
  Type element, right; // in memory
  VectorType vector;
  GemmTile tile;

  Emitter(KernelBuilder &b, GemmElement both, const GemmTile &tile)
      : b(b), both(both), element(both.type), right(rightInMemory(both)),
        vector(VectorType::get(tile.lanes, element)), tile(tile) {}

  /// Adjacent panels for this few rows: at least eight chains, and at most as
  /// many as fit into the target's registers.
  int64_t thinPanels(int64_t rows) const {
    return rows == 1 ? 4 : rows == 2 ? 2 : 1;
  }
  /// The height of tiles of the last panel, which has fewer vectors: as many
  /// chains as elsewhere, as far as registers allow.
  int64_t lastRows(int64_t vectors) const {
    int64_t rows = tile.rows * tile.vectors / vectors;
    return std::min<int64_t>(rows, tile.rows * 3 / 2);
  }
  Value address(Value base, Value row, Value stride) {
    return b.at(element, base, b.mul(row, stride));
  }
  Value addressInB(Value base, Value row, Value stride) {
    return b.at(right, base, b.mul(row, stride));
  }
  /// The height of tiles that also have the one vector of the last panel.
  int64_t joinedRows() const {
    return tile.rows * tile.vectors / (tile.vectors + 1);
  }
  void copyRow(Value input, Value output, Value k);
  void emitStage();
  void emitStageRows();
  struct Ahead {
    Value from, step;
  };
  Ahead ahead(ValueRange args, Value row, Value panel);
  Values leftAt(LeftSide left, ValueRange args, Value row);
  void emitBlock(LeftSide left);
  void emitGemm(bool isListed);
  void emitGemmRuns();
  Value heightOfBlocks(Value m);
  Value depthOf(Value terms, Value run, int64_t limit);
  Value wholeGroups(Value terms);
};

/// The arguments of a block, in order, after the address of A.
enum BlockArgument {
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

/// What is staged does not depend on B.
static GemmElement asStaged(GemmElement element) {
  element.sums.reset();
  element.right = nullptr;
  return element;
}

static std::string stageName(GemmElement element) {
  return nameFor("fovea_gemm_stage", asStaged(element));
}

static std::string stageRowsName(GemmElement element) {
  return nameFor("fovea_gemm_stage_rows", asStaged(element));
}

void Emitter::copyRow(Value input, Value output, Value k) {
  if (both.pairs)
    return copyPairs(b, tile, input, output, k);
  Value lanes = b.number(tile.lanes), whole = b.sub(k, b.rem(k, lanes));
  b.loop(b.number(0), whole, lanes, [&](Value j) {
    b.store(b.load(vector, b.at(element, input, j)), b.at(element, output, j));
  });
  b.branch(b.less(whole, k), [&] {
    Value mask = b.maskBelow(b.sub(k, whole), tile.lanes);
    b.store(b.load(vector, b.at(element, input, whole), mask),
            b.at(element, output, whole));
  });
}

/// Copies A[m, k] to `out`, row after row with `stagedStride` between them.
/// Arguments: a, ars, acs, m, k, out.
void Emitter::emitStage() {
  Type number = b.i64(), pointer = b.pointer();
  Type arguments[] = {pointer, number, number, number, number, pointer};
  b.function(
      stageName(both), arguments, /*isPrivate=*/true, [&](ValueRange args) {
        if (both.pairs)
          return stagePairs(b, tile, args.take_front(3), args[3], args[4],
                            args[5]);
        Value a = args[0], ars = args[1], acs = args[2];
        Value m = args[3], k = args[4], out = args[5];
        Value zero = b.number(0), one = b.number(1);
        Value lanes = b.number(tile.lanes), stride = b.number(stagedStride);

        auto copyRows = [&] {
          b.loop(zero, m, one, [&](Value i) {
            copyRow(address(a, i, ars), address(out, i, stride), k);
          });
        };
        // The columns of A are rows of memory. Squares at the edges are
        // computed whole: elements beyond the block are never read.
        auto transpose = [&] {
          b.loop(zero, k, lanes, [&](Value j) {
            b.loop(zero, m, lanes, [&](Value i) {
              Value mask = b.maskBelow(b.sub(m, i), tile.lanes);
              Values square;
              for (int64_t lane = 0; lane < tile.lanes; ++lane) {
                Value column = b.add(j, b.number(lane));
                // A column beyond k repeats the last one.
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

/// The same for rows whose addresses are in a list. Arguments: a, list, m, k,
/// out.
void Emitter::emitStageRows() {
  Type number = b.i64(), pointer = b.pointer();
  Type arguments[] = {pointer, pointer, number, number, pointer};
  b.function(stageRowsName(both), arguments, /*isPrivate=*/true,
             [&](ValueRange args) {
               Value stride = b.number(stagedStride);
               b.loop(b.number(0), args[2], b.number(1), [&](Value i) {
                 Value entry = b.load(number, b.at(number, args[1], i));
                 copyRow(b.at(element, args[0], entry),
                         address(args[4], i, stride), args[3]);
               });
             });
}

/// The lines that a tile prefetches into the second-level cache, one per turn:
/// the first tiles of a panel prefetch the next panel, the others the part of A
/// that the next block stages.
Emitter::Ahead Emitter::ahead(ValueRange args, Value row, Value panel) {
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  Value zero = b.number(0), one = b.number(1), line = b.number(lineBytes);
  Value elements = b.number(lineBytes / bytes);
  Value turns = b.max(b.div(args[K], b.number(termsPerTurn)), one);
  Value number = b.div(row, b.number(tile.rows));
  // A panel has as many lines as this many tiles have turns.
  int64_t bytesInB = right.getIntOrFloatBitWidth() / 8;
  Value ofPanel =
      b.number(termsPerTurn * tile.columns() * bytesInB / lineBytes);
  Value elementsInB = both.isSame() ? elements : b.number(lineBytes / bytesInB);
  Value nextPanel =
      b.at(right, addressInB(args[Bp], b.add(panel, one), args[PanelSize]),
           b.mul(b.mul(number, turns), elementsInB));

  // The other tiles, from the first panel on. If the last panels have enough
  // tiles, those: lines prefetched too early are evicted again.
  Value others =
      b.max(b.sub(b.div(args[M], b.number(tile.rows)), ofPanel), zero);
  Value all = b.mul(b.sub(args[Last], args[First]), others);
  // A pair is two elements of A.
  Value ofRow = both.pairs ? b.mul(args[K], b.number(2)) : args[K];
  Value lines = b.divUp(b.mul(args[M], ofRow), elements);
  Value early = b.max(b.sub(all, b.divUp(lines, turns)), zero);
  Value isByColumns = b.less(one, args[NextAcs]);
  Value isWhole = b.either(isByColumns, b.equal(args[NextArs], ofRow));
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

/// The addresses of the rows of A from `row` on.
Values Emitter::leftAt(LeftSide left, ValueRange args, Value row) {
  Values result = llvm::to_vector(args);
  if (left == LeftSide::runs)
    result[1] = b.at(b.i64(), args[1], b.mul(row, args[2]));
  else if (left == LeftSide::columns)
    result[1] = b.add(args[1], row);
  else
    result[0] = address(args[0], row, args[1]);
  return result;
}

/// One block of rows and of k times panels: tiles of the full height, then one
/// or two of nearly equal height. A last panel of one vector is computed with
/// the panel before it.
void Emitter::emitBlock(LeftSide left) {
  Type number = b.i64(), pointer = b.pointer();
  SmallVector<Type> arguments = leftArguments(b, left);
  size_t numLeft = arguments.size();
  arguments.append({pointer, number, pointer, number, number, number, number,
                    number, number, b.getI1Type()});
  // Nothing is staged for few rows.
  bool isStaged = left == LeftSide::staged;
  if (isStaged)
    arguments.append({pointer, number, number});
  LeftSide thin = isStaged ? LeftSide::strided : left;
  /// Kernels by rows: one panel; several; and the last panel, by vectors.
  std::map<int64_t, std::string> single, wide, last;
  for (int64_t rows = 1; rows <= tile.rows; ++rows) {
    bool isThin = rows <= thinRows;
    single[rows] = emitMicroKernel(b, both, tile,
                                   {rows, tile.vectors, isThin ? thin : left});
    if (isThin)
      wide[rows] = emitMicroKernel(
          b, both, tile, {rows, thinPanels(rows) * tile.vectors, thin});
  }
  auto heightOf = [&](int64_t vectors) {
    // There is a pointer per row of runs.
    return left == LeftSide::runs ? std::min(lastRows(vectors), tile.rows)
                                  : lastRows(vectors);
  };
  for (int64_t vectors = 1; vectors <= tile.vectors; ++vectors)
    last[vectors] =
        emitMicroKernel(b, both, tile, {heightOf(vectors), vectors, left});
  // With the vector of the last panel, by rows.
  std::map<int64_t, std::string> joined;
  for (int64_t rows = thinRows + 1; rows <= joinedRows(); ++rows)
    joined[rows] =
        emitMicroKernel(b, both, tile, {rows, tile.vectors + 1, left});

  b.function(
      gemmBlockName(left, both), arguments, /*isPrivate=*/true,
      [&](ValueRange all) {
        ValueRange ofLeft = all.take_front(numLeft);
        ValueRange args = all.drop_front(numLeft);
        Value columns = b.number(tile.columns());
        Value zero = b.number(0), one = b.number(1);
        auto callKernel = [&](StringRef kernel, Value row, Value panel) {
          Value column = b.mul(panel, columns);
          Value c = b.at(element, address(args[C], row, args[Ldc]), column);
          Values values = leftAt(left, ofLeft, row);
          values.append({addressInB(args[Bp], panel, args[PanelSize]),
                         args[PanelSize], c, args[Ldc], args[K],
                         b.sub(args[N], column), args[Accumulate]});
          // The hardware prefetches what is not copied.
          if (isStaged) {
            Ahead next = ahead(args, row, panel);
            values.append({next.from, next.step});
          }
          b.call(kernel, values);
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
        auto multiplyRows = [&](int64_t rows, StringRef kernel, Value panel,
                                Value lastPanel) {
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
              if (lastPanel && joined.contains(rows))
                return callKernel(joined[rows], row, panel);
              callKernel(single[rows], row, panel);
              if (lastPanel)
                callKernel(single[rows], row, lastPanel);
            });
          });
        };
        auto multiplyTiles = [&] {
          // One vector is all of the last panel.
          Value ofLast = b.sub(args[N], b.mul(b.sub(args[Last], one), columns));
          Value isJoined = b.both(b.atMost(ofLast, b.number(tile.lanes)),
                                  b.less(args[First], b.sub(args[Last], one)));
          Value before = b.sub(args[Last], b.number(2));
          Value end = b.select(isJoined, before, args[Last]);
          b.loop(args[First], end, one, [&](Value panel) {
            Value exist = b.sub(args[N], b.mul(panel, columns));
            b.branch(
                b.atMost(columns, exist),
                [&] {
                  multiplyRows(tile.rows, single[tile.rows], panel, nullptr);
                },
                [&] {
                  Value vectors = b.divUp(exist, b.number(tile.lanes));
                  b.dispatch(vectors, tile.vectors, [&](int64_t vectors) {
                    multiplyRows(heightOf(vectors), last[vectors], panel,
                                 nullptr);
                  });
                });
          });
          b.branch(isJoined, [&] {
            multiplyRows(joinedRows(), joined[joinedRows()], before,
                         b.sub(args[Last], one));
          });
        };
        b.branch(b.atMost(args[M], b.number(thinRows)), multiplyThin,
                 multiplyTiles);
      });
}

/// Blocks have about equal height, a multiple of whole tiles.
Value Emitter::heightOfBlocks(Value m) {
  Value all = b.max(m, b.number(1));
  Value height = b.divUp(all, b.divUp(all, b.number(blockRows)));
  return b.mul(b.divUp(height, b.number(tile.rows)), b.number(tile.rows));
}

Value fovea::codegen::columnOfParts(KernelBuilder &b, const GemmTile &tile,
                                    Value place, Value n, Value parts) {
  Value lanes = b.number(tile.lanes);
  Value vector = b.div(place, lanes);
  return b.add(b.add(b.mul(b.rem(vector, parts), b.div(n, parts)),
                     b.mul(b.div(vector, parts), lanes)),
               b.rem(place, lanes));
}

SmallVector<Type> fovea::codegen::gemmArguments(KernelBuilder &b,
                                                bool isListed) {
  Type number = b.i64(), pointer = b.pointer();
  SmallVector<Type> arguments = {pointer, number, number};
  if (isListed)
    arguments = {pointer, pointer};
  arguments.append({pointer, pointer, number, number, number, number, number,
                    number, b.getI1Type()});
  return arguments;
}

/// `isListed`: the rows of A lie where a list says.
void Emitter::emitGemm(bool isListed) {
  Type number = b.i64();
  b.function(
      isListed ? gemmRowsName(both) : gemmName(both),
      gemmArguments(b, isListed), /*isPrivate=*/false, [&](ValueRange all) {
        ValueRange args = all.take_back(numCommonArguments);
        Value bp = args[0], c = args[1], ldc = args[2];
        Value m = args[3], n = args[4], k = args[5];
        Value first = args[6], last = args[7], accumulate = args[8];
        Value zero = b.number(0), one = b.number(1);
        Value a = all[0], list = all[1];
        Value ars = isListed ? one : all[1], acs = isListed ? one : all[2];
        Value staged = isListed || both.pairs ? b.truth(true)
                                              : b.less(b.number(thinRows), m);
        Value scratch =
            b.scratch(element, (blockRows + tile.lanes) * stagedStride);

        // k = 0 still makes one turn, which writes zeros.
        Value units = both.pairs ? pairsOf(b, k) : k;
        Value terms = b.max(units, one);
        Value limit = b.number(blockDepth);
        if (!both.sums)
          limit = b.select(staged, limit, terms);
        Value depth = wholeGroups(b.divUp(terms, b.divUp(terms, limit)));
        Value height = heightOfBlocks(m);
        Value panelSize = b.mul(units, b.number(tile.columns()));
        b.loop(zero, terms, depth, [&](Value term) {
          Value length = b.min(depth, b.sub(units, term));
          Value firstTerm = term, numTerms = length;
          if (both.pairs) {
            firstTerm = b.mul(term, b.number(2));
            numTerms = b.min(b.mul(length, b.number(2)), b.sub(k, firstTerm));
          }
          Value goesOn = b.either(accumulate, b.less(zero, term));
          Value panels = b.at(right, bp, b.mul(term, b.number(tile.columns())));
          b.loop(zero, m, height, [&](Value row) {
            Value count = b.min(height, b.sub(m, row));
            Value from = address(address(a, firstTerm, acs), row, ars);
            // The next part to stage: rows below, or the first ones of the next
            // terms. Rows of a list are anywhere; the panels are in place.
            Value after = panels;
            if (!isListed)
              after = b.select(b.less(b.add(row, count), m),
                               address(from, count, ars),
                               address(a, b.add(firstTerm, numTerms), acs));
            auto multiply = [&](Value block, Value blockRs, Value blockCs) {
              b.call(gemmBlockName(LeftSide::staged, both),
                     {block, blockRs, blockCs, panels, panelSize,
                      address(c, row, ldc), ldc, count, length, n, first, last,
                      goesOn, after, ars, acs});
            };
            if (isListed) {
              b.call(stageRowsName(both),
                     {b.at(element, a, firstTerm), b.at(number, list, row),
                      count, numTerms, scratch});
              return multiply(scratch, b.number(stagedStride), one);
            }
            b.branch(
                staged,
                [&] {
                  b.call(stageName(both),
                         {from, ars, acs, count, numTerms, scratch});
                  multiply(scratch, b.number(stagedStride), one);
                },
                [&] { multiply(from, ars, acs); });
          });
        });
      });
}

/// The number of terms of a block: whole runs of at most `limit`, or parts of
/// one.
Value Emitter::depthOf(Value terms, Value run, int64_t limit) {
  Value most = b.number(limit);
  Value depth = b.divUp(terms, b.divUp(terms, most));
  Value together = b.mul(b.divUp(depth, run), run);
  return b.select(b.atMost(together, most), together, depth);
}

/// At least as many terms, whose groups are whole.
Value Emitter::wholeGroups(Value terms) {
  if (!both.sums)
    return terms;
  Value group = b.number(termsOfGroups);
  return b.mul(b.divUp(terms, group), group);
}

void Emitter::emitGemmRuns() {
  Type number = b.i64(), pointer = b.pointer();
  Type arguments[] = {pointer, pointer, number,       number, pointer,
                      pointer, number,  number,       number, number,
                      number,  number,  b.getI1Type()};
  b.function(
      gemmRunsName(both), arguments, /*isPrivate=*/false, [&](ValueRange args) {
        Value a = args[0], list = args[1], runs = args[2], run = args[3];
        Value bp = args[4], c = args[5], ldc = args[6];
        Value m = args[7], n = args[8], k = args[9];
        Value first = args[10], last = args[11], accumulate = args[12];
        Value zero = b.number(0), one = b.number(1);
        run = b.max(run, one);
        Value none = zerosOfRun(b, vector, run, runsDepth);
        // k = 0 still makes one turn, which writes zeros.
        Value terms = b.max(k, one);
        Value panelSize = b.mul(k, b.number(tile.columns()));
        Value depth = both.sums ? b.min(wholeGroups(terms), b.number(runsDepth))
                                : depthOf(terms, run, runsDepth);
        auto multiply = [&](Value term, Value row, Value height) {
          Value panels = b.at(right, bp, b.mul(term, b.number(tile.columns())));
          b.call(gemmBlockName(LeftSide::runs, both),
                 {a, b.at(number, list, b.mul(row, runs)), runs, run, term,
                  none, panels, panelSize, address(c, row, ldc), ldc,
                  b.min(height, b.sub(m, row)), b.min(depth, b.sub(k, term)), n,
                  first, last, b.either(accumulate, b.less(zero, term))});
        };
        // While all of B stays in the second-level cache, a block of A
        // enters the first, and its rows of C stay near.
        auto byRows = [&] {
          Value height = b.number(3 * tile.rows);
          b.loop(zero, m, height, [&](Value row) {
            b.loop(zero, terms, depth,
                   [&](Value term) { multiply(term, row, height); });
          });
        };
        auto byTerms = [&] {
          Value height = heightOfBlocks(m);
          b.loop(zero, terms, depth, [&](Value term) {
            b.loop(zero, m, height,
                   [&](Value row) { multiply(term, row, height); });
          });
        };
        b.branch(b.less(b.mul(n, terms), b.number(mostNearPanels)), byRows,
                 byTerms);
      });
}

void fovea::codegen::emitGemm(ModuleOp module, GemmElement element,
                              const Target &target) {
  assert(isGemmElement(element.type) && "no product of this element type");
  KernelBuilder builder(module);
  GemmTile tile = gemmTile(element.type, target);
  if (element.pairs) {
    emitPackPairs(builder, tile);
  } else {
    for (bool isFar : {false, true})
      emitPack(builder, asPacked(element), tile, isFar);
    emitPackParts(builder, asPacked(element), tile);
  }
  if (element.sums)
    declareTensorCore(builder, module);
  Emitter emitter(builder, element, tile);
  emitter.emitStage();
  emitter.emitStageRows();
  emitter.emitBlock(LeftSide::staged);
  for (bool isListed : {false, true})
    emitter.emitGemm(isListed);
  if (element.isSame())
    emitProduct(builder, element, tile);
}

void fovea::codegen::emitGatheredGemm(ModuleOp module, GemmElement element,
                                      const Target &target) {
  KernelBuilder builder(module);
  GemmTile tile = gemmTile(element.type, target);
  if (element.pairs)
    return emitPairGather(builder, tile);
  Emitter emitter(builder, element, tile);
  emitter.emitBlock(LeftSide::runs);
  emitter.emitBlock(LeftSide::columns);
  emitter.emitGemmRuns();
  emitGather(builder, element, tile);
}
