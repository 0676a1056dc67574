//===- Equations.cpp - equations as passes find and make them -------------===//

#include "passes/Equations.h"

using namespace mlir;
using namespace fovea::attn;

ComputeOp fovea::attn::makeOver(OpBuilder &builder, ComputeOp like,
                                ArrayRef<unsigned> indices,
                                unsigned numParallel, Reducer reducer,
                                bool hasCondition) {
  SmallVector<Attribute> names, extents;
  SmallVector<int64_t> lower;
  for (unsigned index : indices) {
    names.push_back(like.getIndices()[index]);
    extents.push_back(like.getExtents()[index]);
    lower.push_back(like.getLower()[index]);
  }
  return ComputeOp::create(builder, like.getLoc(), like.getLabel().value_or(""),
                           names, extents, lower, numParallel, reducer,
                           like.getElementType(), hasCondition);
}

Value fovea::attn::copiedBy(ComputeOp op) {
  auto read = op.getYielded().getDefiningOp<ReadOp>();
  bool isCopy =
      op.getReducer() == Reducer::none && !op.hasCondition() && read &&
      read.getAlternatives().empty() && !read.getOtherwise() &&
      read.getArrayType() == op.getResult().getType() &&
      llvm::equal(read.getIndices(), op.getBody().getArguments()) &&
      llvm::all_of(op.getLower(), [](int64_t lower) { return lower == 0; });
  return isCopy ? read.getArray() : Value();
}
