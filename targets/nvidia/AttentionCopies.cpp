//===- AttentionCopies.cpp - what attention reads as copies ---------------===//

#include "targets/nvidia/AttentionCopies.h"
#include "passes/kernels/Members.h"

using namespace mlir;
using namespace fovea::attn;

static std::optional<CopiedRows> rowsAt(ComputeOp op, ReadOp read,
                                        ArrayRef<AccessIndex> axes,
                                        unsigned row, unsigned element) {
  std::optional<SmallVector<int64_t>> roles =
      rolesOf(axes, sharedBy(op), row, element);
  if (!roles || !isa<StringAttr>(op.getExtents()[row]))
    return std::nullopt;
  CopiedRows rows;
  rows.array = read.getArray();
  rows.count = cast<StringAttr>(op.getExtents()[row]);
  rows.size = cast<IntegerAttr>(op.getExtents()[element]).getInt();
  rows.roles = *roles;
  for (int64_t index : sharedBy(op).drop_back())
    rows.outer.push_back(op.getExtents()[index]);
  return rows;
}

std::optional<CopiedRows> fovea::attn::rowsOf(ComputeOp op) {
  ExampleProduct product = *exampleProductOf(op);
  return rowsAt(op, product.left, product.leftAxes, product.m, product.k);
}

std::optional<CopiedRows> fovea::attn::keysOf(const Attention &attention,
                                              ComputeOp op) {
  ExampleProduct product = *exampleProductOf(op);
  return attention.isRead(op) ? rowsAt(op, product.right, product.rightAxes,
                                       product.k, product.n)
                              : rowsAt(op, product.right, product.rightAxes,
                                       product.n, product.k);
}

CopiedSide fovea::attn::sideOf(const CopiedRows &rows) {
  CopiedSide side;
  side.array = rows.array;
  side.columns = rows.size;
  side.perPlace = rowsOfAttention;
  for (Attribute extent : rows.outer)
    side.perPlace *= cast<IntegerAttr>(extent).getInt();
  side.lengths = {tilesAlong(rows.count, rowsOfAttention)};
  Builder builder(rows.count.getContext());
  side.view = builder.getArrayAttr({builder.getDenseI64ArrayAttr(rows.roles),
                                    builder.getArrayAttr(rows.outer)});
  return side;
}
