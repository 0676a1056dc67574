//===- Optimiser.cpp - from gradients to new weights ----------------------===//

#include "runtime/train/Optimiser.h"
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

template <typename T>
void fovea::runtime::step(const OptimiserOptions &options, int64_t update,
                          double rateAsDouble, T *weights, const T *gradients,
                          T *first, T *second, int64_t count, FoveaPool *pool) {
  const T rate = static_cast<T>(rateAsDouble),
          eps = static_cast<T>(options.eps);
  const T b1 = static_cast<T>(options.b1), b2 = static_cast<T>(options.b2);
  const T rest1 = static_cast<T>(1 - options.b1);
  const T rest2 = static_cast<T>(1 - options.b2);
  const bool isDecoupled = options.rule == Rule::AdamW;
  const T decay = static_cast<T>(isDecoupled ? 0 : options.decay);
  const double t = static_cast<double>(update);
  const T size = static_cast<T>(rateAsDouble / (1 - powOf(options.b1, t)));
  const T root = static_cast<T>(std::sqrt(1 - powOf(options.b2, t)));
  const T kept =
      static_cast<T>(isDecoupled ? 1 - rateAsDouble * options.decay : 1);
  // In the order of StepList.
  if (launchOwn(kernelOf(options.rule).c_str(), weights,
                {inList(weights), inList(gradients), inList(first),
                 inList(second), bitsOf(rate), bitsOf(eps), bitsOf(b1),
                 bitsOf(b2), bitsOf(rest1), bitsOf(rest2), bitsOf(decay),
                 bitsOf(size), bitsOf(root), bitsOf(kept)},
                count))
    return;
  switch (options.rule) {
  case Rule::Sgd:
    return forChunks(count, pool, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        weights[i] -= rate * (gradients[i] + decay * weights[i]);
    });
  case Rule::Momentum:
    return forChunks(count, pool, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        first[i] = b1 * first[i] + (gradients[i] + decay * weights[i]);
        weights[i] -= rate * first[i];
      }
    });
  case Rule::RmsProp:
    return forChunks(count, pool, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T g = gradients[i] + decay * weights[i];
        second[i] = b2 * second[i] + rest2 * g * g;
        first[i] = b1 * first[i] + g / (std::sqrt(second[i]) + eps);
        weights[i] -= rate * first[i];
      }
    });
  case Rule::Adadelta:
    return forChunks(count, pool, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T g = gradients[i] + decay * weights[i];
        second[i] = b2 * second[i] + rest2 * g * g;
        T d = std::sqrt(first[i] + eps) / std::sqrt(second[i] + eps) * g;
        first[i] = b2 * first[i] + rest2 * d * d;
        weights[i] -= rate * d;
      }
    });
  case Rule::Adam:
  case Rule::AdamW:
    return forChunks(count, pool, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T g = gradients[i] + decay * weights[i];
        first[i] = b1 * first[i] + rest1 * g;
        second[i] = b2 * second[i] + rest2 * g * g;
        weights[i] = kept * weights[i] -
                     size * first[i] / (std::sqrt(second[i]) / root + eps);
      }
    });
  }
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

template <typename T>
void fovea::runtime::stepInBrains(const OptimiserOptions &options,
                                  int64_t update, double rate, T *weights,
                                  const T *gradients, uint16_t *first,
                                  uint16_t *second, int64_t number,
                                  int64_t count, FoveaPool *pool) {
  constexpr int64_t atOnce = 4096;
  forChunks(count, pool, [&](int64_t begin, int64_t end) {
    std::vector<T> own(2 * atOnce);
    for (int64_t at = begin; at < end; at += atOnce) {
      int64_t most = std::min(atOnce, end - at);
      T *firstOwn = own.data(), *secondOwn = firstOwn + atOnce;
      for (int64_t i = 0; i < most; ++i) {
        firstOwn[i] = first ? brainOf(first[at + i]) : 0;
        secondOwn[i] = second ? brainOf(second[at + i]) : 0;
      }
      step(options, update, rate, weights + at, gradients + at, firstOwn,
           secondOwn, most, nullptr);
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
  });
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
template void fovea::runtime::limitRows(double *, int64_t, int64_t, double);
