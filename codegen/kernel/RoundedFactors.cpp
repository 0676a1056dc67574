//===- RoundedFactors.cpp - sums of products of bf16 numbers --------------===//
//
// Whether a sum is below 2^-126 is decided after it is rounded to 24 digits.
// f32 has fewer there, so the same sum is computed 2^64 times as large. A
// number that becomes infinite then has a sum that is far from zero.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/RoundedFactors.h"
#include "codegen/kernel/StoredReals.h"

using namespace mlir;
using namespace fovea::codegen;
using arith::CmpFPredicate;

static constexpr double leastNormal = 0x1p-126, scale = 0x1p64;

/// `value`, or zero if the magnitude of `size` is below `least`.
static Value unlessBelow(KernelBuilder &b, Value size, double least,
                         Value value) {
  Type type = value.getType();
  Value isBelow =
      b.create<arith::CmpFOp>(CmpFPredicate::OLT, b.create<math::AbsFOp>(size),
                              b.constant(type, least));
  return b.select(isBelow, b.constant(type, 0), value);
}

Value fovea::codegen::factorOf(KernelBuilder &b, Value real) {
  return unlessBelow(b, real, leastNormal, roundedOf(b, real));
}

Value fovea::codegen::addProduct(KernelBuilder &b, Value left, Value right,
                                 Value sum) {
  Value factor = b.constant(sum.getType(), scale);
  Value large = b.fma(b.create<arith::MulFOp>(left, factor), right,
                      b.create<arith::MulFOp>(sum, factor));
  return unlessBelow(b, large, leastNormal * scale, b.fma(left, right, sum));
}
