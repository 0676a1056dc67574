//===- Reducers.cpp - what a reducer adds to an adjoint -------------------===//
//
// Derives the adjoint of one element's value from the adjoint of a reduction's
// result. The description of attn.compute has the rules for ties and empty
// ranges.
//
//===----------------------------------------------------------------------===//

#include "dialect/adjoints/Reducers.h"
#include "dialect/adjoints/Names.h"
#include "dialect/conditions/IndexEquations.h"

using namespace mlir;
using namespace fovea::attn;

/// A compute over the first `numKept` indices of the op that reduces over the
/// others; with `again`, over all reduction indices once more. `condition` and
/// `body` get the indices of the op: kept ones, then reduced ones. With
/// `again`, they also get the op's parallel indices with the second set.
Value ReducerAdjoint::helper(Reducer reducer, unsigned numKept,
                             Type elementType, bool again, Fill condition,
                             Fill body) {
  SmallVector<Attribute> names(op.getIndices().getValue());
  SmallVector<Attribute> extents(op.getExtents().getValue());
  SmallVector<int64_t> lower(op.getLower());
  unsigned numParallel = op.getNumParallel(), num = op.getNumIndices();
  if (again)
    for (unsigned i = numParallel; i < num; ++i) {
      names.push_back(builder.getStringAttr(
          "other_" + cast<StringAttr>(names[i]).getValue()));
      extents.push_back(extents[i]);
      lower.push_back(lower[i]);
    }
  auto compute = ComputeOp::create(builder, op.getLoc(),
                                   labelFor("adjoint of ", op.getResult()),
                                   names, extents, lower, numKept, reducer,
                                   elementType, static_cast<bool>(condition));
  auto fill = [&](Region &region, Fill value) {
    OpBuilder inner = OpBuilder::atBlockBegin(&region.front());
    ValueRange all = region.getArguments();
    SmallVector<Value> others(all.take_front(numParallel));
    llvm::append_range(others, all.drop_front(again ? num : numParallel));
    YieldOp::create(inner, op.getLoc(),
                    value(inner, all.take_front(num), others));
  };
  if (condition)
    fill(compute.getCondition(), condition);
  fill(compute.getBody(), body);
  return compute.getResult();
}

/// exp(b - y), the share of an element in a logsumexp, over `divisor` where one
/// is given; 0 for what is -infinity, even where all are.
Value ReducerAdjoint::share(OpBuilder &body, Value b, ValueRange at,
                            Value divisor) {
  Location loc = op.getLoc();
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(body, loc, body.getF64FloatAttr(value));
  };
  Value isNothing =
      arith::CmpFOp::create(body, loc, arith::CmpFPredicate::OEQ, b,
                            number(-std::numeric_limits<double>::infinity()));
  Value weight = math::ExpOp::create(
      body, loc,
      arith::SubFOp::create(body, loc, b, read(body, op.getResult(), at)));
  if (divisor)
    weight = arith::DivFOp::create(body, loc, weight, divisor);
  return arith::SelectOp::create(body, loc, isNothing, number(0.0), weight);
}

void ReducerAdjoint::prepare() {
  Type f64 = builder.getF64Type(), i64 = builder.getI64Type();
  Location loc = op.getLoc();
  unsigned numParallel = op.getNumParallel(), num = op.getNumIndices();
  auto takesPart = [&](OpBuilder &body, ValueRange, ValueRange others) {
    return inlineRegion(body, op.getCondition(), others);
  };
  auto condition = op.hasCondition() ? Fill(takesPart) : Fill();
  switch (op.getReducer()) {
  case Reducer::mean:
    // The number of participating elements.
    extra = helper(Reducer::sum, numParallel, f64, false, condition,
                   [&](OpBuilder &body, ValueRange, ValueRange) -> Value {
                     return arith::ConstantOp::create(
                         body, loc, body.getF64FloatAttr(1.0));
                   });
    return;
  case Reducer::max:
  case Reducer::min:
    // The first extremal element gets all.
    extra = helper(op.getReducer() == Reducer::max ? Reducer::argmax
                                                   : Reducer::argmin,
                   numParallel, i64, false, condition,
                   [&](OpBuilder &body, ValueRange at, ValueRange) {
                     return inlineRegion(body, op.getBody(), at);
                   });
    return;
  case Reducer::prod:
    // The product of the others, without a division, which zeros would spoil.
    extra = helper(
        Reducer::prod, num, f64, true,
        [&](OpBuilder &body, ValueRange at, ValueRange others) {
          Value differs;
          for (auto [mine, other] :
               llvm::drop_begin(llvm::zip_equal(at, others), numParallel)) {
            Value unequal = arith::CmpIOp::create(
                body, loc, arith::CmpIPredicate::ne, mine, other);
            differs = differs
                          ? arith::OrIOp::create(body, loc, differs, unequal)
                          : unequal;
          }
          Conjunction both(body, loc);
          both.require(differs);
          if (op.hasCondition())
            both.require(inlineRegion(body, op.getCondition(), others));
          return both.finish();
        },
        [&](OpBuilder &body, ValueRange, ValueRange others) {
          return inlineRegion(body, op.getBody(), others);
        });
    return;
  case Reducer::logsumexp:
    // The sum of the shares: 1, except for the rounding of y, which matters for
    // large y.
    extra =
        helper(Reducer::sum, numParallel, f64, false, condition,
               [&](OpBuilder &body, ValueRange at, ValueRange) {
                 return share(body, inlineRegion(body, op.getBody(), at), at);
               });
    return;
  case Reducer::softmax:
    // sum over r of y * ybar
    extra = helper(Reducer::sum, numParallel, f64, false, condition,
                   [&](OpBuilder &body, ValueRange at, ValueRange) -> Value {
                     Value y = read(body, op.getResult(), at);
                     Value ybar = read(body, adjoint, at);
                     return arith::MulFOp::create(body, loc, y, ybar);
                   });
    return;
  case Reducer::log_softmax:
    // sum over r of ybar
    extra = helper(Reducer::sum, numParallel, f64, false, condition,
                   [&](OpBuilder &body, ValueRange at, ValueRange) {
                     return read(body, adjoint, at);
                   });
    return;
  case Reducer::cumsum:
    // sum over r' >= r of ybar
    extra = helper(
        Reducer::sum, num, f64, true,
        [&](OpBuilder &body, ValueRange at, ValueRange others) {
          Conjunction both(body, loc);
          both.require(arith::CmpIOp::create(
              body, loc, arith::CmpIPredicate::sge, others.back(), at.back()));
          if (op.hasCondition())
            both.require(inlineRegion(body, op.getCondition(), others));
          return both.finish();
        },
        [&](OpBuilder &body, ValueRange, ValueRange others) {
          return read(body, adjoint, others);
        });
    return;
  case Reducer::none:
  case Reducer::sum:
  case Reducer::argmax:
  case Reducer::argmin:
  case Reducer::any:
  case Reducer::all:
    return;
  }
}

void ReducerAdjoint::require(OpBuilder &body, ValueRange at,
                             Conjunction &condition) {
  if (op.getReducer() != Reducer::max && op.getReducer() != Reducer::min)
    return;
  // argmax numbers several indices row-major, a nested length as its largest.
  Location loc = op.getLoc();
  Lengths lengths(op);
  Value number;
  for (unsigned i = op.getNumParallel(); i < op.getNumIndices(); ++i) {
    if (number) {
      Attribute extent = op.getExtents()[i];
      Value size = lengths.parentOf(extent)
                       ? ExtentOp::create(body, loc, cast<StringAttr>(extent),
                                          Value(), body.getUnitAttr())
                       : extentValue(body, loc, extent, Value());
      number = arith::MulIOp::create(body, loc, number, size);
      number = arith::AddIOp::create(body, loc, number, at[i]);
    } else {
      number = at[i];
    }
  }
  condition.guardRest();
  Value chosen = arith::IndexCastOp::create(body, loc, body.getIndexType(),
                                            read(body, extra, at));
  condition.require(arith::CmpIOp::create(body, loc, arith::CmpIPredicate::eq,
                                          number, chosen));
}

Value ReducerAdjoint::seed(OpBuilder &body, ValueRange at,
                           llvm::function_ref<Value()> value) {
  Location loc = op.getLoc();
  auto times = [&](Value a, Value b) -> Value {
    return arith::MulFOp::create(body, loc, a, b);
  };
  switch (op.getReducer()) {
  case Reducer::none:
  case Reducer::sum:
  case Reducer::max:
  case Reducer::min:
    return read(body, adjoint, at);
  case Reducer::mean:
    return arith::DivFOp::create(body, loc, read(body, adjoint, at),
                                 read(body, extra, at));
  case Reducer::prod:
    return times(read(body, adjoint, at), read(body, extra, at));
  case Reducer::logsumexp:
    return times(read(body, adjoint, at),
                 share(body, value(), at, read(body, extra, at)));
  case Reducer::softmax: {
    Value centred = arith::SubFOp::create(body, loc, read(body, adjoint, at),
                                          read(body, extra, at));
    return times(read(body, op.getResult(), at), centred);
  }
  case Reducer::log_softmax: {
    Value y = math::ExpOp::create(body, loc, read(body, op.getResult(), at));
    return arith::SubFOp::create(body, loc, read(body, adjoint, at),
                                 times(y, read(body, extra, at)));
  }
  case Reducer::cumsum:
    return read(body, extra, at);
  case Reducer::argmax:
  case Reducer::argmin:
  case Reducer::any:
  case Reducer::all:
    break;
  }
  llvm_unreachable("the result of this reducer is not differentiable");
}
