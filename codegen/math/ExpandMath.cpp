//===- ExpandMath.cpp - functions become polynomials ----------------------===//
//
// Finds the ops and replaces them by formulas from Exponentials.cpp,
// Logarithms.cpp and Circular.cpp. In f32 only functions that models use in
// every layer have their own formulas; the rest is computed in f64.
//
//===----------------------------------------------------------------------===//

#include "codegen/math/ExpandMath.h"
#include "codegen/math/Functions.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace fovea::codegen;

using Arguments = llvm::ArrayRef<Real>;

/// The same formula for both widths.
template <auto Formula> static Real plain(MathBuilder &b, Arguments arguments) {
  if constexpr (std::is_invocable_v<decltype(Formula), MathBuilder &, Real,
                                    Real>)
    return Formula(b, arguments[0], arguments[1]);
  else
    return Formula(b, arguments[0]);
}

/// A formula for f64.
template <auto Formula> static Real wide(MathBuilder &b, Arguments arguments) {
  if (b.isSingle())
    return b.inDouble(arguments, plain<Formula>);
  return plain<Formula>(b, arguments);
}

static Real reciprocalRoot(MathBuilder &b, Arguments arguments) {
  return 1.0 / b.sqrt(arguments[0]);
}

/// The exponent as a whole number, if it is a small constant.
static std::optional<int64_t> smallExponent(Value exponent) {
  FloatAttr constant;
  DenseFPElementsAttr splat;
  APFloat value(0.0);
  if (matchPattern(exponent, m_Constant(&constant)))
    value = constant.getValue();
  else if (matchPattern(exponent, m_Constant(&splat)) && splat.isSplat())
    value = splat.getSplatValue<APFloat>();
  else
    return std::nullopt;
  double number = value.convertToDouble();
  if (number != std::floor(number) || std::abs(number) > 4)
    return std::nullopt;
  return static_cast<int64_t>(number);
}

static Real power(MathBuilder &b, Arguments arguments) {
  std::optional<int64_t> exponent = smallExponent(arguments[1].value);
  if (!exponent)
    return wide<emitPow>(b, arguments);
  Real result = b.real(1.0);
  for (int64_t i = 0; i < std::abs(*exponent); ++i)
    result = i == 0 ? arguments[0] : result * arguments[0];
  return *exponent < 0 ? 1.0 / result : result;
}

using Formula = Real (*)(MathBuilder &, Arguments);

static Formula findFormula(Operation *op) {
  return TypeSwitch<Operation *, Formula>(op)
      .Case<math::ExpOp>([](auto) { return plain<emitExp>; })
      .Case<math::Exp2Op>([](auto) { return plain<emitExp2>; })
      .Case<math::ExpM1Op>([](auto) { return plain<emitExpm1>; })
      .Case<math::LogOp>([](auto) { return plain<emitLog>; })
      .Case<math::Log2Op>([](auto) { return plain<emitLog2>; })
      .Case<math::Log10Op>([](auto) { return plain<emitLog10>; })
      .Case<math::Log1pOp>([](auto) { return plain<emitLog1p>; })
      .Case<math::TanhOp>([](auto) { return plain<emitTanh>; })
      .Case<math::ErfOp>([](auto) { return plain<emitErf>; })
      .Case<math::RsqrtOp>([](auto) { return reciprocalRoot; })
      .Case<math::PowFOp>([](auto) { return power; })
      .Case<math::CbrtOp>([](auto) { return wide<emitCbrt>; })
      .Case<math::SinhOp>([](auto) { return wide<emitSinh>; })
      .Case<math::CoshOp>([](auto) { return wide<emitCosh>; })
      .Case<math::ErfcOp>([](auto) { return wide<emitErfc>; })
      .Case<math::SinOp>([](auto) { return wide<emitSin>; })
      .Case<math::CosOp>([](auto) { return wide<emitCos>; })
      .Case<math::TanOp>([](auto) { return wide<emitTan>; })
      .Case<math::AsinOp>([](auto) { return wide<emitAsin>; })
      .Case<math::AcosOp>([](auto) { return wide<emitAcos>; })
      .Case<math::AtanOp>([](auto) { return wide<emitAtan>; })
      .Case<math::Atan2Op>([](auto) { return wide<emitAtan2>; })
      .Default([](auto) { return nullptr; });
}

/// x^n with a whole n is x^y with the real y = n.
static void replaceWholeExponent(math::FPowIOp op) {
  OpBuilder b(op);
  Value exponent =
      arith::SIToFPOp::create(b, op.getLoc(), op.getType(), op.getRhs());
  Value power = math::PowFOp::create(b, op.getLoc(), op.getLhs(), exponent);
  op.replaceAllUsesWith(power);
  op.erase();
}

static bool isExpanded(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  Type element = vector ? vector.getElementType() : type;
  return element.isF32() || element.isF64();
}

void fovea::codegen::expandMath(Operation *root) {
  root->walk([](math::FPowIOp op) {
    if (isExpanded(op.getType()))
      replaceWholeExponent(op);
  });
  // The formulas contain none of these ops, so they are never expanded again.
  root->walk([](Operation *op) {
    Formula formula = findFormula(op);
    if (!formula || !isExpanded(op->getResult(0).getType()))
      return;
    MathBuilder b(op, op->getResult(0).getType());
    SmallVector<Real> arguments;
    for (Value operand : op->getOperands())
      arguments.push_back(b.real(operand));
    op->getResult(0).replaceAllUsesWith(formula(b, arguments).value);
    op->erase();
  });
}

namespace {

struct ExpandMath : PassWrapper<ExpandMath, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMath)

  StringRef getArgument() const override { return "fovea-expand-math"; }
  StringRef getDescription() const override {
    return "rewrite functions like exp into arithmetic without branches";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect>();
  }
  void runOnOperation() override { expandMath(getOperation()); }
};

} // namespace

void fovea::codegen::registerExpandMathPass() {
  PassRegistration<ExpandMath>();
}
