//===- CopiedProduct.cpp - products of factors copied as bf16 -------------===//
//
// Both factors are copied before the product, unless an earlier product has
// done so, by kernels whose units are tiles. The copy kernels handle strides
// and row lists; the product reads consecutive tiles.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/products/CopiedProduct.h"
#include "codegen/gpu/products/TensorOps.h"
#include "codegen/gpu/program/GpuEmitter.h"
#include "codegen/gpu/program/Threads.h"
#include "passes/memory/Copies.h"
#include "targets/nvidia/AttentionCopies.h"
#include "targets/nvidia/Tiles.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;

/// Eight numbers of a row are stored at a time.
static constexpr int64_t atOnce = 8;

/// Where eight terms of a row are in a tile, in bytes.
static Value placeOfEight(KernelBuilder &b, Value row, Value eight) {
  Value swizzled = b.create<arith::XOrIOp>(eight, b.rem(row, b.number(8)));
  return b.add(b.mul(row, b.number(2 * copyTerms)),
               b.mul(swizzled, b.number(2 * atOnce)));
}

void fovea::codegen::emitCopy(KernelBuilder &b, const TileSide &side,
                              Value rows, Value terms, Value termTiles,
                              Value unit, Value to) {
  auto num = [&](int64_t value) { return b.number(value); };
  Type real = b.getF32Type();
  Value thread = threadInBlock(b);
  Value firstRow = b.mul(b.div(unit, termTiles), num(copyRows));
  Value firstTerm = b.mul(b.rem(unit, termTiles), num(copyTerms));
  to = b.at(b.getI8Type(), to, b.mul(unit, num(copyBytes)));
  // Neighbouring threads read neighbouring elements.
  bool isDeep = side.isDeep();
  constexpr int64_t eights = copyTerms / atOnce;
  for (int64_t turn = 0; turn < copyRows * eights / copyThreads; ++turn) {
    Value own = b.add(thread, num(turn * copyThreads));
    Value width = num(isDeep ? eights : copyRows);
    Value quick = b.rem(own, width), slow = b.div(own, width);
    Value row = isDeep ? slow : quick, eight = isDeep ? quick : slow;
    Value at = b.add(firstRow, row);
    Value first = b.add(firstTerm, b.mul(eight, num(atOnce)));
    KernelBuilder::Values words;
    for (int64_t i = 0; i < atOnce; i += 4) {
      KernelBuilder::Values four =
          side.fourOrZeros(b, real, at, rows, b.add(first, num(i)), terms);
      words.push_back(roundPair(b, four[0], four[1]));
      words.push_back(roundPair(b, four[2], four[3]));
    }
    Value all = b.create<vector::FromElementsOp>(
        VectorType::get(4, b.getI32Type()), words);
    b.create<LLVM::StoreOp>(
        all, b.at(b.getI8Type(), to, placeOfEight(b, row, eight)),
        /*alignment=*/16);
  }
}

namespace {
class RoundingCopyOps final : public CopyOps {
public:
  void store(KernelBuilder &b, Value element, Value copy, Value row,
             Value column, int64_t width) const override {
    auto num = [&](int64_t value) { return b.number(value); };
    Value tile = b.add(b.mul(b.div(row, num(copyRows)), num(width / copyTerms)),
                       b.div(column, num(copyTerms)));
    Value eight = b.div(b.rem(column, num(copyTerms)), num(atOnce));
    Value bytes = b.add(b.mul(tile, num(copyBytes)),
                        placeOfEight(b, b.rem(row, num(copyRows)), eight));
    bytes = b.add(bytes, b.mul(b.rem(column, num(atOnce)), num(2)));
    Value rounded = roundPair(b, element, b.constant(b.getF32Type(), 0));
    b.create<LLVM::StoreOp>(b.create<arith::TruncIOp>(b.getI16Type(), rounded),
                            b.at(b.getI8Type(), copy, bytes), /*alignment=*/2);
  }
};
} // namespace

const CopyOps &fovea::codegen::roundingCopyOps() {
  static const RoundingCopyOps ops;
  return ops;
}

static_assert(groupColumns == copyTilesAtOnce * copyRows &&
              clusterBlocks == copyTilesAtOnce);

/// The vertically adjacent tiles, in whole clusters.
static Value tilesDown(KernelBuilder &b, Value rows, int64_t cluster) {
  Value tiles = b.divUp(rows, b.number(copyRows * cluster));
  return b.mul(tiles, b.number(cluster));
}

/// They are in groups of some rows, so that their factors are in the cache of
/// all processors.
std::pair<Value, Value> fovea::codegen::tileOfUnit(KernelBuilder &b,
                                                   const CopiedProduct &p,
                                                   Value unit) {
  Value together = b.number(16), across = b.number(p.tilesAcross());
  Value down = tilesDown(b, p.rows, p.cluster);
  Value first = b.mul(b.div(unit, b.mul(together, across)), together);
  Value own = b.min(together, b.sub(down, first));
  Value rest = b.sub(unit, b.mul(first, across));
  return {b.add(first, b.rem(rest, own)), b.div(rest, own)};
}

void fovea::codegen::storeSums(KernelBuilder &b, const CopiedProduct &p,
                               ValueRange sums, Value row, Value column) {
  Type real = b.getF32Type();
  for (int64_t below = 0; below < 2; ++below) {
    Value at = b.add(row, b.number(8 * below));
    b.branch(b.less(at, p.rows), [&] {
      Value line = b.at(real, p.c, b.mul(at, b.number(p.cRow)));
      Value to = b.at(real, line, column);
      for (int64_t eight = 0; eight < int64_t(sums.size()) / 4; ++eight) {
        ValueRange two = sums.slice(4 * eight + 2 * below, 2);
        int64_t atOnce = p.isInPairs ? 2 : 1;
        for (int64_t i = 0; i < 2; i += atOnce) {
          auto put = [&] {
            Value there = b.at(real, to, 8 * eight + i);
            if (!p.isInPairs)
              return b.store(two[i], there);
            Value pair =
                b.create<vector::FromElementsOp>(VectorType::get(2, real), two);
            b.create<LLVM::StoreOp>(pair, there, /*alignment=*/8);
          };
          if (p.columns % p.columnsOfTile == 0) {
            put();
            continue;
          }
          Value own = b.add(column, b.number(8 * eight + i));
          b.branch(b.less(own, b.number(p.columns)), put);
        }
      }
    });
  }
}

Value CopiedFactor::half(KernelBuilder &b, Value tile, Value piece,
                         Value half) const {
  Value row = tile, column = piece, own = half;
  if (rowsAreTerms) {
    row = b.div(piece, b.number(halves));
    column = b.add(b.mul(tile, b.number(halves)), half);
    own = b.rem(piece, b.number(halves));
  }
  Value number = b.add(b.mul(row, b.number(across)), column);
  return b.at(b.getI8Type(), tiles,
              b.add(b.mul(number, b.number(copyBytes)),
                    b.mul(own, b.number(halfBytes))));
}

int64_t GpuEmitter::FactorCopy::across() const {
  return llvm::divideCeil(from.columns, copyTerms);
}
/// The number of tiles of a copy. Kernels may process two vertically adjacent
/// ones.
Value GpuEmitter::FactorCopy::units(KernelBuilder &b, Value frame) const {
  Value pairs =
      b.divUp(rows.of(b, frame), b.number(copyTilesAtOnce * copyRows));
  return b.mul(pairs, b.number(copyTilesAtOnce * across()));
}

bool fovea::codegen::isInFours(const CopiedSide &side) {
  return side.deep == 1 && side.first % 4 == 0 && side.along % 4 == 0 &&
         side.columns % 4 == 0;
}

/// The source of the copy, in place.
TileSide GpuEmitter::sideOf(KernelBuilder &b, Value frame,
                            const FactorCopy &copy) {
  const CopiedSide &from = copy.from;
  Value array = b.pointerSlot(frame, storage.of(from.array).slot);
  TileSide side{.base = b.at(real, array, from.first),
                .along = b.number(from.along),
                .deep = b.number(from.deep)};
  if (copy.list) {
    side.list = b.pointerSlot(frame, copy.list->slot);
    side.run = b.number(from.columns);
    return side;
  }
  side.isInFours = isInFours(from);
  return side;
}

/// Its units are a tile in f32, and its copy.
void GpuEmitter::noteCopies() {
  if (notes)
    notes->back().bytesOfUnit = 3 * copyBytes;
}

void GpuEmitter::emitCopies(Operation *op) {
  if (auto kernel = dyn_cast<KernelOp>(op))
    return copyFactors(stripsOf(kernel));
  auto compute = cast<ComputeOp>(op);
  if (run.getWork() == launch::Work::gather)
    launchGathered(compute);
  else
    launchCopies(compute);
}

/// The copies of both factors.
std::array<GpuEmitter::FactorCopy, 2>
GpuEmitter::factorsOf(ComputeOp op, const RowsProduct &product,
                      const ProductSize &size) {
  // Rows by a length are those of the result, or the terms.
  auto copyOf = [&](const Storage *copy, CopiedSide side) {
    Size rows{.number = side.rows,
              .slot = product.isByRows() ? size.rowsSlot : size.termsSlot};
    return FactorCopy{copy, side, rows, side.isListed ? size.rowList : nullptr};
  };
  return {copyOf(storage.packedLeftOf(op), copiedLeft(op, product)),
          copyOf(storage.packedOf(op), copiedRight(product))};
}

/// A kernel that copies missing factors: the tiles of one side after the
/// other.
void GpuEmitter::launchCopies(ComputeOp op) {
  SmallVector<FactorCopy> copies;
  Value units = main.number(0);
  for (const FactorCopy &copy : factorsOf(op, *rowsProductOf(op), sizeOf(op)))
    if (isWritten(*copy.copy)) {
      copies.push_back(copy);
      units = main.add(units, copy.units(main, frame));
    }
  KernelBuilder kernel(op->getLoc(), module.getContext());
  std::string label = op.getLabel().value_or("").str();
  func::FuncOp function = beginKernel(kernel, op, label + ".factors",
                                      {kernel.pointer(), kernel.i64()});
  noteCopies();
  Value own = function.getArgument(0);
  auto emit = [&](const FactorCopy &copy, Value unit) {
    emitCopy(kernel, sideOf(kernel, own, copy), copy.rows.of(kernel, own),
             kernel.number(copy.from.columns), kernel.number(copy.across()),
             unit, kernel.pointerSlot(own, copy.copy->slot));
  };
  kernel.loop(blockNumber(kernel), function.getArgument(1), numBlocks(kernel),
              [&](Value unit) {
                if (copies.size() == 1)
                  return emit(copies[0], unit);
                Value first = copies[0].units(kernel, own);
                kernel.branch(
                    kernel.less(unit, first), [&] { emit(copies[0], unit); },
                    [&] { emit(copies[1], kernel.sub(unit, first)); });
              });
  kernel.create<func::ReturnOp>();
  callKernel(function, units, copyThreads, 1);
}

/// A piece of terms is 64 rows of a copy whose rows are terms: those after the
/// last one are zeros.
void GpuEmitter::clearRest(KernelBuilder &b, Value frame, Operation *launched) {
  SmallVector<ComputeOp> ops;
  if (auto kernel = dyn_cast<KernelOp>(launched->getParentOp()))
    ops = kernel.getMembers();
  else if (auto op = dyn_cast<ComputeOp>(launched))
    ops = {op};
  for (ComputeOp op : ops) {
    const Storage *copy = storage.storedCopyOf(op);
    if (!copy)
      continue;
    const Storage &rows = storage.of(op.getResult());
    Value batch = b.slot(frame, runtime::Program::batchSlot);
    Value last = b.entry(frame, storage.slotOfLayout(rows.layout), batch);
    Value copyTiles = b.pointerSlot(frame, copy->slot);
    int64_t width = numbersIn(rows.type);
    Value end = b.mul(b.divUp(last, b.number(copyTerms)), b.number(copyTerms));
    b.loop(b.add(last, blockNumber(b)), end, numBlocks(b), [&](Value row) {
      b.loop(threadInBlock(b), b.number(width), b.number(blockThreads),
             [&](Value column) {
               roundingCopyOps().store(b, b.constant(real, 0), copyTiles, row,
                                       column, width);
             });
    });
  }
}

Value GpuEmitter::Size::of(KernelBuilder &builder, Value frame) const {
  return number ? builder.number(*number) : builder.slot(frame, slot);
}

void GpuEmitter::emitCopiedProduct(ComputeOp op, const RowsProduct &product,
                                   const ProductSize &size) {
  bool isRows = product.isByRows();
  auto [left, right] = factorsOf(op, product, size);
  CopiedProduct p;
  p.columns = product.columns();
  p.cRow = product.width;
  p.isInPairs = product.first % 2 == 0 && p.cRow % 2 == 0 && p.columns % 2 == 0;
  Tiles tiles = tilesOf(op);
  bool byGroups = isByGroups(tiles);
  p.columnsOfTile = tiles == Tiles::wide ? groupColumns : copyRows;
  p.cluster = clusterOf(op);
  Stages stages = byGroups ? stagesOfGroups(p.columnsOfTile) : stagesOfWarps();
  KernelBuilder kernel(op->getLoc(), module.getContext());
  std::string label = op.getLabel().value_or("").str();
  func::FuncOp function = beginKernel(kernel, op, label + ".gemm.copies.bf16",
                                      {kernel.pointer(), kernel.i64()});
  if (notes) {
    KernelNote &note = notes->back();
    note.tileRows = copyRows;
    note.tileColumns = p.columnsOfTile;
    note.isRounded = note.readsCopies = true;
    note.isByGroups = byGroups;
    note.clusterBlocks = p.cluster;
  }
  Value own = function.getArgument(0);
  auto factorOf = [&](const FactorCopy &copy) {
    return CopiedFactor{kernel.pointerSlot(own, copy.copy->slot), copy.across(),
                        copy.from.rowsAreTerms};
  };
  p.a = factorOf(left);
  p.b = factorOf(right);
  Value result = kernel.pointerSlot(own, storage.of(op.getResult()).slot);
  p.c = kernel.at(real, result, product.first);
  auto sizeOf = [&](bool isNumber, int slot) {
    return isNumber ? kernel.number(product.count) : kernel.slot(own, slot);
  };
  p.rows = sizeOf(!isRows, size.rowsSlot);
  p.termTiles =
      kernel.divUp(sizeOf(isRows, size.termsSlot), kernel.number(copyTerms));
  (byGroups ? emitGroupTiles : emitCopiedTiles)(kernel, module, p,
                                                function.getArgument(1));
  kernel.create<func::ReturnOp>();
  if (byGroups)
    function->setAttr(clusterName, main.getI64IntegerAttr(p.cluster));
  Value units = main.mul(tilesDown(main, size.rows, p.cluster),
                         main.number(p.tilesAcross()));
  callKernel(function, units,
             byGroups ? groupThreadsOfTile : threadsOfCopiedTile, 1,
             main.number(stages.all()));
}
