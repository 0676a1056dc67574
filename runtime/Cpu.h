//===- Cpu.h - which features this CPU has, and may use -------------------===//
//
// FOVEA_CPU_FEATURES=avx2 hides x86-64 CPU features beyond AVX2
// from Fovea, to test the behaviour of older machines on any
// machine.

#ifndef FOVEA_RUNTIME_CPU_H
#define FOVEA_RUNTIME_CPU_H

#include "runtime/Status.h"

#include <string_view>

namespace fovea::runtime {

/// Fails if this CPU lacks one of `features`, `+avx2,+fma,-sse4a`, or if
/// FOVEA_CPU_FEATURES hides it: the code would crash at the first unknown
/// instruction. Features that cannot be queried pass. Also fails if
/// FOVEA_CPU_FEATURES has an unknown value.
Status checkCpu(std::string_view features);

/// Returns whether FOVEA_CPU_FEATURES hides features beyond x86-64-v3.
bool hidesBeyondAvx2();

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_CPU_H
