//===- Copies.cpp - factors that are copied as bf16 -----------------------===//

#include "passes/memory/Copies.h"
#include "dialect/Precision.h"
#include "passes/batch/Batch.h"
#include "passes/memory/Locations.h"
#include "passes/memory/Rooms.h"
#include "passes/memory/Storage.h"

using namespace mlir;
using namespace fovea::attn;

/// A copy is written once, with half as many bytes as were read, and then read
/// for every tile of the other side: with two of them it is worth it.
static constexpr int64_t leastRows = 256;

static bool hasLengths(ArrayType type) { return !lengthsIn(type).empty(); }

bool fovea::attn::readsCopies(ComputeOp op) {
  if (MachineAttr::of(op).getCopyRows() == 0 || !precisionOf(op) ||
      !isa<ProgramOp>(op->getParentOp()))
    return false;
  std::optional<RowsProduct> product = rowsProductOf(op);
  // A window is copied as often as it is read.
  if (!product || product->gathered || product->columns() < leastRows)
    return false;
  ArrayType result = op.getResult().getType();
  if (product->isByRows())
    return product->count >= copyTerms &&
           (hasLengths(result) ||
            numbersIn(result) / product->width >= leastRows);
  return product->count >= leastRows &&
         hasLengths(product->right.getArrayType());
}

CopiedSide fovea::attn::copiedLeft(ComputeOp op, RowsProduct product) {
  CopiedSide side;
  side.array = product.left.getArray();
  side.first = product.leftFirst;
  side.isListed = needsRowList(op);
  bool isRows = product.isByRows();
  side.along = isRows ? product.leftWidth : 1;
  side.deep = isRows ? 1 : product.leftWidth;
  (isRows ? side.terms : side.rows) = product.count;
  ArrayType ofPlaces =
      isRows ? op.getResult().getType() : product.right.getArrayType();
  side.lengths = lengthsIn(ofPlaces);
  side.perPlace =
      numbersIn(ofPlaces) / (isRows ? product.width : product.rowStride);
  return side;
}

CopiedSide fovea::attn::copiedRight(RowsProduct product) {
  CopiedSide side;
  side.array = product.right.getArray();
  side.first = product.rightFirst;
  side.along = product.columnStride;
  side.deep = product.rowStride;
  side.rows = product.columns();
  if (product.isByRows()) {
    side.terms = product.count;
    return side;
  }
  ArrayType right = product.right.getArrayType();
  side.lengths = lengthsIn(right);
  side.perPlace = numbersIn(right) / product.rowStride;
  return side;
}

bool fovea::attn::canStoreCopy(ComputeOp op) {
  ArrayType type = op.getResult().getType();
  Operation *parent = op->getParentOp();
  if (auto kernel = dyn_cast<KernelOp>(parent))
    parent = kernelAround(op) ? nullptr : kernel->getParentOp();
  return isa_and_present<ProgramOp>(parent) &&
         op.getReducer() == Reducer::none && batchOf(op) == BatchKind::each &&
         !op.hasCondition() &&
         llvm::all_of(op.getLower(),
                      [](int64_t lower) { return lower == 0; }) &&
         type.getElementType().isF64() && hasLengths(type) &&
         numbersIn(type) % copyTerms == 0;
}

CopiedSide fovea::attn::storedRows(ComputeOp op) {
  CopiedSide side;
  side.array = op.getResult();
  ArrayType type = op.getResult().getType();
  side.along = numbersIn(type);
  side.deep = 1;
  side.terms = side.along;
  side.lengths = lengthsIn(type);
  return side;
}

ComputeOp fovea::attn::storesCopyOf(const CopiedSide &side) {
  auto op = dyn_cast_if_present<ComputeOp>(computedBy(side.array));
  if (!op || side.isListed || !canStoreCopy(op))
    return {};
  CopiedSide own = storedRows(op);
  bool isSame = std::tie(side.first, side.along, side.deep, side.rows,
                         side.terms, side.lengths, side.perPlace) ==
                std::tie(own.first, own.along, own.deep, own.rows, own.terms,
                         own.lengths, own.perPlace);
  return isSame ? op : ComputeOp();
}

CopySize fovea::attn::sizeOfCopy(const CopiedSide &side, MachineAttr machine) {
  // Of numbers of bf16 there are two in a real one of f32.
  constexpr int64_t half = 2;
  int64_t most = machine.getCopyRows() * copyTilesAtOnce;
  CopySize size;
  size.isOfEach = !side.rows || !side.terms;
  if (!size.isOfEach) {
    size.count = llvm::alignTo(*side.rows, most) *
                 llvm::alignTo(*side.terms, copyTerms) / half;
    return size;
  }
  // Of each row, or term, so many; and what fills up the last tiles.
  int64_t others = side.rows ? llvm::alignTo(*side.rows, most)
                             : llvm::alignTo(*side.terms, copyTerms);
  size.lengths = side.lengths;
  size.count = side.perPlace * others / half;
  size.extra = (side.rows ? copyTerms : most) * others / half;
  return size;
}
