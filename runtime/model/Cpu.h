//===- Cpu.h - can this machine run the code? -----------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_CPU_H
#define FOVEA_RUNTIME_MODEL_CPU_H

#include "runtime/Status.h"

#include <string_view>

namespace fovea::runtime {

/// Fails where this CPU lacks one of `features`, `+avx2,+fma,-sse4a`: it would
/// stop at the first instruction that it does not know. A feature that cannot
/// be asked for passes.
Status checkCpu(std::string_view features);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_CPU_H
