//===- Scalars.cpp - the derivative of each scalar op ---------------------===//
//
// The table of derivatives. At kinks and edges:
//   - maximumf(a, b) passes its adjoint to a where a >= b, else to b;
//     minimumf to a where a <= b. So maximumf(0, x) has derivative 0 at 0.
//   - absf has derivative 0 at 0; floor, ceil and round everywhere.
//   - powf with respect to its exponent has derivative 0 where the base is 0,
//     with respect to its base 0 where the exponent is 0.
//   - sqrt is as it is: infinite at 0.
//   - a rounded number has derivative 1.
//
//===----------------------------------------------------------------------===//

#include "dialect/adjoints/Scalars.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numbers>

using namespace mlir;
using namespace fovea::attn;

namespace {
/// Short names for the arithmetic of one rule.
struct Arithmetic {
  OpBuilder &builder;
  Location loc;

  Value number(double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF64FloatAttr(value));
  }
  Value times(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value over(Value a, Value b) {
    return arith::DivFOp::create(builder, loc, a, b);
  }
  Value plus(Value a, Value b) {
    return arith::AddFOp::create(builder, loc, a, b);
  }
  Value minus(Value a, Value b) {
    return arith::SubFOp::create(builder, loc, a, b);
  }
  Value negative(Value a) { return arith::NegFOp::create(builder, loc, a); }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
};
} // namespace

bool fovea::attn::differentiateScalar(
    OpBuilder &builder, Operation *op, Value adjoint,
    llvm::function_ref<Value(Value)> primal,
    llvm::function_ref<bool(Value)> active,
    llvm::function_ref<void(Value, Value)> add) {
  Arithmetic math{builder, op->getLoc()};
  // The derivative is evaluated only for requested operands.
  auto give = [&](Value operand, llvm::function_ref<Value()> contribution) {
    if (active(operand))
      add(operand, contribution());
  };
  auto result = [&] { return primal(op->getResult(0)); };
  auto one = [&] { return math.number(1.0); };
  auto zero = [&] { return math.number(0.0); };
  // The adjoint goes to the first operand where `predicate` holds, else to the
  // second.
  auto giveToOne = [&](arith::CmpFPredicate predicate) {
    Value first = op->getOperand(0), second = op->getOperand(1);
    auto isFirst = [&] {
      return math.compare(predicate, primal(first), primal(second));
    };
    give(first, [&] { return math.select(isFirst(), adjoint, zero()); });
    give(second, [&] { return math.select(isFirst(), zero(), adjoint); });
  };

  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](arith::AddFOp sum) {
        give(sum.getLhs(), [&] { return adjoint; });
        give(sum.getRhs(), [&] { return adjoint; });
        return true;
      })
      .Case([&](arith::SubFOp difference) {
        give(difference.getLhs(), [&] { return adjoint; });
        give(difference.getRhs(), [&] { return math.negative(adjoint); });
        return true;
      })
      .Case([&](arith::MulFOp product) {
        Value lhs = product.getLhs(), rhs = product.getRhs();
        give(lhs, [&] { return math.times(adjoint, primal(rhs)); });
        give(rhs, [&] { return math.times(adjoint, primal(lhs)); });
        return true;
      })
      .Case([&](arith::DivFOp quotient) {
        Value divisor = quotient.getRhs();
        give(quotient.getLhs(),
             [&] { return math.over(adjoint, primal(divisor)); });
        // d (a / b) / d b = -(a / b) / b
        give(divisor, [&] {
          return math.negative(
              math.over(math.times(adjoint, result()), primal(divisor)));
        });
        return true;
      })
      .Case([&](arith::NegFOp negation) {
        give(negation.getOperand(), [&] { return math.negative(adjoint); });
        return true;
      })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>([&](auto) {
        giveToOne(arith::CmpFPredicate::OGE);
        return true;
      })
      .Case<arith::MinimumFOp, arith::MinNumFOp>([&](auto) {
        giveToOne(arith::CmpFPredicate::OLE);
        return true;
      })
      .Case([&](arith::SelectOp choice) {
        auto condition = [&] { return primal(choice.getCondition()); };
        give(choice.getTrueValue(),
             [&] { return math.select(condition(), adjoint, zero()); });
        give(choice.getFalseValue(),
             [&] { return math.select(condition(), zero(), adjoint); });
        return true;
      })
      .Case([&](math::ExpOp exp) {
        give(exp.getOperand(), [&] { return math.times(adjoint, result()); });
        return true;
      })
      .Case([&](math::LogOp log) {
        Value x = log.getOperand();
        give(x, [&] { return math.over(adjoint, primal(x)); });
        return true;
      })
      .Case([&](math::Log1pOp log) {
        Value x = log.getOperand();
        give(x,
             [&] { return math.over(adjoint, math.plus(one(), primal(x))); });
        return true;
      })
      .Case([&](math::TanhOp tanh) {
        give(tanh.getOperand(), [&] {
          Value y = result();
          return math.times(adjoint, math.minus(one(), math.times(y, y)));
        });
        return true;
      })
      .Case([&](math::SqrtOp sqrt) {
        give(sqrt.getOperand(), [&] {
          return math.over(math.times(adjoint, math.number(0.5)), result());
        });
        return true;
      })
      .Case([&](math::SinOp sin) {
        Value x = sin.getOperand();
        give(x, [&] {
          Value slope = math::CosOp::create(builder, op->getLoc(), primal(x));
          return math.times(adjoint, slope);
        });
        return true;
      })
      .Case([&](math::CosOp cos) {
        Value x = cos.getOperand();
        give(x, [&] {
          Value slope = math::SinOp::create(builder, op->getLoc(), primal(x));
          return math.negative(math.times(adjoint, slope));
        });
        return true;
      })
      .Case([&](math::AbsFOp abs) {
        Value x = abs.getOperand();
        give(x, [&] {
          Value at = primal(x);
          Value below =
              math.select(math.compare(arith::CmpFPredicate::OLT, at, zero()),
                          math.negative(adjoint), zero());
          return math.select(
              math.compare(arith::CmpFPredicate::OGT, at, zero()), adjoint,
              below);
        });
        return true;
      })
      .Case([&](math::PowFOp power) {
        Value base = power.getLhs(), exponent = power.getRhs();
        give(base, [&] {
          Value b = primal(exponent);
          Value less = math.minus(b, one());
          Value slope =
              math.times(b, math::PowFOp::create(builder, op->getLoc(),
                                                 primal(base), less));
          Value flat = math.compare(arith::CmpFPredicate::OEQ, b, zero());
          return math.times(adjoint, math.select(flat, zero(), slope));
        });
        give(exponent, [&] {
          Value a = primal(base);
          Value slope = math.times(
              result(), math::LogOp::create(builder, op->getLoc(), a));
          Value flat = math.compare(arith::CmpFPredicate::OEQ, a, zero());
          return math.times(adjoint, math.select(flat, zero(), slope));
        });
        return true;
      })
      .Case([&](math::ErfOp erf) {
        Value x = erf.getOperand();
        give(x, [&] {
          Value at = primal(x);
          Value bell = math::ExpOp::create(builder, op->getLoc(),
                                           math.negative(math.times(at, at)));
          Value slope =
              math.times(math.number(2.0 * std::numbers::inv_sqrtpi), bell);
          return math.times(adjoint, slope);
        });
        return true;
      })
      .Case([&](RoundedOp rounded) {
        give(rounded.getOperand(), [&] { return adjoint; });
        return true;
      })
      .Case([&](SigmoidOp sigmoid) {
        give(sigmoid.getOperand(), [&] {
          Value y = result();
          return math.times(adjoint, math.times(y, math.minus(one(), y)));
        });
        return true;
      })
      .Case([&](SoftplusOp softplus) {
        Value x = softplus.getOperand();
        give(x, [&] {
          Value slope = SigmoidOp::create(builder, op->getLoc(), primal(x));
          return math.times(adjoint, slope);
        });
        return true;
      })
      .Default(false);
}
