//===- DataOrder.h - which examples make up which update ------------------===//
//
// An epoch is shuffled by random numbers that depend on the seed and the epoch
// alone, so that a place in it is known again by two numbers. With buckets,
// examples of similar size share a batch: the shuffled examples are taken in
// groups of many batches, sorted by size within a group, cut into batches, and
// the batches are shuffled.
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
  bool buckets = true;
};

/// The batches of an epoch, from 0: indices into `sizes`, which has the size of
/// each example. Each example is in one batch; only the last batch of a
/// group may be smaller than the others.
std::vector<std::vector<int64_t>> batchesOf(uint64_t epoch,
                                            const std::vector<int64_t> &sizes,
                                            const OrderOptions &options);

/// All examples in batches of similar size, in one order for all times.
std::vector<std::vector<int64_t>>
batchesBySize(const std::vector<int64_t> &sizes, const OrderOptions &options);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_DATAORDER_H
