//===- BestSymbols.cpp - the best of many symbols, by a device ------------===//

#include "runtime/search/BestSymbols.h"
#include "runtime/device/Device.h"
#include "runtime/device/OwnKernels.h"
#include "runtime/device/SharedMemory.h"

#include <algorithm>
#include <cmath>

using namespace fovea::runtime;

template <typename T>
static std::vector<BestSymbols> find(const T *memory, int64_t rows,
                                     int64_t count, int64_t most) {
  // Allocating memory of a device is slow.
  static thread_local ExchangedVector<T> logps;
  static thread_local ExchangedVector<int64_t> numbers;
  most = std::min(most, count);
  auto size = static_cast<size_t>(rows * most);
  if (logps.size() < size) {
    logps.resize(size);
    numbers.resize(size);
  }
  if (!launchOwn("best", memory,
                 {inList(memory), count, most, inList(logps.data()),
                  inList(numbers.data())},
                 rows, /*unitsAtOnce=*/1))
    return {};
  waitForDevice();
  std::vector<BestSymbols> result(rows);
  for (int64_t row = 0; row < rows; ++row) {
    BestSymbols &own = result[row];
    for (int64_t place = row * most; place < (row + 1) * most; ++place) {
      if (numbers[place] == count)
        break;
      own.limit = static_cast<double>(logps[place]);
      if (!std::isfinite(own.limit))
        return {};
      own.symbols.push_back({numbers[place], own.limit});
    }
    own.hasOthers =
        static_cast<int64_t>(own.symbols.size()) == most && most < count;
    std::sort(own.symbols.begin(), own.symbols.end(),
              [](const auto &a, const auto &b) { return a.number < b.number; });
  }
  return result;
}

std::vector<BestSymbols> fovea::runtime::findBest(const std::byte *memory,
                                                  Program::Element element,
                                                  int64_t rows, int64_t count,
                                                  int64_t most) {
  if (!Device::current())
    return {};
  if (element == Program::Element::F32)
    return find(reinterpret_cast<const float *>(memory), rows, count, most);
  if (element == Program::Element::F64)
    return find(reinterpret_cast<const double *>(memory), rows, count, most);
  return {};
}
