//===- Learner.cpp - weights, gradients and their updates -----------------===//

#include "runtime/data/Checksum.h"
#include "runtime/data/Quantise.h"
#include "runtime/train/LearnerOf.h"
#include "runtime/train/WeightNoise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <utility>

using namespace fovea::runtime;

/// Returns whether `path` is `name`, or a parameter below it.
static bool isBelow(const std::string &path, const std::string &name) {
  return name.empty() || path == name ||
         path.compare(0, name.size() + 1, name + ".") == 0;
}

/// Returns the limit of the longest name in `limits` that contains `path`.
static double clipOf(const std::map<std::string, double> &limits,
                     const std::string &path) {
  double limit = 0;
  size_t longest = 0;
  for (const auto &[name, value] : limits) {
    if (!isBelow(path, name) || name.size() < longest)
      continue;
    longest = name.size();
    limit = value;
  }
  return limit;
}

template <typename T>
LearnerOf<T>::LearnerOf(TensorFile initial, const TrainOptions &options,
                        FoveaPool *pool, Team &team, bool dividesState)
    : options(options), pool(pool), team(team),
      isDivided(dividesState && !team.isAlone()) {
  // Each parameter begins at a multiple of a cache line.
  constexpr int64_t step = lineBytes / sizeof(T);
  for (const auto &[path, tensor] : initial.tensors) {
    spans.push_back({path, wideShape(path, tensor), total, 1,
                     clipOf(options.clipValue, path)});
    int64_t &count = spans.back().count;
    for (int64_t extent : spans.back().shape)
      count *= extent;
    for (const std::string &name : options.frozen)
      spans.back().isFrozen |= isBelow(path, name);
    if (auto state = options.states.find(path); state != options.states.end()) {
      spans.back().isState = !spans.back().isFrozen;
      spans.back().isOnce = state->second;
    }
    total += (count + step - 1) / step * step;
  }
  // A part of the norm is the norm of whole parts.
  sums = std::make_unique<GradientSums<T>>(
      team, total, isDivided ? valuesOfPart : step, pool);
  from = isDivided ? sums->begin() : 0;
  to = isDivided ? sums->end() : total;
  current = allocateArray<T>(total);
  int states = numStates(options.optimiser);
  if (states > 0)
    first.allocate(to - from, options.hasBrainState);
  if (states > 1)
    second.allocate(to - from, options.hasBrainState);
  if (options.noise > 0)
    noisy = allocateArray<T>(total);
  if (!options.states.empty())
    updates = allocateArray<T>(total);
  if (options.roundsWeights)
    rounded = allocateArray<uint16_t>(total);
  for (const Span &span : spans) {
    Tensor &tensor = initial.tensors.at(span.path);
    widenInto(span.path, tensor, typeOf(T()),
              reinterpret_cast<std::byte *>(current.get() + span.begin));
    tensor = Tensor();
  }
  if (options.polyak > 0) {
    average = allocateArray<T>(total);
    std::copy_n(current.get(), total, average.get());
  }
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

template <typename T>
OwnedMemory LearnerOf<T>::weightsToLearn(uint64_t seed, int64_t update) {
  if (!noisy || double(update) <= options.noiseAfter)
    return weights();
  addNoise(WeightNoise{seed, update, options.noise}, noisy.get(), current.get(),
           0, total, pool);
  for (const Span &span : spans)
    if (!span.isStepped())
      std::copy_n(current.get() + span.begin, span.count,
                  noisy.get() + span.begin);
  return weightsFrom(noisy.get());
}

template <typename T> uint64_t LearnerOf<T>::weightsChecksum() const {
  return checksum(
      {reinterpret_cast<const char *>(current.get()), total * sizeof(T)});
}

/// What programs read of these weights.
template <typename T> OwnedMemory LearnerOf<T>::weightsFrom(T *array) {
  OwnedMemory memory = memoryOf(array);
  if (!rounded)
    return memory;
  roundToBf16(rounded.get(), array, total, pool);
  for (const Span &span : spans)
    memory[narrowName(span.path, *findStorageFormat("bf16"), 0)] =
        rounded.get() + span.begin;
  return memory;
}

template <typename T> void LearnerOf<T>::findRows(const Workspace &program) {
  ranges = {{0, 0}};
  for (Span &span : spans) {
    span.isByRows = span.isStepped() && listsRows(program, span.path);
    if (!span.isByRows)
      continue;
    keepsRows = team.isAlone();
    ranges.back().to = span.begin;
    ranges.push_back({&span == &spans.back() ? total : (&span + 1)->begin, 0});
  }
  ranges.back().to = total;
  if (keepsRows)
    sums->setRanges(ranges);
}

template <typename T>
void LearnerOf<T>::addGradients(const Workspace &workspace) {
  T *values = sums->next();
  std::vector<RowSum<T>> rows;
  RowGradients listed;
  for (const Span &span : spans) {
    if (span.isFrozen || (span.isOnce && !isFirstBatch))
      continue;
    if (span.isByRows) {
      listed.push_back(
          readRows<T>(workspace, span.path, span.shape[0], span.width()));
      const RowGradient<T> &own = listed.back();
      for (size_t i = 0; i < own.rows.size() && !keepsRows; ++i)
        std::copy_n(own.at(i, span.width()), span.width(),
                    values + span.begin + own.rows[i] * span.width());
      continue;
    }
    std::string name = "grad/" + span.path;
    if (const T *gradient = workspace.wholeOutput<T>(name)) {
      rows.push_back({values + span.begin, gradient, span.count});
    } else {
      waitForDevice();
      workspace.addOutput(name, values + span.begin);
    }
  }
  addRows(std::span<const RowSum<T>>(rows), pool);
  sums->add();
  if (keepsRows) {
    int64_t number = rowNodes.empty() ? 0 : rowNodes.back().to;
    addToTree(rowNodes, {number, number + 1, std::move(listed)}, numBatches,
              [&](RowGradients &left, RowGradients &right) {
                size_t next = 0;
                for (const Span &span : spans)
                  if (span.isByRows) {
                    addRowsTo(left[next], right[next], span.width());
                    ++next;
                  }
              });
  }
  isFirstBatch = false;
  waitForDevice();
}

/// Each process has its chunk of `array`; afterwards all have all of it.
template <typename T> void LearnerOf<T>::gatherChunks(T *array) {
  team.gather(array, sums->lines(), lineBytes);
}

template <typename T> void LearnerOf<T>::sumGradients() {
  sums->finish(slopes);
  if (!isDivided)
    gatherChunks(slopes.get());
  if (!keepsRows)
    return;
  rowSums.assign(std::count_if(spans.begin(), spans.end(),
                               [](const Span &span) { return span.isByRows; }),
                 {});
  if (!rowNodes.empty())
    rowSums = std::move(rowNodes.front().values);
  rowNodes.clear();
}

template <typename T> std::vector<Segment<T>> LearnerOf<T>::segments() const {
  std::vector<Segment<T>> all;
  auto range = ranges.begin();
  auto next = rowSums.begin();
  for (const Span &span : spans) {
    if (!span.isByRows)
      continue;
    all.push_back(
        {range->from, range->to - range->from, slopes.get() + range->from});
    ++range;
    for (size_t i = 0; i < next->rows.size(); ++i)
      all.push_back({span.begin + next->rows[i] * span.width(), span.width(),
                     next->at(i, span.width())});
    ++next;
  }
  all.push_back(
      {range->from, range->to - range->from, slopes.get() + range->from});
  return all;
}

/// The norm of all gradients: partial sums are added in order, whichever
/// process has them.
template <typename T> double LearnerOf<T>::normOf() const {
  if (keepsRows)
    return std::sqrt(
        sumOfSquares(std::span<const Segment<T>>(segments()), total, pool));
  if (!isDivided)
    return std::sqrt(sumOfSquares(slopes.get(), total, pool));
  Parts parts;
  int64_t count = 0;
  for (int64_t values : sums->chunks().counts) {
    parts.places.push_back(count);
    parts.counts.push_back((values + valuesOfPart - 1) / valuesOfPart);
    count += parts.counts.back();
  }
  std::vector<double> squares(count);
  std::vector<double> own =
      partsOfSquares(slopes.get() + from, to - from, pool);
  std::copy(own.begin(), own.end(),
            squares.begin() + parts.places[team.rank()]);
  team.gather(squares.data(), parts, sizeof(double));
  double sum = 0;
  for (double square : squares)
    sum += square;
  return std::sqrt(sum);
}

/// Takes the updates of states out of the sums, so that gradients alone have a
/// norm. Returns false, and takes nothing, if one is not finite.
template <typename T> bool LearnerOf<T>::takeUpdates() {
  waitForDevice();
  bool isFinite = true;
  forSpans(from, to, [&](const Span &span, int64_t first, int64_t last) {
    for (int64_t i = first; i < last && span.isState; ++i)
      isFinite &= bool(std::isfinite(slopes[i]));
  });
  if (isDivided)
    for (const std::string &other : team.gatherTexts(isFinite ? "" : "not"))
      isFinite &= other.empty();
  if (isFinite)
    forSpans(from, to, [&](const Span &span, int64_t first, int64_t last) {
      for (int64_t i = first; i < last && span.isState; ++i)
        updates[i] = std::exchange(slopes[i], T(0));
    });
  return isFinite;
}

/// Writes the updates into the states.
template <typename T> void LearnerOf<T>::putUpdates() {
  forSpans(from, to, [&](const Span &span, int64_t first, int64_t last) {
    if (span.isState)
      std::copy(updates.get() + first, updates.get() + last,
                current.get() + first);
  });
}

template <typename T> void LearnerOf<T>::clipGradients(double norm) {
  auto next = rowSums.begin();
  for (const Span &span : spans) {
    if (span.isByRows && keepsRows) {
      std::vector<T> &values = (next++)->values;
      if (span.clip > 0)
        clamp(values.data(), span.clip, static_cast<int64_t>(values.size()));
    } else if (span.clip > 0) {
      int64_t first = std::max(from, span.begin);
      int64_t last = std::min(to, span.begin + span.count);
      if (first < last)
        clamp(slopes.get() + first, span.clip, last - first);
    }
  }
  if (options.clip <= 0)
    return;
  double left = options.clipValue.empty() ? norm : normOf();
  if (left <= options.clip)
    return;
  double factor = options.clip / left;
  if (!keepsRows)
    return scale(slopes.get() + from, factor, to - from, pool);
  for (Range range : ranges)
    scale(slopes.get() + range.from, factor, range.to - range.from, pool);
  for (RowGradient<T> &rows : rowSums)
    scale(rows.values.data(), factor, static_cast<int64_t>(rows.values.size()),
          pool);
}

/// Makes the step of all weights, except where only some rows have one.
template <typename T> void LearnerOf<T>::stepAll(int64_t update, double rate) {
  auto stepOver = [&](int64_t begin, int64_t end) {
    begin = std::max(begin, from);
    end = std::min(end, to);
    if (begin >= end)
      return;
    auto at = [&](auto &array) {
      return array ? array.get() + (begin - from) : nullptr;
    };
    if (options.hasBrainState)
      stepInBrains(options.optimiser, update, rate, current.get() + begin,
                   slopes.get() + begin, at(first.brains), at(second.brains),
                   begin, end - begin, pool);
    else
      step(options.optimiser, update, rate, current.get() + begin,
           slopes.get() + begin, at(first.reals), at(second.reals), end - begin,
           pool);
  };
  // Everything between two parameters without such a step, at once.
  int64_t begin = 0;
  for (const Span &span : spans) {
    if (span.isStepped() && !stepsRows(span))
      continue;
    stepOver(begin, span.begin);
    begin = span.begin + span.count;
  }
  stepOver(begin, total);
}

/// Makes the step of the rows that have gradients. If updates are lazy, the
/// other rows keep what the optimiser knows of them; if not, they have a step
/// that changes nothing.
template <typename T> void LearnerOf<T>::stepRows(int64_t update, double rate) {
  std::vector<Segment<T>> rows;
  auto add = [&](const Span &span, int64_t row, const T *values) {
    auto isZero = [](T value) { return value == 0; };
    if (!options.isLazy() ||
        !std::all_of(values, values + span.width(), isZero))
      rows.push_back({span.begin + row * span.width(), span.width(), values});
  };
  auto next = rowSums.begin();
  for (const Span &span : spans) {
    if (!stepsRows(span))
      continue;
    if (keepsRows) {
      for (size_t i = 0; i < next->rows.size(); ++i)
        add(span, next->rows[i], next->at(i, span.width()));
      ++next;
    } else {
      for (int64_t row = 0; row < span.shape[0]; ++row)
        add(span, row, slopes.get() + span.begin + row * span.width());
    }
  }
  if (rows.empty())
    return;
  StepArrays<T> memory{current.get(),
                       first.reals.get(),
                       second.reals.get(),
                       first.brains.get(),
                       second.brains.get(),
                       options.hasBrainState,
                       from};
  fovea::runtime::stepRows(options.optimiser, update, rate, memory,
                           std::span<const Segment<T>>(rows), pool);
}

template <typename T> double LearnerOf<T>::learn(int64_t update) {
  double norm = !updates || takeUpdates()
                    ? normOf()
                    : std::numeric_limits<double>::infinity();
  if (!std::isfinite(norm)) {
    // The explanation examines all of them.
    if (isDivided)
      gatherChunks(slopes.get());
    return norm;
  }
  clipGradients(norm);
  double rate = rateAt(options.rate, update);
  stepAll(update, rate);
  stepRows(update, rate);
  waitForDevice();
  if (updates)
    putUpdates();
  if (isDivided)
    gatherChunks(current.get());
  if (options.columnNorm > 0)
    for (const Span &span : spans)
      if (span.shape.size() > 1 && span.count > 0 && span.isStepped())
        limitRows(current.get() + span.begin, span.shape[0],
                  span.count / span.shape[0], options.columnNorm);
  waitForDevice();
  moveAverage();
  return norm;
}

/// Every process has all weights, so each of them has all of the average.
template <typename T> void LearnerOf<T>::moveAverage() {
  if (!average)
    return;
  T share = static_cast<T>(1 - options.polyak);
  for (int64_t i = 0; i < total; ++i)
    average[i] += share * (current[i] - average[i]);
  // A state is not averaged.
  for (const Span &span : spans)
    if (span.isState)
      std::copy_n(current.get() + span.begin, span.count,
                  average.get() + span.begin);
}

/// Returns the first parameter with a value of `array`, from .. to-1, that is
/// not finite.
template <typename T>
std::string LearnerOf<T>::firstNotFinite(const T *array, int64_t from,
                                         int64_t to) const {
  std::string path;
  if (array)
    forSpans(from, to, [&](const Span &span, int64_t first, int64_t last) {
      for (int64_t i = first; path.empty() && i < last; ++i)
        if (!std::isfinite(array[i - from]))
          path = span.path;
    });
  return path;
}

template <typename T> std::string LearnerOf<T>::firstNotFinite() const {
  auto isFinite = [](T value) { return std::isfinite(value); };
  auto next = rowSums.begin();
  for (const Span &span : spans) {
    const T *values = slopes.get() + span.begin;
    int64_t count = span.count;
    if (span.isByRows && keepsRows) {
      values = next->values.data();
      count = static_cast<int64_t>(next->values.size());
      ++next;
    }
    if (!std::all_of(values, values + count, isFinite))
      return fmt::format("{} of '{}'", span.isState ? "update" : "gradient",
                         span.path);
  }
  return "";
}

template <typename T> std::string LearnerOf<T>::notFinite() const {
  if (std::string path = firstNotFinite(current.get()); !path.empty())
    return fmt::format("the weights of '{}' are", path);
  for (const State *state : {&first, &second}) {
    std::string path;
    state->read(
        [&](const T *values) { path = firstNotFinite(values, from, to); });
    if (isDivided)
      for (const std::string &other : team.gatherTexts(path))
        if (path.empty())
          path = other;
    if (!path.empty())
      return fmt::format("the optimiser's values of '{}' are", path);
  }
  return "";
}

std::unique_ptr<Learner> Learner::create(TensorFile initial,
                                         const TrainOptions &options,
                                         bool isDouble, FoveaPool *pool,
                                         Team &team, bool dividesState) {
  if (isDouble)
    return std::make_unique<LearnerOf<double>>(std::move(initial), options,
                                               pool, team, dividesState);
  return std::make_unique<LearnerOf<float>>(std::move(initial), options, pool,
                                            team, dividesState);
}
