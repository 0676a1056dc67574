//===- Placement.cpp - places in one arena for all arrays -----------------===//

#include "runtime/memory/Placement.h"
#include "runtime/ThreadPool.h"
#include "runtime/device/Device.h"
#include "runtime/memory/MachineMemory.h"
#include "runtime/memory/Tables.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

using namespace fovea::runtime;
using Role = Program::Role;

/// A larger batch is an error.
static constexpr int64_t mostBytes = int64_t(1) << 40;
/// The most that the machine can map at once.
static constexpr int64_t largePage = int64_t(1) << 21;

Status fovea::runtime::noMemoryFor(int64_t bytes) {
  return Status::machine(fmt::format(
      "the batch needs {} MB, but the machine refused to allocate them",
      bytes >> 20));
}

Status Arena::reserve(int64_t bytes) {
  if (memory && bytes <= capacity)
    return Status::success();
  // The system overcommits memory and then kills the process.
  if (bytes > machineBytes())
    return Status::machine(
        fmt::format("the batch needs {} MB, but the machine has {}",
                    bytes >> 20, machineBytes() >> 20));
  // Weights are read sequentially: with small pages, address translation took
  // up to a third of a greedy step.
  int64_t unit = bytes >= 2 * largePage ? largePage : arrayAlignment;
  // A device has its own alignment.
  if (!Device::current()) {
    bytes = std::max(bytes, arrayAlignment);
    bytes = (bytes + unit - 1) / unit * unit;
  }
  memory.reset();
  memory.reset(static_cast<std::byte *>(allocateOwn(bytes, unit)));
  capacity = memory ? bytes : 0;
  if (memory && unit == largePage && !Device::current())
    wishLargePages(memory.get(), bytes);
  if (!memory)
    return noMemoryFor(bytes);
  return Status::success();
}

std::vector<int64_t> fovea::runtime::lengthsOf(const Program &program,
                                               const BatchSize &size) {
  std::vector<int64_t> lengths;
  for (const Program::Length &length : program.lengths) {
    auto given = size.lengths.find(length.name);
    if (given != size.lengths.end())
      lengths.push_back(given->second);
    else
      lengths.push_back(
          length.formula.empty() ? 1 : evaluate(length.formula, lengths));
  }
  return lengths;
}

int64_t fovea::runtime::bytesAt(const Program::Array &array, int64_t places) {
  int64_t bytes = sizeOf(array.element);
  bool fits = !__builtin_mul_overflow(bytes, array.count, &bytes) &&
              !__builtin_mul_overflow(bytes, places, &bytes) &&
              !__builtin_add_overflow(
                  bytes, array.extra * sizeOf(array.element), &bytes);
  return fits ? bytes : -2;
}

/// The size of parts with so many elements each; -2 on overflow.
static int64_t bytesOfAllParts(const Program::Array &array, int64_t elements,
                               int64_t threads) {
  int64_t parts = array.parts ? array.parts : threads;
  int64_t bytes = 0;
  if (__builtin_mul_overflow(elements, sizeOf(array.element), &bytes))
    return -2;
  if (bytes <= array.onChip)
    return 0;
  return __builtin_mul_overflow(bytes, parts, &bytes) ? -2 : bytes;
}

int64_t fovea::runtime::bytesOf(const Program &program,
                                const Program::Array &array,
                                const BatchSize &size,
                                const std::vector<int64_t> &lengths) {
  int64_t places = 1;
  bool fits = true;
  auto times = [&](int64_t factor) {
    fits &= !__builtin_mul_overflow(places, factor, &places);
  };
  if (!array.part.empty())
    return bytesOfAllParts(array, evaluate(array.part, lengths), size.threads);
  if (array.layout >= 0) {
    times(size.batch);
    for (int length : program.layouts[array.layout].lengths)
      times(lengths[length]);
  }
  return fits ? bytesAt(array, places) : -2;
}

void fovea::runtime::setParts(const Program &program,
                              const std::vector<int64_t> &lengths,
                              std::vector<int64_t> &slots) {
  for (const Program::Array &array : program.arrays)
    if (!array.part.empty())
      slots[array.partSlot] = evaluate(array.part, lengths);
}

int64_t fovea::runtime::bytesOfParts(const Program::Array &array,
                                     const std::vector<int64_t> &slots) {
  const auto *pool =
      reinterpret_cast<const FoveaPool *>(slots[Program::poolSlot]);
  return bytesOfAllParts(array, slots[array.partSlot],
                         fovea_pool_threads(pool));
}

Status fovea::runtime::placeArrays(
    const Program &program,
    const std::function<int64_t(const Program::Array &)> &bytesOf,
    Placement &placement) {
  struct Block {
    int64_t begin, end;
    int lastUse;
  };
  std::vector<std::pair<const Program::Array *, int64_t>> arrays;
  for (const Program::Array &array : program.arrays)
    if (array.role != Role::Output) {
      int64_t bytes = bytesOf(array);
      if (bytes > mostBytes || bytes < -1)
        return Status::machine("the batch does not fit into memory");
      if (bytes >= 0)
        arrays.push_back({&array, bytes});
    }
  // Inputs exist from the start and persist for the next run.
  auto firstUse = [](const Program::Array *array) {
    return array->role == Role::Temporary ? array->firstUse : 0;
  };
  // All arrays are in one vector, so their addresses give their order in it.
  std::sort(arrays.begin(), arrays.end(), [&](const auto &a, const auto &b) {
    int left = firstUse(a.first), right = firstUse(b.first);
    return left != right ? left < right : a.first < b.first;
  });
  std::vector<Block> used; // by place
  placement = Placement();
  for (auto [array, size] : arrays) {
    std::erase_if(used, [&](const Block &block) {
      return block.lastUse < firstUse(array);
    });
    int64_t bytes =
        (size + arrayAlignment - 1) / arrayAlignment * arrayAlignment;
    int64_t begin = 0;
    auto next = used.begin();
    for (; next != used.end() && next->begin < begin + bytes; ++next)
      begin = std::max(begin, next->end);
    bool isInput = array->role != Role::Temporary;
    used.insert(next,
                {begin, begin + bytes,
                 isInput ? std::numeric_limits<int>::max() : array->lastUse});
    placement.begins[array->slot] = begin;
    placement.numBytes = std::max(placement.numBytes, begin + bytes);
  }
  return Status::success();
}
