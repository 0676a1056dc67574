//===- DataOrder.cpp - which examples make up which update ----------------===//

#include "runtime/data/DataOrder.h"
#include "runtime/Philox.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace fovea::runtime;

using Indices = std::vector<int64_t>;
using Batches = std::vector<Indices>;

/// The number of batches in a group that is sorted by size.
static constexpr int64_t groupBatches = 64;

/// The purpose of the random numbers: larger than any ordinal of a model.
enum Purpose : uint32_t { examples = 0xFFFF0001, batches = 0xFFFF0002 };

/// Fisher and Yates; the range of 2^64 makes the modulus bias negligible.
template <typename T>
static void shuffle(std::vector<T> &values, uint64_t seed, Purpose purpose,
                    uint64_t epoch) {
  for (size_t i = values.size(); i > 1; --i) {
    auto words = philox({uint32_t(i), uint32_t(uint64_t(i) >> 32),
                         uint32_t(epoch), uint32_t(seed >> 32)},
                        {uint32_t(seed), purpose});
    uint64_t number = uint64_t(words[0]) << 32 | words[1];
    std::swap(values[i - 1], values[number % i]);
  }
}

/// Cuts `order` into batches.
static void cut(const Indices &order, const Indices &sizes,
                const OrderOptions &options, Batches &result) {
  int64_t room = 0;
  for (int64_t index : order) {
    int64_t size = options.countsTokens ? sizes[index] : 1;
    if (room < size || result.empty()) {
      result.emplace_back();
      room = options.batch;
    }
    result.back().push_back(index);
    room -= size;
  }
}

static Indices allOf(const Indices &sizes) {
  Indices order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// Examples of equal size keep their order, so a shuffled order stays random.
static void sortBySize(Indices &order, const Indices &sizes) {
  std::map<int64_t, Indices> ofSize;
  for (int64_t index : order)
    ofSize[sizes[index]].push_back(index);
  order.clear();
  for (const auto &[size, indices] : ofSize)
    order.insert(order.end(), indices.begin(), indices.end());
}

Batches fovea::runtime::batchesOf(uint64_t epoch, const Indices &sizes,
                                  const OrderOptions &options) {
  Indices order = allOf(sizes);
  shuffle(order, options.seed, examples, epoch);
  Batches result;
  if (!options.buckets) {
    cut(order, sizes, options, result);
    return result;
  }
  // A group of token batches has as many examples as one of example batches
  // would have.
  int64_t total = std::accumulate(sizes.begin(), sizes.end(), int64_t(0));
  int64_t mean = sizes.empty() ? 1 : total / int64_t(sizes.size());
  int64_t perBatch = options.countsTokens
                         ? options.batch / std::max<int64_t>(1, mean)
                         : options.batch;
  int64_t group = groupBatches * std::max<int64_t>(1, perBatch);
  for (int64_t begin = 0; begin < int64_t(order.size()); begin += group) {
    int64_t end = std::min<int64_t>(begin + group, order.size());
    Indices part(order.begin() + begin, order.begin() + end);
    sortBySize(part, sizes);
    Batches own;
    cut(part, sizes, options, own);
    result.insert(result.end(), own.begin(), own.end());
  }
  shuffle(result, options.seed, batches, epoch);
  return result;
}

Batches fovea::runtime::batchesBySize(const Indices &sizes,
                                      const OrderOptions &options) {
  Indices order = allOf(sizes);
  sortBySize(order, sizes);
  Batches result;
  cut(order, sizes, options, result);
  return result;
}
