//===- LowerGradients.cpp - gradients inside a model ----------------------===//
//
// A gradient is lowered once all arrays are defined: the adjoints of the
// equations between its number and its element are ordinary equations, by the
// rules that training uses. Gradients that it goes through come first.
//
//===----------------------------------------------------------------------===//

#include "dialect/adjoints/System.h"
#include "dialect/conditions/Conditions.h"
#include "frontends/fov/lower/Lower.h"

using namespace fovea;
using namespace fovea::fov;
using namespace mlir;

/// The derivative of the sum of `root` by `element`, for now as a placeholder
/// that reads both.
Value Lowering::gradientOf(Value root, Value element) {
  auto gradient = UnrealizedConversionCastOp::create(
      builder, root.getLoc(), TypeRange(element.getType()),
      ValueRange{root, element});
  gradients.insert(gradient);
  return gradient.getResult(0);
}

/// Readers of a plain copy read what it copies: with the adjoints built, the
/// equations over it are those over the original, and are shared.
static void inlineCopy(Value element) {
  auto copy = element.getDefiningOp<attn::ComputeOp>();
  bool isPlain =
      copy && copy.getReducer() == attn::Reducer::none &&
      !copy.hasCondition() &&
      isa_and_present<attn::ReadOp>(copy.getYielded().getDefiningOp());
  if (!isPlain)
    return;
  for (Operation *user : llvm::to_vector(element.getUsers())) {
    auto read = dyn_cast<attn::ReadOp>(user);
    if (!read || read.getArray() != element ||
        !read.getAlternatives().empty() || read.getOtherwise())
      continue;
    OpBuilder at(read);
    read.replaceAllUsesWith(
        attn::inlineRegion(at, copy.getBody(), read.getIndices()));
    read.erase();
  }
  if (copy->use_empty())
    copy.erase();
}

void Lowering::buildGradient(Operation *gradient) {
  Block *block = &system.getBody().front();
  Value root = gradient->getOperand(0), element = gradient->getOperand(1);
  // What reads the gradient is not between the two.
  gradient->setOperands({});
  gradients.remove(gradient);
  auto inner = [&] {
    auto between = attn::arraysBetween(block, element, root);
    auto it = llvm::find_if(between, [&](Value array) {
      return gradients.contains(array.getDefiningOp());
    });
    return it == between.end() ? nullptr : it->getDefiningOp();
  };
  while (Operation *other = inner())
    buildGradient(other);
  attn::SystemAdjoint adjoint(block, [](Operation *, Value) {});
  OpBuilder &adjoints = adjoint.getBuilder();
  auto ones = [&](unsigned) -> Value {
    auto type = cast<attn::ArrayType>(root.getType());
    ArrayRef<Attribute> extents = type.getShape().getValue();
    SmallVector<Attribute> names;
    for (unsigned k = 0; k < extents.size(); ++k)
      names.push_back(adjoints.getStringAttr("i" + std::to_string(k)));
    auto compute = attn::ComputeOp::create(
        adjoints, root.getLoc(), "", names, extents, ArrayRef<int64_t>(),
        extents.size(), attn::Reducer::none, type.getElementType());
    OpBuilder body = OpBuilder::atBlockBegin(&compute.getBody().front());
    Value one =
        arith::ConstantOp::create(body, root.getLoc(), body.getF64FloatAttr(1));
    attn::YieldOp::create(body, root.getLoc(), one);
    return compute.getResult();
  };
  if (succeeded(adjoint.build(root, element, ones))) {
    Value result = adjoint.lookup(element);
    if (!result)
      result = adjoint.sum(element, {});
    gradient->getResult(0).replaceAllUsesWith(result);
  }
  gradient->erase();
  inlineCopy(element);
}

void Lowering::buildGradients() {
  while (!gradients.empty())
    buildGradient(gradients.front());
}
