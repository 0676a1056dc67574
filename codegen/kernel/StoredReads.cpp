//===- StoredReads.cpp - elements of parameters in fewer bits -------------===//
//
// The part of BodyEmitter that reads what runtime/data/Quantise.h stores. The
// result is the real number that it defines, exactly.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/BodyEmitter.h"
#include "codegen/kernel/StoredReals.h"
#include "runtime/data/Quantise.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::StorageFormat;

using Load = llvm::function_ref<Value(Type, const Index &)>;

/// The exponent and fraction move to their places in an f32, where they are
/// less by the difference of the biases: a product with a power of two is
/// exact.
Value fovea::codegen::realOf(KernelBuilder &b, Value bits,
                             const StorageFormat &format) {
  unsigned lanes = lanesOf(bits);
  Type wide = withLanes(b.getI32Type(), lanes);
  Type real = withLanes(b.getF32Type(), lanes);
  int shift = 23 - format.fractionBits;
  if (format.exponentBits == 8) {
    Value moved = b.create<arith::ShLIOp>(
        b.create<arith::ExtUIOp>(wide, bits).getResult(),
        b.constant(wide, shift));
    return b.create<arith::BitcastOp>(real, moved);
  }
  Value moved =
      b.create<arith::ShLIOp>(b.create<arith::ExtSIOp>(wide, bits).getResult(),
                              b.constant(wide, shift));
  // Copies of the sign leave the exponent.
  int32_t kept = INT32_MIN | ((1 << (23 + format.exponentBits)) - 1);
  Value own = b.create<arith::AndIOp>(moved, b.constant(wide, kept));
  return b.create<arith::MulFOp>(
      b.create<arith::BitcastOp>(real, own).getResult(),
      b.constant(real, format.factor()));
}

Value fovea::codegen::roundedOf(KernelBuilder &b, Value real) {
  unsigned lanes = lanesOf(real);
  Type wide = withLanes(b.getI32Type(), lanes), given = real.getType();
  Type single = withLanes(b.getF32Type(), lanes);
  if (given != single)
    real = b.create<arith::TruncFOp>(single, real);
  auto integer = [&](int32_t value) { return b.constant(wide, value); };
  Value bits = b.create<arith::BitcastOp>(wide, real);
  Value odd = b.create<arith::AndIOp>(
      b.create<arith::ShRUIOp>(bits, integer(16)).getResult(), integer(1));
  Value nearest = b.create<arith::AddIOp>(
      bits, b.create<arith::AddIOp>(odd, integer(0x7FFF)).getResult());
  // A NaN stays one.
  Value isNan = b.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, real, real);
  Value quiet = b.create<arith::OrIOp>(bits, integer(0x400000));
  Value kept = b.create<arith::AndIOp>(b.select(isNan, quiet, nearest),
                                       integer(INT32_MIN >> 15));
  Value result = b.create<arith::BitcastOp>(single, kept);
  return given == single ? result
                         : Value(b.create<arith::ExtFOp>(given, result));
}

/// `load` reads elements of a type at a place that counts them.
Value BodyEmitter::readStored(const Storage &array, const StorageFormat &format,
                              const Index &where, Load load) {
  Type bits = builder.getIntegerType(8 * format.bytes);
  switch (format.kind) {
  case StorageFormat::Rounded:
    return realOf(builder, load(bits, where), format);
  case StorageFormat::Whole: {
    Value whole = load(bits, where);
    return builder.create<arith::SIToFPOp>(
        withLanes(builder.getF32Type(), lanesOf(whole)), whole);
  }
  case StorageFormat::Groups:
    return readGroup(array, format, where, load);
  }
  llvm_unreachable("every kind of format is read");
}

/// An element of a group of 4 bits.
Value BodyEmitter::readGroup(const Storage &array, const StorageFormat &format,
                             const Index &where, Load load) {
  Value element = where.isUniform() ? where.base : materialise(where);
  unsigned lanes = lanesOf(element);
  auto number = [&](int64_t value) {
    return builder.splat(builder.number(value), lanes);
  };
  auto add = [&](Value a, Value b) {
    return builder.create<arith::AddIOp>(a, b).getResult();
  };
  auto mul = [&](Value a, int64_t by) {
    return builder.create<arith::MulIOp>(a, number(by)).getResult();
  };
  auto div = [&](Value a, int64_t by) {
    return builder.create<arith::DivUIOp>(a, number(by)).getResult();
  };
  auto rem = [&](Value a, int64_t by) {
    return builder.create<arith::RemUIOp>(a, number(by)).getResult();
  };
  constexpr int64_t size = runtime::weightsOfGroup;
  constexpr int64_t bytes = runtime::bytesOfGroup;
  const StorageFormat &ofScale = *runtime::findStorageFormat(format.groupScale);
  int64_t bytesOfScale = ofScale.bytes;
  int64_t extent =
      cast<IntegerAttr>(array.type.getShape().getValue().back()).getInt();
  Value column = rem(element, extent);
  Value group = add(mul(div(element, extent), runtime::groupsIn(extent)),
                    div(column, size));
  Value scale = realOf(builder,
                       load(builder.getIntegerType(8 * bytesOfScale),
                            {mul(group, bytes / bytesOfScale)}),
                       ofScale);
  Value both = load(builder.getI8Type(),
                    {add(add(mul(group, bytes), number(bytesOfScale)),
                         div(rem(column, size), 2))});
  // The half that has the number goes to the upper half, and back with its
  // sign.
  Type byte = both.getType();
  Value isFirst = builder.create<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                                rem(column, 2), number(0));
  Value upper = builder.select(
      isFirst, builder.create<arith::ShLIOp>(both, builder.constant(byte, 4)),
      both);
  Value whole =
      builder.create<arith::ShRSIOp>(upper, builder.constant(byte, 4));
  Type reals = scale.getType();
  Value product = builder.create<arith::MulFOp>(
      builder.create<arith::SIToFPOp>(reals, whole).getResult(), scale);
  // A zero is positive.
  return builder.create<arith::AddFOp>(product, builder.constant(reals, 0));
}
