//===- Precision.cpp - what the factors of products are rounded to --------===//

#include "dialect/Precision.h"
#include "dialect/AttnDialect.h"
#include "dialect/RoundedFactors.h"
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

void fovea::attn::keepPrecision(ComputeOp from, ComputeOp to) {
  Type factor = precisionOf(from);
  if (factor && factor.isInteger(8) && to.getOrderAttr())
    setPrecision(to, factor);
  if (roundsFactors(from) && to.getOrderAttr())
    setRoundsFactors(to);
}

/// The terms of a sum; 0 if they are as many as a length says.
static int64_t termsOf(ComputeOp sum) {
  auto extent = dyn_cast<IntegerAttr>(sum.getExtents()[sum.getNumParallel()]);
  return extent ? extent.getInt() : 0;
}

void fovea::attn::removePrecision(Operation *op) {
  op->removeAttr(precisionName);
}

LogicalResult fovea::attn::verifyPrecision(Operation *op,
                                           NamedAttribute named) {
  if (named.getName() != precisionName)
    return success();
  auto type = dyn_cast<TypeAttr>(named.getValue());
  auto compute = dyn_cast<ComputeOp>(op);
  if (type && type.getValue().isInteger(8)) {
    int64_t terms = compute && compute.getReducer() == Reducer::sum &&
                            compute.getNumReduction() == 1
                        ? termsOf(compute)
                        : 0;
    if (terms > 0 && terms <= exactTerms)
      return success();
    return op->emitOpError() << "only a sum of at most " << exactTerms
                             << " terms can have factors in i8";
  }
  if (type && isa<ParamOp>(op)) {
    if (type.getValue().isIntOrFloat() &&
        type.getValue().getIntOrFloatBitWidth() < 32)
      return success();
    return op->emitOpError() << "a parameter's precision must have fewer bits "
                                "than f32, got "
                             << type.getValue();
  }
  if (!type || !type.getValue().isBF16())
    return op->emitOpError() << "unsupported precision " << named.getValue()
                             << "; only bf16 and i8 are supported";
  bool isProduct =
      compute && (op->hasAttr("attn.product") || roundsFactors(op));
  if (!isProduct && !isa<ProgramOp, ModuleOp>(op))
    return op->emitOpError()
           << "only a matrix product or a parameter can have a precision";
  return success();
}
