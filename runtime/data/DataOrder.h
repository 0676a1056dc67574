//===- DataOrder.h - which examples make up which update ------------------===//
//
// Shuffles an epoch with random numbers that depend only on the seed and the
// epoch, so two numbers identify a position in it. With buckets, examples of
// similar size share a batch. The shuffled examples are taken in groups of many
// batches, sorted by size within a group, and cut into batches; then the
// batches are shuffled. Examples of equal size keep their shuffled order.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_DATAORDER_H
#define FOVEA_RUNTIME_DATA_DATAORDER_H

#include <cstdint>
#include <vector>

namespace fovea::runtime {

struct OrderOptions {
  uint64_t seed = 0;
  int64_t batch = 32;
  bool countsTokens = false; // `batch` counts sizes instead of examples
  bool buckets = false;      // examples of similar size share a batch
};

/// Returns the batches of epoch `epoch`, from 0: indices into `sizes`, the
/// sizes of the examples. Each example is in one batch; only the last batch of
/// a group may be smaller than the others.
std::vector<std::vector<int64_t>> batchesOf(uint64_t epoch,
                                            const std::vector<int64_t> &sizes,
                                            const OrderOptions &options);

/// Returns all examples in batches of similar size, in one fixed order.
std::vector<std::vector<int64_t>>
batchesBySize(const std::vector<int64_t> &sizes, const OrderOptions &options);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_DATAORDER_H
