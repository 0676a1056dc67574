//===- TensorCore.h - how tensor cores add ----------------------*- C++ -*-===//
//
// A tensor core multiplies exactly, and adds some terms at a time to a sum.
// Each term loses the bits that are too low beside the largest one. What is
// left is added exactly, and the result is cut off to f32. MMA-Sim (arXiv
// 2511.10909) found this by experiments; tensor-cores.test compares the bits.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_EMULATOR_PTX_TENSORCORE_H
#define FOVEA_TOOLS_EMULATOR_PTX_TENSORCORE_H

#include <cstdint>
#include <span>

namespace fovea::emulator::ptx {

class TensorCore {
public:
  /// A device with this compute capability has such cores. With
  /// `FOVEA_EMULATOR_SUMS=ascending` they add one term after the other, each
  /// with a rounding, as a CPU does.
  explicit TensorCore(int64_t capability);

  /// Adds products of numbers in bf16 to a sum.
  float add(float sum, std::span<const float> left,
            std::span<const float> right) const;

private:
  float addAtOnce(float sum, std::span<const float> left,
                  std::span<const float> right) const;

  /// 0: ascending.
  size_t numAtOnce = 0;
  /// Binary digits after the point, of the largest term.
  int numDigits = 0;
  /// Which exponent a term has that is 0.
  int zeroExponent = 0;
};

/// The one of the device of this process.
const TensorCore &tensorCore();

} // namespace fovea::emulator::ptx

#endif // FOVEA_TOOLS_EMULATOR_PTX_TENSORCORE_H
