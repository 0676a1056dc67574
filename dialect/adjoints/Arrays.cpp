//===- Arrays.cpp - the adjoints of concat and reshape --------------------===//

#include "dialect/adjoints/Names.h"

using namespace mlir;
using namespace fovea::attn;

/// The label of an array's adjoint; null if the array has no name.
static StringAttr labelOf(Value array) {
  std::string label = labelFor("d ", array);
  return label.empty() ? StringAttr()
                       : StringAttr::get(array.getContext(), label);
}

/// A part of a concat gets its columns.
LogicalResult
ConcatOp::buildAdjoint(OpBuilder &builder, Value adjoint,
                       llvm::function_ref<bool(Value)> active,
                       llvm::function_ref<void(Value, Value)> add) {
  int64_t offset = 0;
  for (Value part : getParts()) {
    auto type = cast<ArrayType>(part.getType());
    ArrayRef<Attribute> extents = type.getShape().getValue();
    int64_t begin = offset;
    offset += cast<IntegerAttr>(extents.back()).getInt();
    if (!active(part))
      continue;
    auto columns =
        ComputeOp::create(builder, getLoc(), labelFor("d ", part),
                          axisNames(part), extents, ArrayRef<int64_t>(),
                          extents.size(), Reducer::none, type.getElementType());
    OpBuilder body = OpBuilder::atBlockBegin(&columns.getBody().front());
    SmallVector<Value> at(columns.getBody().getArguments());
    if (begin != 0)
      at.back() = arith::AddIOp::create(
          body, getLoc(), at.back(),
          arith::ConstantIndexOp::create(body, getLoc(), begin));
    Value value = ReadOp::create(body, getLoc(), adjoint, at);
    YieldOp::create(body, getLoc(), value);
    add(part, columns.getResult());
  }
  return success();
}

/// The same elements, grouped as before.
LogicalResult
ReshapeOp::buildAdjoint(OpBuilder &builder, Value adjoint,
                        llvm::function_ref<bool(Value)> active,
                        llvm::function_ref<void(Value, Value)> add) {
  if (active(getOperand()))
    add(getOperand(),
        ReshapeOp::create(builder, getLoc(), getOperand().getType(),
                          labelOf(getOperand()), adjoint, getKeepAttr()));
  return success();
}
