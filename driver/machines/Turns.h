//===- Turns.h - batches that processes take in turns ---------------------===//
//
// Decoding shared out: each process takes some batches of a part of a file,
// rank 0 gets what they made of them and goes through all in order, and the
// next part follows. A mistake in a batch ends all of them after the batches
// before it, as it ends one process.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_MACHINES_TURNS_H
#define FOVEA_DRIVER_MACHINES_TURNS_H

#include "dialect/reference/Search.h"
#include "runtime/Status.h"
#include "runtime/train/Team.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace fovea::cli {

/// The best hypotheses of each example of a batch.
using BatchResult = std::vector<std::vector<reference::Hypothesis>>;

/// Calls `make(number, result)` for each of `count` batches in one of the
/// processes, and on rank 0 `take(number, result)` for all of them, in order.
/// Returns the first failure, in all processes.
runtime::Status takeTurns(
    runtime::Team &team, size_t count,
    llvm::function_ref<runtime::Status(size_t number, BatchResult &)> make,
    llvm::function_ref<void(size_t number, const BatchResult &)> take);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_MACHINES_TURNS_H
