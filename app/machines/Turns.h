//===- Turns.h - batches that processes take in turns ---------------------===//
//
// Distributed decoding: each process decodes some batches of a part of a file.
// Rank 0 receives the results and handles them in order, and the next part
// follows. An error in a batch ends all processes after the batches before it,
// as in a single process.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_MACHINES_TURNS_H
#define FOVEA_APP_MACHINES_TURNS_H

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

#endif // FOVEA_APP_MACHINES_TURNS_H
