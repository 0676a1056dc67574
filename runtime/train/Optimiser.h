//===- Optimiser.h - from gradients to new weights ------------------------===//
//
// All parameters are consecutive in one array, gradients and the state of the
// optimiser likewise. What is computed does not depend on the number of
// threads. Where the arrays lie on a device it is computed there, in the same
// bits: what gives nothing back has been launched, and is waited for by
// `waitForDevice`.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_TRAIN_OPTIMISER_H
#define FOVEA_RUNTIME_TRAIN_OPTIMISER_H

#include "runtime/ThreadPool.h"
#include "runtime/device/OwnKernels.h"
#include "runtime/train/TrainOptions.h"

#include <vector>

namespace fovea::runtime {

/// How many state arrays a rule keeps: at most 2, initially zero.
int numStates(const OptimiserOptions &options);

/// Returns the sum of squares; T is float or double.
template <typename T>
double sumOfSquares(const T *values, int64_t count, FoveaPool *pool);

/// Returns the sums of `valuesOfPart` values each.
template <typename T>
std::vector<double> partsOfSquares(const T *values, int64_t count,
                                   FoveaPool *pool);

/// Consecutive numbers of an array, which may lie elsewhere.
template <typename T> struct Segment {
  int64_t begin = 0, count = 0; // in the array
  const T *values = nullptr;
};

/// The sum of squares of an array of `count` numbers that are zero outside of
/// the segments, which are in ascending order: the same bits.
template <typename T>
double sumOfSquares(std::span<const Segment<T>> segments, int64_t count,
                    FoveaPool *pool);

/// values = 0.
template <typename T> void clear(T *values, int64_t count);

/// sums += values.
template <typename T>
void addTo(T *sums, const T *values, int64_t count, FoveaPool *pool);

/// The same for several rows, whose memory does not overlap.
template <typename T> struct RowSum {
  T *sums = nullptr;
  const T *values = nullptr;
  int64_t count = 0;
};
template <typename T>
void addRows(std::span<const RowSum<T>> rows, FoveaPool *pool);

/// values *= factor.
template <typename T>
void scale(T *values, double factor, int64_t count, FoveaPool *pool);

/// rounded = values, rounded to the nearest numbers of bf16.
template <typename T>
void roundToBf16(uint16_t *rounded, const T *values, int64_t count,
                 FoveaPool *pool);

/// The same update with state in bf16. `number` is the place of the first value
/// among all of the model. A state is rounded up with a probability that is the
/// part cut off, by a hash of the value's place and the update: to the nearest,
/// it would stay where an update changes less than half of its last digit. So
/// results depend neither on threads nor on processes.
template <typename T>
void stepInBrains(const OptimiserOptions &options, int64_t update, double rate,
                  T *weights, const T *gradients, uint16_t *first,
                  uint16_t *second, int64_t number, int64_t count,
                  FoveaPool *pool);

/// Clips values to -limit .. limit.
template <typename T> void clamp(T *values, double limit, int64_t count);

/// One update, the `update`th from 1, of `count` weights. `first` and
/// `second` are the states that the rule keeps, null where it keeps none.
template <typename T>
void step(const OptimiserOptions &options, int64_t update, double rate,
          T *weights, const T *gradients, T *first, T *second, int64_t count,
          FoveaPool *pool);

/// All weights, and what the rule keeps for those from `begin` on, in one of
/// both types.
template <typename T> struct StepArrays {
  T *weights = nullptr, *first = nullptr, *second = nullptr;
  uint16_t *firstBrains = nullptr, *secondBrains = nullptr;
  bool isInBrains = false;
  int64_t begin = 0;
};

/// The same update, of the weights for which `rows` has gradients.
template <typename T>
void stepRows(const OptimiserOptions &options, int64_t update, double rate,
              const StepArrays<T> &memory, std::span<const Segment<T>> rows,
              FoveaPool *pool);

/// Shrinks each row of [rows, columns] to a norm of at most `most`.
template <typename T>
void limitRows(T *weights, int64_t rows, int64_t columns, double most);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_TRAIN_OPTIMISER_H
