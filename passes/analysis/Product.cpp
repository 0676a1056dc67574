//===- Product.cpp - the matrix product that an equation is ---------------===//

#include "passes/analysis/Product.h"

using namespace mlir;
using namespace fovea::attn;

static constexpr StringLiteral productName = "attn.product";

ProductAttr fovea::attn::productOf(ComputeOp op) {
  return op->getAttrOfType<ProductAttr>(productName);
}

void fovea::attn::setProduct(ComputeOp op, ProductAttr product) {
  if (product)
    op->setAttr(productName, product);
  else
    op->removeAttr(productName);
}

bool fovea::attn::isConditionOfRows(ComputeOp op) {
  Block &block = op.getCondition().front();
  return dependence(block.getTerminator()->getOperand(0)) == 0;
}

static ReadOp factorOf(ComputeOp op, unsigned side) {
  return cast<ReadOp>(
      op.getYielded().getDefiningOp()->getOperand(side).getDefiningOp());
}

bool fovea::attn::isMatrixProduct(ComputeOp op) {
  auto product = op.getYielded().getDefiningOp<arith::MulFOp>();
  if (op.getReducer() != Reducer::sum || !product || op.getNumIndices() >= 64)
    return false;
  uint64_t needs[2] = {0, 0}, parallel = (1ull << op.getNumParallel()) - 1;
  for (auto [factor, bits] : llvm::zip(product->getOperands(), needs)) {
    auto read = factor.getDefiningOp<ReadOp>();
    if (!read)
      return false;
    for (Value index : read.getIndices())
      bits |= dependence(index) & parallel;
  }
  return (needs[0] & ~needs[1]) && (needs[1] & ~needs[0]);
}

std::optional<RowsProduct> fovea::attn::rowsProductOf(ComputeOp op) {
  ProductAttr product = productOf(op);
  if (!product || product.getKind() == ProductKind::each)
    return std::nullopt;
  RowsProduct result;
  result.kind = product.getKind();
  result.left = factorOf(op, product.getLeft());
  result.right = factorOf(op, 1 - product.getLeft());
  ArrayType left = result.left.getArrayType(),
            right = result.right.getArrayType();
  unsigned column = product.getColumns().front();
  auto sizeOf = [&](ArrayRef<unsigned> indices) {
    int64_t size = 1;
    for (unsigned index : indices)
      size *= *numberOf(op.getExtents()[index]);
    return size;
  };
  result.width = sizeOf(product.getColumns());
  result.first = product.getRange().from.value_or(0);
  result.last = product.getRange().to.value_or(result.width);
  result.leftWidth = *numberOf(left.getExtent(left.getRank() - 1));
  result.leftFirst = classify(result.left.getIndices().back(), op).offset;
  if (std::optional<unsigned> run = product.getRun()) {
    result.gathered = result.left;
    result.runIndex = *run;
    llvm::append_range(result.runPlaces, result.isByRows()
                                             ? product.getTerms().drop_back()
                                             : product.getRows().drop_back());
    result.runs = sizeOf(result.runPlaces);
    result.runLength = *numberOf(op.getExtents()[*run]);
  }
  int64_t rightWidth = *numberOf(right.getExtent(right.getRank() - 1));
  if (!result.isByRows()) {
    result.count = sizeOf(product.getRows());
    result.rowStride = rightWidth;
    result.columnStride = 1;
    result.rightFirst =
        classify(result.right.getIndices().back(), op).offset + result.first;
    return result;
  }
  result.count = sizeOf(product.getTerms());
  if (result.gathered) {
    // The weights have their terms in order, and the column ahead or after.
    bool isTransposed =
        classify(result.right.getIndices().front(), op).iterator == column;
    result.rowStride = isTransposed ? 1 : result.width;
    result.columnStride = isTransposed ? result.count : 1;
    return result;
  }
  result.hasRowCondition = op.hasCondition() && isConditionOfRows(op);
  if (product.getKind() == ProductKind::place)
    for (Value value :
         result.left.getIndices().drop_back(product.getRows().size() + 1))
      result.places.push_back(classify(value, op));
  auto at = result.right.getIndices();
  AccessIndex first = classify(at[at.size() - 2], op),
              second = classify(at.back(), op);
  bool isTransposed = first.iterator == column;
  result.rowStride = isTransposed ? 1 : rightWidth;
  result.columnStride = isTransposed ? rightWidth : 1;
  result.rightFirst = first.offset * rightWidth + second.offset +
                      result.first * result.columnStride;
  // One matrix of several.
  int64_t size = rightWidth;
  for (int64_t axis = right.getRank() - 3; axis >= 0; --axis) {
    size *= *numberOf(right.getExtent(axis + 1));
    result.rightFirst += classify(at[axis], op).offset * size;
  }
  return result;
}

bool fovea::attn::isProductOverPlaces(ComputeOp op) {
  ProductAttr product = productOf(op);
  return product && product.getKind() != ProductKind::each &&
         llvm::any_of(op.getResult().getType().getShape(),
                      llvm::IsaPred<StringAttr>);
}

std::optional<ExampleProduct> fovea::attn::exampleProductOf(ComputeOp op) {
  ProductAttr product = productOf(op);
  if (!product || product.getKind() != ProductKind::each)
    return std::nullopt;
  ExampleProduct result;
  result.left = factorOf(op, product.getLeft());
  result.right = factorOf(op, 1 - product.getLeft());
  for (auto [read, axes] : {std::pair(result.left, &result.leftAxes),
                            std::pair(result.right, &result.rightAxes)})
    for (Value value : read.getIndices())
      axes->push_back(classify(value, op));
  for (unsigned index = 0; index < op.getNumParallel(); ++index)
    result.resultAxes.push_back(classify(op.getIndex(index), op));
  result.m = product.getRows().front();
  result.n = product.getColumns().front();
  result.k = product.getTerms().front();
  llvm::append_range(result.outer, product.getBatch());
  result.terms = product.getTermBand();
  result.columns = product.getColumnBand();
  return result;
}

bool fovea::attn::conditionReads(ComputeOp op) {
  return op.hasCondition() &&
         op.getCondition()
             .walk([](ReadOp) { return WalkResult::interrupt(); })
             .wasInterrupted();
}

bool fovea::attn::choosesRows(ComputeOp op, const RowsProduct &product) {
  return product.gathered && product.runs == 1 && conditionReads(op);
}
