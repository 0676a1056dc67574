//===- Precision.cpp - what the factors of products are rounded to --------===//

#include "dialect/Precision.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace fovea::attn;

static constexpr StringLiteral precisionName = "attn.precision";

Type fovea::attn::precisionOf(Operation *op) {
  auto type = op->getAttrOfType<TypeAttr>(precisionName);
  return type ? type.getValue() : Type();
}

Type fovea::attn::allowedPrecision(ProgramOp program) {
  Type own = precisionOf(program);
  Operation *module = program->getParentOp();
  return own || !module ? own : precisionOf(module);
}

void fovea::attn::setPrecision(Operation *op, Type type) {
  op->setAttr(precisionName, TypeAttr::get(type));
}

LogicalResult fovea::attn::verifyPrecision(Operation *op,
                                           NamedAttribute named) {
  if (named.getName() != precisionName)
    return success();
  auto type = dyn_cast<TypeAttr>(named.getValue());
  if (!type || !type.getValue().isBF16())
    return op->emitOpError() << "unsupported precision " << named.getValue()
                             << "; only bf16 is supported";
  bool isProduct = isa<ComputeOp>(op) && op->hasAttr("attn.product");
  if (!isProduct && !isa<ProgramOp, ModuleOp>(op))
    return op->emitOpError() << "only a matrix product can have a precision";
  return success();
}
