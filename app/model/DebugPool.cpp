//===- DebugPool.cpp - finds what depends on chance -----------------------===//

#include "app/model/DebugPool.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

using namespace fovea;
using namespace fovea::cli;

static std::mt19937_64 numbers;
static runtime::Workspace *watched = nullptr;

std::optional<uint64_t> fovea::cli::debugSeedOfEnvironment() {
  const char *text = std::getenv("FOVEA_DEBUG_POOL");
  uint64_t seed = 0;
  if (!text || llvm::StringRef(text).getAsInteger(10, seed))
    return std::nullopt;
  return seed;
}

void DebugPool::start(uint64_t seed) { numbers.seed(seed); }

void DebugPool::watch(runtime::Workspace *memory) { watched = memory; }

static runtime::Workspace *memoryOf(void *frame) {
  return watched && watched->frame() == frame ? watched : nullptr;
}

void DebugPool::parallel(FoveaPool *, FoveaWork work, void *frame,
                         int64_t units, int64_t atOnce) {
  // Up to four ranges, each of at least `atOnce` units.
  std::vector<int64_t> cuts = {0};
  int64_t most = std::min<int64_t>(units / atOnce, 4);
  for (int64_t left = most - 1; left > 0; --left) {
    int64_t slack = units - cuts.back() - (left + 1) * atOnce;
    int64_t extra = slack > 0 ? int64_t(numbers() % uint64_t(slack + 1)) : 0;
    cuts.push_back(cuts.back() + atOnce + extra);
  }
  cuts.push_back(units);
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (size_t i = 1; i < cuts.size(); ++i)
    if (cuts[i - 1] < cuts[i])
      ranges.emplace_back(cuts[i - 1], cuts[i]);
  std::shuffle(ranges.begin(), ranges.end(), numbers);
  for (auto [first, last] : ranges) {
    if (runtime::Workspace *memory = memoryOf(frame))
      memory->poisonParts();
    work(frame, first, last);
  }
}

void DebugPool::step(void *frame, int64_t step) {
  if (runtime::Workspace *memory = memoryOf(frame))
    memory->poison(step);
}
