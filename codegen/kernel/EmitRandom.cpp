//===- EmitRandom.cpp - random numbers in a body --------------------------===//
//
// The numbers of attn.random, in vectors if the places of neighbours differ:
// equal to those of dialect/reference/Philox.h, bit for bit.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/BodyEmitter.h"
#include "codegen/kernel/PhiloxBuilder.h"

using namespace mlir;
using namespace fovea;
using namespace fovea::attn;
using namespace fovea::codegen;
using runtime::Program;

void BodyEmitter::emitRandom(RandomOp op) {
  Value element = valueOf(op.getPlace());
  if (op.getSample()) {
    Value sample = valueOf(op.getSample());
    unsigned both = std::max(lanesOf(element), lanesOf(sample));
    Value high =
        builder.mul(builder.splat(sample, both),
                    builder.splat(builder.number(int64_t(1) << 48), both));
    element = builder.add(builder.splat(element, both), high);
  }
  unsigned width = lanesOf(element);
  PhiloxBuilder philox(builder, width);
  Value example =
      op.getShared()
          ? builder.number(int64_t(0))
          : builder.entry(place.frame, Program::examplesSlot, place.example);
  example = philox.low(example);
  auto number = [&](int64_t value) {
    return builder.splat(builder.number(value), width);
  };
  auto draw = [&] {
    return philox.word(static_cast<unsigned>(op.getWord()),
                       {philox.low(element), philox.high(element), example,
                        builder.slot(place.frame, Program::updateSlot)},
                       builder.slot(place.frame, Program::seedSlot),
                       static_cast<uint32_t>(op.getOrdinal()));
  };
  if (op.givesWord()) {
    Value hasSeed = builder.compare(
        arith::CmpIPredicate::sge, builder.slot(place.frame, Program::seedSlot),
        builder.number(0));
    values[op.getResult()] =
        builder.choose(hasSeed, draw, [&] { return number(op.noWord); });
    return;
  }
  Value word = draw();
  // (2 * (word >> 9) + 1) / 2^24. The rest of the word has 32 bits, which every
  // processor converts in lanes.
  Value cut = builder.create<arith::ShRUIOp>(word, number(9));
  Value odd = builder.create<arith::OrIOp>(
      builder.create<arith::ShLIOp>(cut, number(1)), number(1));
  odd = builder.create<arith::TruncIOp>(withLanes(builder.getI32Type(), width),
                                        odd);
  Type type = withLanes(storage.elementOf(op.getType()), width);
  values[op.getResult()] =
      builder.create<arith::MulFOp>(builder.create<arith::SIToFPOp>(type, odd),
                                    builder.constant(type, 0x1p-24));
}
