//===- Scans.cpp - recurrences with more rows or carries ------------------===//

#include "passes/analysis/Scans.h"

using namespace mlir;
using namespace fovea::attn;

bool fovea::attn::isInside(Value value, ScanOp scan) {
  return scan->isAncestor(value.getParentBlock()->getParentOp());
}

std::optional<unsigned> fovea::attn::stackedOf(ScanOp scan, Value row) {
  for (unsigned i = 0; i < scan.getNumStacked(); ++i)
    if (scan.getStackedValue(i) == row)
      return i;
  return std::nullopt;
}

Value fovea::attn::readRow(ReadOp read, Value row, unsigned axis) {
  OpBuilder builder(read);
  SmallVector<Value> at(read.getIndices());
  at.erase(at.begin() + axis);
  Value element = ReadOp::create(builder, read.getLoc(), row, at);
  read.replaceAllUsesWith(element);
  return element;
}

/// `scan` with other inits and results, and its body.
static ScanOp rebuild(ScanOp scan, TypeRange types, ValueRange inits,
                      ArrayRef<int64_t> axes) {
  OpBuilder builder(scan);
  auto other = ScanOp::create(builder, scan.getLoc(), types, scan.getExtent(),
                              scan.getReverse(), inits, axes);
  other->setDiscardableAttrs(scan->getDiscardableAttrDictionary());
  other.getBody().takeBody(scan.getBody());
  return other;
}

ScanOp fovea::attn::withRows(ScanOp scan, ValueRange rows,
                             ArrayRef<int64_t> axes) {
  SmallVector<Type> types(scan->getResultTypes());
  SmallVector<int64_t> allAxes(scan.getAxes());
  SmallVector<Value> yielded(scan.getYield()->getOperands());
  for (auto [row, axis] : llvm::zip_equal(rows, axes)) {
    auto type = cast<ArrayType>(row.getType());
    SmallVector<Attribute> extents(type.getShape().getValue());
    extents.insert(extents.begin() + axis, scan.getExtent());
    types.push_back(ArrayType::get(extents, type.getElementType()));
    allAxes.push_back(axis);
    yielded.push_back(row);
  }
  scan.getYield()->setOperands(yielded);
  ScanOp wider = rebuild(scan, types, scan.getInits(), allAxes);
  scan->replaceAllUsesWith(
      wider->getResults().take_front(scan.getNumResults()));
  scan.erase();
  return wider;
}

ScanOp fovea::attn::withCarries(ScanOp scan, ValueRange inits) {
  unsigned numCarries = scan.getNumCarries(), numNew = inits.size();
  SmallVector<Type> types(scan->getResultTypes());
  SmallVector<Value> allInits(scan.getInits());
  SmallVector<Value> yielded(scan.getYield()->getOperands());
  Block &body = scan.getBody().front();
  for (auto [i, init] : llvm::enumerate(inits)) {
    types.insert(types.begin() + numCarries + i, init.getType());
    allInits.push_back(init);
    yielded.insert(yielded.begin() + numCarries + i,
                   body.addArgument(init.getType(), init.getLoc()));
  }
  scan.getYield()->setOperands(yielded);
  ScanOp other = rebuild(scan, types, allInits, scan.getAxes());
  for (OpResult result : scan->getResults()) {
    unsigned number = result.getResultNumber();
    result.replaceAllUsesWith(
        other->getResult(number < numCarries ? number : number + numNew));
  }
  scan.erase();
  return other;
}

bool fovea::attn::isWide(Value stacked) {
  auto type = cast<ArrayType>(stacked.getType());
  return type.getElementType().isF64() && type.getRank() > 2 &&
         llvm::count_if(type.getShape(), llvm::IsaPred<StringAttr>) > 1;
}
