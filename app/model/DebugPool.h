//===- DebugPool.h - finds what depends on chance ---------------*- C++ -*-===//
//
// Runs compiled programs so that mistakes of the compiler change results: units
// are cut at random and run in random order, and memory that is not in use
// holds NaN. A correct program gives the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_MODEL_DEBUGPOOL_H
#define FOVEA_APP_MODEL_DEBUGPOOL_H

#include "runtime/ThreadPool.h"
#include "runtime/memory/Workspace.h"

#include <optional>

namespace fovea::cli {

/// The number that the environment variable FOVEA_DEBUG_POOL has, if it has
/// one.
std::optional<uint64_t> debugSeedOfEnvironment();

/// The process has one such pool. Its functions are called by compiled code.
struct DebugPool {
  /// Seeds the order of units.
  static void start(uint64_t seed);
  /// The arrays of the program that runs now, or null. Those of the steps of a
  /// search keep what they hold.
  static void watch(runtime::Workspace *memory);

  /// As fovea_parallel, in the calling thread.
  static void parallel(FoveaPool *pool, FoveaWork work, void *frame,
                       int64_t units, int64_t atOnce);
  /// As codegen::StepHook.
  static void step(void *frame, int64_t step);
};

} // namespace fovea::cli

#endif // FOVEA_APP_MODEL_DEBUGPOOL_H
