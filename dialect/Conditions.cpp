//===- Conditions.cpp - builds conditions inside bodies -------------------===//

#include "dialect/Conditions.h"
#include "dialect/adjoints/IndexEquations.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fovea::attn;

Value fovea::attn::inlineRegion(OpBuilder &builder, Region &region,
                                ValueRange at) {
  IRMapping values;
  values.map(region.getArguments(), at);
  for (Operation &scalar : region.front().without_terminator())
    builder.clone(scalar, values);
  return values.lookupOrDefault(region.front().getTerminator()->getOperand(0));
}

bool fovea::attn::readsArrays(Region &region) {
  return region.walk([](ReadOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

void Conjunction::require(Value condition) {
  current = current ? arith::AndIOp::create(builder, loc, current, condition)
                    : condition;
}

void Conjunction::guardRest() {
  if (!current)
    return;
  auto choice = scf::IfOp::create(builder, loc, TypeRange{builder.getI1Type()},
                                  current, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  open.push_back(choice);
  builder.setInsertionPointToStart(choice.thenBlock());
  current = Value();
}

Value Conjunction::finish() {
  auto truth = [&](bool value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getBoolAttr(value));
  };
  Value result = current ? current : truth(true);
  for (scf::IfOp choice : llvm::reverse(open)) {
    scf::YieldOp::create(builder, loc, result);
    builder.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(builder, loc, truth(false));
    builder.setInsertionPointAfter(choice);
    result = choice.getResult(0);
  }
  open.clear();
  return current = result;
}

Value fovea::attn::atPlaces(OpBuilder &builder, ReadOp read, unsigned number,
                            llvm::function_ref<Value(Value)> scalar) {
  Location loc = read.getLoc();
  Conjunction all(builder, loc);
  for (Attribute pair : cast<ArrayAttr>((*read.getPlaces())[number])) {
    auto both = cast<ArrayAttr>(pair);
    Value index =
        scalar(read.getIndices()[cast<IntegerAttr>(both[0]).getInt()]);
    Value place;
    if (auto name = dyn_cast<StringAttr>(both[1]))
      place = ExtentOp::create(builder, loc, name, Value());
    else
      place = arith::ConstantIndexOp::create(
          builder, loc, cast<IntegerAttr>(both[1]).getInt());
    all.require(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      index, place));
  }
  return all.finish();
}

void fovea::attn::requireInside(OpBuilder &builder, ReadOp read,
                                llvm::function_ref<Value(Value)> scalar,
                                Conjunction &inside) {
  Location loc = read.getLoc();
  auto compute = read->getParentOfType<ComputeOp>();
  ArrayRef<Attribute> extents = read.getArrayType().getShape().getValue();
  Lengths lengths(compute);
  for (auto [axis, extent] : llvm::enumerate(extents)) {
    Value index = scalar(read.getIndices()[axis]);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    inside.require(arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sge, index, zero));
    Value parent;
    if (std::optional<unsigned> above = lengths.parentIndex(extents, axis)) {
      // A nested length exists only where its parent's index does.
      inside.guardRest();
      parent = scalar(read.getIndices()[*above]);
    }
    Value size = extentValue(builder, loc, extent, parent);
    inside.require(arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, index, size));
  }
}
