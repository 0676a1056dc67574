//===- Runs.h - rows that consist of runs ---------------------------------===//

#ifndef FOVEA_CODEGEN_KERNEL_RUNS_H
#define FOVEA_CODEGEN_KERNEL_RUNS_H

#include <cstdint>
#include <limits>

namespace fovea::codegen {

/// The marker of a run of zeros in a list of runs.
constexpr int64_t nowhere = std::numeric_limits<int64_t>::min();

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_KERNEL_RUNS_H
