//===- LowerMaps.cpp - scalar functions to arith and math -----------------===//

#include "frontends/fov/lower/Lower.h"

using namespace fovea;
using namespace fovea::fov;
using namespace mlir;

static Value compare(OpBuilder &b, Location loc, Fn fn, Value x, Value y,
                     bool real) {
  auto pick = [&](arith::CmpFPredicate f, arith::CmpIPredicate i) -> Value {
    if (real)
      return arith::CmpFOp::create(b, loc, f, x, y);
    return arith::CmpIOp::create(b, loc, i, x, y);
  };
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  switch (fn) {
  case Fn::Less:
    return pick(F::OLT, I::slt);
  case Fn::LessEqual:
    return pick(F::OLE, I::sle);
  case Fn::Greater:
    return pick(F::OGT, I::sgt);
  case Fn::GreaterEqual:
    return pick(F::OGE, I::sge);
  case Fn::Equal:
    return pick(F::OEQ, I::eq);
  default:
    return pick(F::UNE, I::ne);
  }
}

Value Lowering::mapScalar(Body &body, Term *term, Position position,
                          bool inPlace) {
  OpBuilder &b = body.builder;
  Location loc = location(term->loc);
  // One operand; a number is the same at every position.
  auto operand = [&](unsigned k, Kind kind) {
    Term *arg = term->args[k];
    Position at = arg->shape->empty() ? Position() : position;
    bool elementwise = arg->kind == TermKind::Map || arg->kind == TermKind::If;
    if (inPlace && elementwise)
      return convert(body, inlineScalar(body, arg, at), kind);
    return scalar(body, arg, at, kind);
  };
  Kind kind = *term->kindOf;
  bool isIndex = false;

  switch (term->fn) {
  case Fn::And:
  case Fn::Or: {
    if (guardsRight(term))
      return guardedScalar(body, term, position);
    Value x = operand(0, Kind::Bit), y = operand(1, Kind::Bit);
    return term->fn == Fn::And ? Value(arith::AndIOp::create(b, loc, x, y))
                               : Value(arith::OrIOp::create(b, loc, x, y));
  }
  case Fn::Not:
    return arith::XOrIOp::create(
        b, loc, operand(0, Kind::Bit),
        arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
  case Fn::Less:
  case Fn::LessEqual:
  case Fn::Greater:
  case Fn::GreaterEqual:
  case Fn::Equal:
  case Fn::NotEqual: {
    // Comparisons of indices stay on indices, for the analyses.
    auto onIndices = [&](Term *arg) {
      return isIndexOnly(arg) && *arg->kindOf != Kind::Real &&
             *arg->kindOf != Kind::Bit;
    };
    isIndex = onIndices(term->args[0]) && onIndices(term->args[1]);
    if (isIndex)
      return compare(b, loc, term->fn, indexValue(body, term->args[0]),
                     indexValue(body, term->args[1]), false);
    Kind common = std::max(
        *term->args[0]->kindOf == Kind::Token ? Kind::Int
                                              : *term->args[0]->kindOf,
        *term->args[1]->kindOf == Kind::Token ? Kind::Int
                                              : *term->args[1]->kindOf);
    if (common == Kind::Bit)
      common = Kind::Int;
    return compare(b, loc, term->fn, operand(0, common), operand(1, common),
                   common == Kind::Real);
  }
  default:
    break;
  }

  if (kind == Kind::Int || kind == Kind::Token) {
    auto x = [&](unsigned k) { return operand(k, Kind::Int); };
    switch (term->fn) {
    case Fn::Add:
      return arith::AddIOp::create(b, loc, x(0), x(1));
    case Fn::Sub:
      return arith::SubIOp::create(b, loc, x(0), x(1));
    case Fn::Mul:
      return arith::MulIOp::create(b, loc, x(0), x(1));
    case Fn::FloorDiv:
      return arith::FloorDivSIOp::create(b, loc, x(0), x(1));
    case Fn::Mod: {
      Value u = x(0), v = x(1);
      return arith::SubIOp::create(
          b, loc, u,
          arith::MulIOp::create(b, loc,
                                arith::FloorDivSIOp::create(b, loc, u, v), v));
    }
    case Fn::Min:
      return arith::MinSIOp::create(b, loc, x(0), x(1));
    case Fn::Max:
      return arith::MaxSIOp::create(b, loc, x(0), x(1));
    case Fn::Negate:
      return arith::SubIOp::create(
          b, loc, arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0)),
          x(0));
    case Fn::Abs:
      return math::AbsIOp::create(b, loc, x(0));
    case Fn::Stop:
      return x(0);
    case Fn::ToInt:
      if (*term->args[0]->kindOf != Kind::Real)
        return x(0);
      return arith::FPToSIOp::create(b, loc, b.getI64Type(),
                                     operand(0, Kind::Real));
    default:
      break;
    }
  }

  auto x = [&](unsigned k) { return operand(k, Kind::Real); };
  auto zero = [&] {
    return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(0));
  };
  switch (term->fn) {
  case Fn::Add:
    return arith::AddFOp::create(b, loc, x(0), x(1));
  case Fn::Sub:
    return arith::SubFOp::create(b, loc, x(0), x(1));
  case Fn::Mul:
    return arith::MulFOp::create(b, loc, x(0), x(1));
  case Fn::Div:
    return arith::DivFOp::create(b, loc, x(0), x(1));
  case Fn::FloorDiv:
    return math::FloorOp::create(b, loc,
                                 arith::DivFOp::create(b, loc, x(0), x(1)));
  case Fn::Mod: {
    Value u = x(0), v = x(1);
    Value quotient =
        math::FloorOp::create(b, loc, arith::DivFOp::create(b, loc, u, v));
    return arith::SubFOp::create(b, loc, u,
                                 arith::MulFOp::create(b, loc, quotient, v));
  }
  case Fn::Pow: {
    // Whole powers are products: exact, and smooth at 0.
    Term *exponent = term->args[1];
    if (exponent->kind == TermKind::Number && exponent->number == 2) {
      Value u = x(0);
      return arith::MulFOp::create(b, loc, u, u);
    }
    return math::PowFOp::create(b, loc, x(0), x(1));
  }
  case Fn::Negate:
    return arith::NegFOp::create(b, loc, x(0));
  case Fn::Min:
    return arith::MinimumFOp::create(b, loc, x(0), x(1));
  case Fn::Max:
    return arith::MaximumFOp::create(b, loc, x(0), x(1));
  case Fn::Tanh:
    return math::TanhOp::create(b, loc, x(0));
  case Fn::Sigmoid:
    return attn::SigmoidOp::create(b, loc, x(0));
  case Fn::Exp:
    return math::ExpOp::create(b, loc, x(0));
  case Fn::Log:
    return math::LogOp::create(b, loc, x(0));
  case Fn::Sqrt:
    return math::SqrtOp::create(b, loc, x(0));
  case Fn::Abs:
    return math::AbsFOp::create(b, loc, x(0));
  case Fn::Sin:
    return math::SinOp::create(b, loc, x(0));
  case Fn::Cos:
    return math::CosOp::create(b, loc, x(0));
  case Fn::Relu:
    return arith::MaximumFOp::create(b, loc, zero(), x(0));
  case Fn::Softplus:
    return attn::SoftplusOp::create(b, loc, x(0));
  case Fn::Erf:
    return math::ErfOp::create(b, loc, x(0));
  case Fn::Round:
    return math::RoundEvenOp::create(b, loc, x(0));
  case Fn::Floor:
    return math::FloorOp::create(b, loc, x(0));
  case Fn::Stop:
    return attn::StopOp::create(b, loc, x(0));
  default:
    llvm_unreachable("logic and comparisons are emitted above");
  }
}
