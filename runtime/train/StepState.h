//===- StepState.h - what an optimiser keeps for each weight ----*- C++ -*-===//

#ifndef FOVEA_RUNTIME_TRAIN_STEPSTATE_H
#define FOVEA_RUNTIME_TRAIN_STEPSTATE_H

#include "runtime/data/Half.h"
#include "runtime/train/GradientSums.h"

namespace fovea::runtime {

/// Values in the type of the weights or, on request, in bf16.
template <typename T> struct StepState {
  OwnArray<T> reals;
  OwnArray<uint16_t> brains;
  int64_t count = 0;

  explicit operator bool() const { return reals || brains; }

  void allocate(int64_t number, bool isInBrains) {
    count = number;
    if (isInBrains)
      brains = allocateArray<uint16_t>(count);
    else
      reals = allocateArray<T>(count);
  }

  /// Calls `work` with all values.
  template <typename Work> void read(const Work &work) const {
    if (!brains)
      return work(reals.get());
    OwnArray<T> wide = allocateArray<T>(count);
    for (int64_t i = 0; i < count; ++i)
      wide[i] = brainOf(brains[i]);
    work(wide.get());
  }

  /// Takes the values that `work` writes. What was rounded before stays.
  template <typename Work> void write(const Work &work) {
    if (!brains)
      return work(reals.get());
    OwnArray<T> wide = allocateArray<T>(count);
    work(wide.get());
    for (int64_t i = 0; i < count; ++i)
      brains[i] = brainBits(static_cast<float>(wide[i]));
  }
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_TRAIN_STEPSTATE_H
