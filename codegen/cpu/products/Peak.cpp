//===- Peak.cpp - what a thread could compute at most ---------------------===//

#include "codegen/cpu/products/Peak.h"
#include "codegen/kernel/KernelBuilder.h"

using namespace mlir;
using namespace fovea::codegen;

/// Enough chains to hide the latency of two units, and few enough for the
/// registers.
static constexpr int64_t chains = 12;

int64_t fovea::codegen::peakFlops(Type element, const Target &target) {
  return 2 * chains * target.lanes(element);
}

void fovea::codegen::emitPeak(ModuleOp module, Type element,
                              const Target &target) {
  int64_t lanes = target.lanes(element);
  auto type = VectorType::get({lanes}, element);
  KernelBuilder b(module);
  b.function("fma_peak", {b.i64(), b.pointer()}, false, [&](ValueRange args) {
    KernelBuilder::Values sums;
    for (int64_t i = 0; i < chains; ++i)
      sums.push_back(b.load(type, b.at(element, args[1], i * lanes)));
    Value factor = sums.front();
    sums = b.loop(b.number(0), args[0], b.number(1), sums,
                  [&](Value, ValueRange current) {
                    KernelBuilder::Values next;
                    for (Value sum : current)
                      next.push_back(b.fma(sum, factor, factor));
                    return next;
                  });
    for (int64_t i = 0; i < chains; ++i)
      b.store(sums[i], b.at(element, args[1], i * lanes));
  });
}
