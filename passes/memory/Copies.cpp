//===- Copies.cpp - factors that are copied as bf16 -----------------------===//

#include "passes/memory/Copies.h"
#include "dialect/Precision.h"
#include "passes/analysis/Batch.h"
#include "passes/memory/Locations.h"
#include "passes/memory/Rooms.h"
#include "passes/memory/Storage.h"

using namespace mlir;
using namespace fovea::attn;

/// A copy is written once, at half the size of its source, and then read for
/// every tile of the other side: it pays off with two of them.
static constexpr int64_t leastRows = 256;

static bool hasLengths(ArrayType type) { return !lengthsIn(type).empty(); }

bool fovea::attn::readsCopies(ComputeOp op) {
  if (TargetAttr::of(op).getCopyRows() == 0 || !precisionOf(op) ||
      !isa<ProgramOp>(op->getParentOp()))
    return false;
  std::optional<RowsProduct> product = rowsProductOf(op);
  // Windows would be copied for every read.
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
  side.along = product.leftWidth;
  side.deep = 1;
  side.columns = product.count;
  side.rowsAreTerms = !product.isByRows();
  side.isListed = needsRowList(op);
  ArrayType ofPlaces = product.isByRows() ? op.getResult().getType()
                                          : product.right.getArrayType();
  side.lengths = lengthsIn(ofPlaces);
  side.perPlace = numbersIn(ofPlaces) /
                  (product.isByRows() ? product.width : product.rowStride);
  return side;
}

CopiedSide fovea::attn::copiedRight(RowsProduct product) {
  CopiedSide side;
  side.array = product.right.getArray();
  side.first = product.rightFirst;
  if (!product.isByRows()) {
    side.along = product.rowStride;
    side.deep = product.columnStride;
    side.columns = product.columns();
    side.rowsAreTerms = true;
    ArrayType right = product.right.getArrayType();
    side.lengths = lengthsIn(right);
    side.perPlace = numbersIn(right) / product.rowStride;
    return side;
  }
  side.along = product.columnStride;
  side.deep = product.rowStride;
  side.rows = product.columns();
  side.columns = product.count;
  // Columns are adjacent.
  if (side.deep != 1 && side.along == 1) {
    std::swap(side.along, side.deep);
    std::swap(*side.rows, side.columns);
    side.rowsAreTerms = true;
  }
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
         type.getElementType().isF64() && type.getRank() > 1 &&
         isa<StringAttr>(type.getExtent(0)) && lengthsIn(type).size() == 1 &&
         numbersIn(type) % copyTerms == 0;
}

CopiedSide fovea::attn::storedRows(ComputeOp op) {
  CopiedSide side;
  side.array = op.getResult();
  ArrayType type = op.getResult().getType();
  side.along = numbersIn(type);
  side.deep = 1;
  side.columns = side.along;
  side.lengths = lengthsIn(type);
  return side;
}

ComputeOp fovea::attn::storesCopyOf(const CopiedSide &side) {
  auto op = dyn_cast_if_present<ComputeOp>(computedBy(side.array));
  if (!op || side.isListed || !canStoreCopy(op))
    return {};
  CopiedSide own = storedRows(op);
  bool isSame = std::tie(side.first, side.along, side.deep, side.rows,
                         side.columns, side.lengths, side.perPlace) ==
                std::tie(own.first, own.along, own.deep, own.rows, own.columns,
                         own.lengths, own.perPlace);
  return isSame ? op : ComputeOp();
}

StripDecisions fovea::attn::decideStrips(KernelOp kernel) {
  StripDecisions decisions;
  TargetAttr::of(kernel).decideStrips(kernel, decisions);
  return decisions;
}

StringAttr fovea::attn::tilesAlong(StringAttr length, int64_t rows) {
  return StringAttr::get(length.getContext(),
                         length.getValue() + " / " + Twine(rows));
}

std::optional<CopiedSide> fovea::attn::copiedWeight(ComputeOp op) {
  if (!readsCopies(op))
    return std::nullopt;
  RowsProduct product = *rowsProductOf(op);
  if (!product.isByRows() ||
      !isa_and_present<ParamOp>(computedBy(product.right.getArray())))
    return std::nullopt;
  return copiedRight(product);
}

SmallVector<GatheredCopy> fovea::attn::gatheredAhead(ComputeOp op) {
  SmallVector<GatheredCopy> copies;
  auto gathered = op->getAttrOfType<ArrayAttr>(gatheredName);
  if (!gathered)
    return copies;
  llvm::DenseSet<Attribute> wanted(gathered.begin(), gathered.end());
  for (auto reader : op->getParentOfType<ProgramOp>().getOps<ComputeOp>()) {
    ArrayLocationAttr location = packedLocationOf(reader);
    if (!location || !wanted.contains(location))
      continue;
    if (std::optional<CopiedSide> side = copiedWeight(reader)) {
      wanted.erase(location);
      copies.push_back({reader, *side});
    }
  }
  return copies;
}

CopySize fovea::attn::sizeOfCopy(const CopiedSide &side, TargetAttr target) {
  // One f32 holds two bf16 numbers.
  constexpr int64_t half = 2;
  int64_t most = target.getCopyRows() * copyTilesAtOnce;
  int64_t ofRow = llvm::alignTo(side.columns, copyTerms) / half;
  // If rows are terms and a kernel has two tiles beside each other, of
  // `copy_rows` columns each, it reads past the end of the rows.
  int64_t extra =
      (most / copyTerms - 1) * target.getCopyRows() * copyTerms / half;
  CopySize size;
  size.isOfEach = !side.rows;
  if (side.rows) {
    size.count = llvm::alignTo(*side.rows, most) * ofRow + extra;
    return size;
  }
  // Of each row so many; and what fills up the last tiles.
  size.lengths = side.lengths;
  size.count = side.perPlace * ofRow;
  size.extra = most * ofRow + extra;
  return size;
}
