//===- Optimiser.cpp - from gradients to new weights ----------------------===//

#include "runtime/train/Optimiser.h"
#include "runtime/Cpu.h"
#include "runtime/Functions.h"
#include "runtime/data/Half.h"
#include "runtime/device/Device.h"
#include "runtime/device/SharedMemory.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

using namespace fovea::runtime;

/// Elements of one work unit; fixed, so that sums do not depend on threads.
static constexpr int64_t chunk = valuesOfPart;

int fovea::runtime::numStates(const OptimiserOptions &options) {
  switch (options.rule) {
  case Rule::Sgd:
    return 0;
  case Rule::Momentum:
  case Rule::Adagrad:
    return 1;
  case Rule::RmsProp:
  case Rule::Adadelta:
  case Rule::Adam:
  case Rule::AdamW:
    return 2;
  }
  return 0;
}

/// Returns whether a device may have kernels for this memory.
static bool isOnDevice(const void *memory) {
  return Device::current() && isShared(memory);
}

/// Calls `work(begin, end)` for each chunk of 0 .. count.
template <typename Work>
static void forChunks(int64_t count, FoveaPool *pool, const Work &work) {
  struct Frame {
    const Work &work;
    int64_t count;
  } frame{work, count};
  auto run = [](void *opaque, int64_t first, int64_t last) {
    auto &frame = *static_cast<Frame *>(opaque);
    for (int64_t unit = first; unit < last; ++unit)
      frame.work(unit * chunk, std::min(frame.count, (unit + 1) * chunk));
  };
  fovea_parallel(pool, run, &frame, (count + chunk - 1) / chunk,
                 /*atOnce=*/1);
}

template <typename T>
std::vector<double> fovea::runtime::partsOfSquares(const T *values,
                                                   int64_t count,
                                                   FoveaPool *pool) {
  std::vector<double> sums((count + chunk - 1) / chunk);
  if (isOnDevice(values)) {
    // Allocating device memory is slow.
    static thread_local SharedVector<double> room;
    size_t numbers = sums.size() * (lanesOfPart + 1);
    if (room.size() < numbers)
      room.resize(numbers);
    double *own = room.data() + sums.size() * lanesOfPart;
    if (launchOwn("squares", values,
                  {inList(values), count, inList(room.data()), inList(own)},
                  static_cast<int64_t>(sums.size()), ownUnitsOfGroups)) {
      waitForDevice();
      std::copy_n(own, sums.size(), sums.begin());
      return sums;
    }
  }
  forChunks(count, pool, [&](int64_t begin, int64_t end) {
    constexpr int lanes = lanesOfPart;
    double parts[lanes] = {};
    int64_t i = begin;
    for (; i + lanes <= end; i += lanes)
      for (int lane = 0; lane < lanes; ++lane)
        parts[lane] += double(values[i + lane]) * double(values[i + lane]);
    for (; i < end; ++i)
      parts[0] += double(values[i]) * double(values[i]);
    double sum = 0;
    for (double part : parts)
      sum += part;
    sums[begin / chunk] = sum;
  });
  return sums;
}

template <typename T>
double fovea::runtime::sumOfSquares(const T *values, int64_t count,
                                    FoveaPool *pool) {
  double total = 0;
  for (double sum : partsOfSquares(values, count, pool))
    total += sum;
  return total;
}

/// Adds the squares of `count` values, from number `place` of all on, to the
/// partial sums.
template <typename T>
static void addSquares(const T *values, int64_t place, int64_t count,
                       double (&parts)[lanesOfPart]) {
  constexpr int64_t lanes = lanesOfPart;
  auto add = [&](int64_t i) {
    parts[(place + i) % lanes] += double(values[i]) * double(values[i]);
  };
  int64_t i = 0;
  for (; i < count && (place + i) % lanes != 0; ++i)
    add(i);
  for (; i + lanes <= count; i += lanes)
    for (int64_t lane = 0; lane < lanes; ++lane)
      parts[lane] += double(values[i + lane]) * double(values[i + lane]);
  for (; i < count; ++i)
    add(i);
}

template <typename T>
double fovea::runtime::sumOfSquares(std::span<const Segment<T>> segments,
                                    int64_t count, FoveaPool *pool) {
  static_assert(chunk % lanesOfPart == 0, "lanes begin anew with a chunk");
  std::vector<double> sums((count + chunk - 1) / chunk);
  forChunks(count, pool, [&](int64_t begin, int64_t end) {
    double parts[lanesOfPart] = {};
    auto segment = std::partition_point(
        segments.begin(), segments.end(), [&](const Segment<T> &each) {
          return each.begin + each.count <= begin;
        });
    for (; segment != segments.end() && segment->begin < end; ++segment) {
      int64_t from = std::max(begin, segment->begin);
      int64_t to = std::min(end, segment->begin + segment->count);
      addSquares(segment->values + (from - segment->begin), from, to - from,
                 parts);
    }
    double sum = 0;
    for (double part : parts)
      sum += part;
    sums[begin / chunk] = sum;
  });
  double total = 0;
  for (double sum : sums)
    total += sum;
  return total;
}

template <typename T> void fovea::runtime::clear(T *values, int64_t count) {
  if (!launchOwn("clear", values, {inList(values)}, count))
    std::memset(values, 0, count * sizeof(T));
}

template <typename T>
void fovea::runtime::addTo(T *sums, const T *values, int64_t count,
                           FoveaPool *pool) {
  if (isShared(values) &&
      launchOwn("add", sums, {inList(sums), inList(values)}, count))
    return;
  forChunks(count, pool, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      sums[i] += values[i];
  });
}

/// Adds the next of `rows` on the device; false if it cannot.
template <typename T> static bool addOnDevice(std::span<const RowSum<T>> rows) {
  std::vector<int64_t> list = {static_cast<int64_t>(rows.size())};
  int64_t pieces = 0;
  for (const RowSum<T> &row : rows) {
    if (!isShared(row.sums) || !isShared(row.values))
      return false;
    list.insert(list.end(),
                {inList(row.sums), inList(row.values), row.count, pieces});
    pieces += (row.count + numbersOfPiece - 1) / numbersOfPiece;
  }
  // The kernel takes as many as its parameters allow.
  list.resize(1 + 4 * mostSums);
  return launchOwn(ownName<T>("add_rows"), rows.front().sums, list, pieces,
                   /*unitsAtOnce=*/1);
}

template <typename T>
void fovea::runtime::addRows(std::span<const RowSum<T>> rows, FoveaPool *pool) {
  while (Device::current() && !rows.empty()) {
    auto some = rows.first(std::min<size_t>(rows.size(), mostSums));
    if (!addOnDevice(some))
      break;
    rows = rows.subspan(some.size());
  }
  for (const RowSum<T> &row : rows)
    addTo(row.sums, row.values, row.count, pool);
}

template <typename T>
void fovea::runtime::scale(T *values, double factor, int64_t count,
                           FoveaPool *pool) {
  T by = static_cast<T>(factor);
  if (launchOwn("scale", values, {inList(values), bitsOf(by)}, count))
    return;
  forChunks(count, pool, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      values[i] *= by;
  });
}

template <typename T>
void fovea::runtime::roundToBf16(uint16_t *rounded, const T *values,
                                 int64_t count, FoveaPool *pool) {
  forChunks(count, pool, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      rounded[i] = brainBits(static_cast<float>(values[i]));
  });
}

template <typename T>
void fovea::runtime::clamp(T *values, double limit, int64_t count) {
  T most = static_cast<T>(limit);
  if (launchOwn("clamp", values, {inList(values), bitsOf(most)}, count))
    return;
  for (int64_t i = 0; i < count; ++i)
    values[i] = std::min(std::max(values[i], -most), most);
}

/// AdamW is Adam with a decoupled decay.
static std::string kernelOf(Rule rule) {
  return std::string(nameOf(rule == Rule::AdamW ? Rule::Adam : rule));
}

namespace {
/// What all weights of an update share, in the type of the weights.
template <typename T> struct StepNumbers {
  Rule rule;
  T rate, eps, b1, b2, rest1, rest2, decay, size, root, kept;

  StepNumbers(const OptimiserOptions &options, int64_t update, double rate)
      : rule(options.rule), rate(static_cast<T>(rate)),
        eps(static_cast<T>(options.eps)), b1(static_cast<T>(options.b1)),
        b2(static_cast<T>(options.b2)), rest1(static_cast<T>(1 - options.b1)),
        rest2(static_cast<T>(1 - options.b2)) {
    const bool isDecoupled = rule == Rule::AdamW;
    const double t = static_cast<double>(update);
    decay = static_cast<T>(isDecoupled ? 0 : options.decay);
    size = static_cast<T>(rate / (1 - powOf(options.b1, t)));
    root = static_cast<T>(std::sqrt(1 - powOf(options.b2, t)));
    kept = static_cast<T>(isDecoupled ? 1 - rate * options.decay : 1);
  }
};
} // namespace

/// One update of `count` weights, on this thread. Becomes vectors of the
/// caller.
template <typename T>
[[gnu::always_inline]] static inline void
stepLoop(const StepNumbers<T> &numbers, T *weights, const T *gradients,
         T *first, T *second, int64_t count) {
  const auto [rule, rate, eps, b1, b2, rest1, rest2, decay, size, root, kept] =
      numbers;
  switch (rule) {
  case Rule::Sgd:
    for (int64_t i = 0; i < count; ++i)
      weights[i] -= rate * (gradients[i] + decay * weights[i]);
    return;
  case Rule::Momentum:
    for (int64_t i = 0; i < count; ++i) {
      first[i] = b1 * first[i] + (gradients[i] + decay * weights[i]);
      weights[i] -= rate * first[i];
    }
    return;
  case Rule::Adagrad:
    for (int64_t i = 0; i < count; ++i) {
      T g = gradients[i] + decay * weights[i];
      first[i] += g * g;
      weights[i] -= rate * (g / (std::sqrt(first[i]) + eps));
    }
    return;
  case Rule::RmsProp:
    for (int64_t i = 0; i < count; ++i) {
      T g = gradients[i] + decay * weights[i];
      second[i] = b2 * second[i] + rest2 * g * g;
      first[i] = b1 * first[i] + g / (std::sqrt(second[i]) + eps);
      weights[i] -= rate * first[i];
    }
    return;
  case Rule::Adadelta:
    for (int64_t i = 0; i < count; ++i) {
      T g = gradients[i] + decay * weights[i];
      second[i] = b2 * second[i] + rest2 * g * g;
      T d = std::sqrt(first[i] + eps) / std::sqrt(second[i] + eps) * g;
      first[i] = b2 * first[i] + rest2 * d * d;
      weights[i] -= rate * d;
    }
    return;
  case Rule::Adam:
  case Rule::AdamW:
    for (int64_t i = 0; i < count; ++i) {
      T g = gradients[i] + decay * weights[i];
      first[i] = b1 * first[i] + rest1 * g;
      second[i] = b2 * second[i] + rest2 * g * g;
      weights[i] = kept * weights[i] -
                   size * first[i] / (std::sqrt(second[i]) / root + eps);
    }
    return;
  }
}

template <typename T>
using StepPart = void (*)(const StepNumbers<T> &numbers, T *weights,
                          const T *gradients, T *first, T *second,
                          int64_t count);

template <typename T>
static void stepPlain(const StepNumbers<T> &numbers, T *weights,
                      const T *gradients, T *first, T *second, int64_t count) {
  stepLoop(numbers, weights, gradients, first, second, count);
}

#if defined(__x86_64__)
template <typename T>
__attribute__((target("avx2"))) static void
stepIn256(const StepNumbers<T> &numbers, T *weights, const T *gradients,
          T *first, T *second, int64_t count) {
  stepLoop(numbers, weights, gradients, first, second, count);
}

template <typename T>
__attribute__((target("avx512f"))) static void
stepIn512(const StepNumbers<T> &numbers, T *weights, const T *gradients,
          T *first, T *second, int64_t count) {
  stepLoop(numbers, weights, gradients, first, second, count);
}

/// The form with the longest vectors of this processor: all have the same bits.
template <typename T> static StepPart<T> chooseStep() {
  if (checkCpu("+avx512f").succeeded())
    return stepIn512<T>;
  return checkCpu("+avx2").succeeded() ? stepIn256<T> : stepPlain<T>;
}
#else
template <typename T> static StepPart<T> chooseStep() { return stepPlain<T>; }
#endif

template <typename T>
static void stepPart(const StepNumbers<T> &numbers, T *weights,
                     const T *gradients, T *first, T *second, int64_t count) {
  static const StepPart<T> chosen = chooseStep<T>();
  chosen(numbers, weights, gradients, first, second, count);
}

template <typename T>
void fovea::runtime::step(const OptimiserOptions &options, int64_t update,
                          double rate, T *weights, const T *gradients, T *first,
                          T *second, int64_t count, FoveaPool *pool) {
  const StepNumbers<T> numbers(options, update, rate);
  // In the order of StepList.
  if (launchOwn(kernelOf(options.rule).c_str(), weights,
                {inList(weights), inList(gradients), inList(first),
                 inList(second), bitsOf(numbers.rate), bitsOf(numbers.eps),
                 bitsOf(numbers.b1), bitsOf(numbers.b2), bitsOf(numbers.rest1),
                 bitsOf(numbers.rest2), bitsOf(numbers.decay),
                 bitsOf(numbers.size), bitsOf(numbers.root),
                 bitsOf(numbers.kept)},
                count))
    return;
  forChunks(count, pool, [&](int64_t begin, int64_t end) {
    stepPart(numbers, weights + begin, gradients + begin,
             first ? first + begin : nullptr, second ? second + begin : nullptr,
             end - begin);
  });
}

/// Wellons's `lowbias32`, of a place and an update.
static uint32_t diceOf(int64_t place, int64_t update) {
  auto mix = [](uint32_t x) {
    x = (x ^ x >> 16) * 0x7FEB352DU;
    x = (x ^ x >> 15) * 0x846CA68BU;
    return x ^ x >> 16;
  };
  return mix(static_cast<uint32_t>(place) ^
             mix(static_cast<uint32_t>(update) +
                 mix(static_cast<uint32_t>(place >> 32))));
}

/// Rounds up where the part cut off and `dice`, of 16 bits, give a carry.
static uint16_t drawBrain(float value, uint32_t dice) {
  return static_cast<uint16_t>((std::bit_cast<uint32_t>(value) + dice) >> 16);
}

/// The same as `stepPart`, with state in bf16. `number` is the place of the
/// first weight.
template <typename T>
static void stepPartInBrains(const StepNumbers<T> &numbers, int64_t update,
                             T *weights, const T *gradients, uint16_t *first,
                             uint16_t *second, int64_t number, int64_t count) {
  constexpr int64_t atOnce = 1024;
  T firstOwn[atOnce], secondOwn[atOnce];
  for (int64_t at = 0; at < count; at += atOnce) {
    int64_t most = std::min(atOnce, count - at);
    for (int64_t i = 0; i < most; ++i) {
      firstOwn[i] = first ? brainOf(first[at + i]) : 0;
      secondOwn[i] = second ? brainOf(second[at + i]) : 0;
    }
    stepPart(numbers, weights + at, gradients + at, firstOwn, secondOwn, most);
    for (int64_t i = 0; i < most; ++i) {
      uint32_t dice = diceOf(number + at + i, update);
      if (first)
        first[at + i] =
            drawBrain(static_cast<float>(firstOwn[i]), dice & 0xFFFF);
      if (second)
        second[at + i] =
            drawBrain(static_cast<float>(secondOwn[i]), dice >> 16);
    }
  }
}

template <typename T>
void fovea::runtime::stepInBrains(const OptimiserOptions &options,
                                  int64_t update, double rate, T *weights,
                                  const T *gradients, uint16_t *first,
                                  uint16_t *second, int64_t number,
                                  int64_t count, FoveaPool *pool) {
  const StepNumbers<T> numbers(options, update, rate);
  forChunks(count, pool, [&](int64_t begin, int64_t end) {
    stepPartInBrains(numbers, update, weights + begin, gradients + begin,
                     first ? first + begin : nullptr,
                     second ? second + begin : nullptr, number + begin,
                     end - begin);
  });
}

/// How many rows ahead memory is fetched, and at most how much of a row: the
/// processor fetches what follows.
static constexpr int64_t ahead = 4, fetchedBytes = 1024, lineBytes = 64;

/// Fetches the beginning of a row of all arrays.
template <typename T>
static void fetch(const StepArrays<T> &memory, const Segment<T> &row) {
  auto fetchIn = [&](const auto *array, int64_t place) {
    int64_t bytes = std::min<int64_t>(row.count * sizeof(*array), fetchedBytes);
    for (int64_t byte = 0; array && byte < bytes; byte += lineBytes)
      __builtin_prefetch(reinterpret_cast<const char *>(array + place) + byte);
  };
  int64_t place = row.begin - memory.begin;
  fetchIn(memory.weights, row.begin);
  fetchIn(memory.first, place);
  fetchIn(memory.second, place);
  fetchIn(memory.firstBrains, place);
  fetchIn(memory.secondBrains, place);
}

template <typename T>
void fovea::runtime::stepRows(const OptimiserOptions &options, int64_t update,
                              double rate, const StepArrays<T> &memory,
                              std::span<const Segment<T>> rows,
                              FoveaPool *pool) {
  const StepNumbers<T> numbers(options, update, rate);
  auto at = [](auto *array, int64_t place) {
    return array ? array + place : nullptr;
  };
  struct Frame {
    decltype(at) &place;
    const StepNumbers<T> &numbers;
    const StepArrays<T> &memory;
    std::span<const Segment<T>> rows;
    int64_t update;
  } frame{at, numbers, memory, rows, update};
  auto run = [](void *opaque, int64_t from, int64_t to) {
    auto &[at, numbers, memory, rows, update] = *static_cast<Frame *>(opaque);
    for (int64_t i = from; i < to; ++i) {
      // Rows lie anywhere: their memory is on its way while others have a step.
      if (i + ahead < to)
        fetch(memory, rows[i + ahead]);
      const Segment<T> &row = rows[i];
      T *weights = memory.weights + row.begin;
      int64_t place = row.begin - memory.begin;
      if (memory.isInBrains)
        stepPartInBrains(numbers, update, weights, row.values,
                         at(memory.firstBrains, place),
                         at(memory.secondBrains, place), row.begin, row.count);
      else
        stepPart(numbers, weights, row.values, at(memory.first, place),
                 at(memory.second, place), row.count);
    }
  };
  fovea_parallel(pool, run, &frame, static_cast<int64_t>(rows.size()),
                 /*atOnce=*/32);
}

template <typename T>
void fovea::runtime::limitRows(T *weights, int64_t rows, int64_t columns,
                               double most) {
  if (isOnDevice(weights)) {
    static thread_local SharedVector<double> room;
    if (room.size() < static_cast<size_t>(rows * lanesOfPart))
      room.resize(rows * lanesOfPart);
    if (launchOwn("limit", weights,
                  {inList(weights), columns, bitsOf(most), inList(room.data())},
                  rows, ownUnitsOfGroups))
      return;
  }
  for (int64_t row = 0; row < rows; ++row) {
    T *values = weights + row * columns;
    double norm = std::sqrt(sumOfSquares(values, columns, nullptr));
    if (norm > most)
      scale(values, most / norm, columns, nullptr);
  }
}

template std::vector<double>
fovea::runtime::partsOfSquares(const float *, int64_t, FoveaPool *);
template void fovea::runtime::clear(float *, int64_t);
template void fovea::runtime::addTo(float *, const float *, int64_t,
                                    FoveaPool *);
template void fovea::runtime::addRows(std::span<const RowSum<float>>,
                                      FoveaPool *);
template double fovea::runtime::sumOfSquares(const float *, int64_t,
                                             FoveaPool *);
template void fovea::runtime::scale(float *, double, int64_t, FoveaPool *);
template void fovea::runtime::roundToBf16(uint16_t *, const float *, int64_t,
                                          FoveaPool *);
template void fovea::runtime::clamp(float *, double, int64_t);
template void fovea::runtime::step(const OptimiserOptions &, int64_t, double,
                                   float *, const float *, float *, float *,
                                   int64_t, FoveaPool *);
template void fovea::runtime::stepInBrains(const OptimiserOptions &, int64_t,
                                           double, float *, const float *,
                                           uint16_t *, uint16_t *, int64_t,
                                           int64_t, FoveaPool *);
template double fovea::runtime::sumOfSquares(std::span<const Segment<float>>,
                                             int64_t, FoveaPool *);
template void fovea::runtime::stepRows(const OptimiserOptions &, int64_t,
                                       double, const StepArrays<float> &,
                                       std::span<const Segment<float>>,
                                       FoveaPool *);
template void fovea::runtime::limitRows(float *, int64_t, int64_t, double);

template std::vector<double>
fovea::runtime::partsOfSquares(const double *, int64_t, FoveaPool *);
template void fovea::runtime::clear(double *, int64_t);
template void fovea::runtime::addTo(double *, const double *, int64_t,
                                    FoveaPool *);
template void fovea::runtime::addRows(std::span<const RowSum<double>>,
                                      FoveaPool *);
template double fovea::runtime::sumOfSquares(const double *, int64_t,
                                             FoveaPool *);
template void fovea::runtime::scale(double *, double, int64_t, FoveaPool *);
template void fovea::runtime::roundToBf16(uint16_t *, const double *, int64_t,
                                          FoveaPool *);
template void fovea::runtime::clamp(double *, double, int64_t);
template void fovea::runtime::step(const OptimiserOptions &, int64_t, double,
                                   double *, const double *, double *, double *,
                                   int64_t, FoveaPool *);
template void fovea::runtime::stepInBrains(const OptimiserOptions &, int64_t,
                                           double, double *, const double *,
                                           uint16_t *, uint16_t *, int64_t,
                                           int64_t, FoveaPool *);
template double fovea::runtime::sumOfSquares(std::span<const Segment<double>>,
                                             int64_t, FoveaPool *);
template void fovea::runtime::stepRows(const OptimiserOptions &, int64_t,
                                       double, const StepArrays<double> &,
                                       std::span<const Segment<double>>,
                                       FoveaPool *);
template void fovea::runtime::limitRows(double *, int64_t, int64_t, double);
