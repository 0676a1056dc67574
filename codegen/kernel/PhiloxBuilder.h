//===- PhiloxBuilder.h - random words in lanes -----------------*- C++ -*-===//
//
// Emits Philox4x32-10 (runtime/Philox.h); dialect/reference/Philox.h defines
// the counters of a model.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_KERNEL_PHILOXBUILDER_H
#define FOVEA_CODEGEN_KERNEL_PHILOXBUILDER_H

#include "codegen/kernel/KernelBuilder.h"

namespace fovea::codegen {

/// Words of 32 bits in lanes of 64: a product of two is whole.
class PhiloxBuilder {
public:
  using Value = mlir::Value;

  PhiloxBuilder(KernelBuilder &kernel, unsigned lanes)
      : kernel(kernel), lanes(lanes) {}

  /// One of the four words for `counter`; the key is (seed, ordinal).
  Value word(unsigned number, std::array<Value, 4> counter, Value seed,
             uint32_t ordinal) {
    for (Value &word : counter)
      word = kernel.splat(word, lanes);
    for (uint32_t round = 0; round < 10; ++round) {
      Value key = low(kernel.add(
          seed, kernel.number(uint32_t(round * uint32_t(0x9E3779B9)))));
      uint32_t other = ordinal + round * uint32_t(0xBB67AE85);
      Value a = times(counter[0], 0xD2511F53),
            b = times(counter[2], 0xCD9E8D57);
      counter = {either(either(high(b), counter[1]), key), low(b),
                 either(either(high(a), counter[3]), kernel.number(other)),
                 low(a)};
    }
    return counter[number];
  }

  Value low(Value value) {
    return kernel.create<mlir::arith::AndIOp>(
        value, kernel.splat(kernel.number(0xFFFFFFFF), lanesOf(value)));
  }
  Value high(Value value) {
    return kernel.create<mlir::arith::ShRUIOp>(
        value, kernel.splat(kernel.number(32), lanesOf(value)));
  }

private:
  Value times(Value value, uint32_t factor) {
    return kernel.create<mlir::arith::MulIOp>(
        value, kernel.splat(kernel.number(factor), lanes));
  }
  Value either(Value a, Value b) {
    return kernel.create<mlir::arith::XOrIOp>(a, kernel.splat(b, lanes));
  }

  KernelBuilder &kernel;
  unsigned lanes;
};

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_KERNEL_PHILOXBUILDER_H
