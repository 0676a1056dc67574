//===- Learner.cpp - weights, gradients and their updates -----------------===//

#include "runtime/train/Learner.h"
#include "runtime/data/Checksum.h"
#include "runtime/data/Quantise.h"
#include "runtime/train/GradientSums.h"
#include "runtime/train/StepState.h"
#include "runtime/train/WeightNoise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <utility>

using namespace fovea::runtime;

namespace {

/// A parameter and its position in the arrays.
struct Span {
  std::string path;
  std::vector<int64_t> shape;
  int64_t begin = 0, count = 0;
  double clip = 0; // of the values of its gradient; 0: any
  bool isFrozen = false;
  bool isState = false; // takes the sum of its updates
  bool isOnce = false;  // and there is one for all micro-batches

  bool isStepped() const { return !isFrozen && !isState; }
};

template <typename T> class LearnerOf : public Learner {
public:
  LearnerOf(TensorFile initial, const TrainOptions &options, FoveaPool *pool,
            Team &team, bool dividesState);

  OwnedMemory weightsToLearn(uint64_t seed, int64_t update) override;
  OwnedMemory weights() override { return weightsFrom(current.get()); }
  OwnedMemory weightsToUse() override { return weightsFrom(used()); }
  OwnedMemory gradients() override { return memoryOf(slopes.get()); }
  void beginGradients(int64_t batches) override {
    sums->begin(batches, slopes);
    isFirstBatch = team.rank() == 0;
  }
  void addGradients(const Workspace &workspace) override;
  void sendGradients() override { sums->send(); }
  void sumGradients() override;
  double learn(int64_t update) override;
  std::string firstNotFinite() const override {
    std::string path = firstNotFinite(slopes.get());
    auto span = std::find_if(spans.begin(), spans.end(), [&](const Span &span) {
      return span.path == path;
    });
    return span == spans.end()
               ? ""
               : fmt::format("{} of '{}'",
                             span->isState ? "update" : "gradient", path);
  }
  std::string notFinite() const override;
  int64_t stateBytes() const override {
    int64_t each = options.hasBrainState ? sizeof(uint16_t) : sizeof(T);
    return (bool(first) + bool(second)) * (to - from) * each;
  }
  uint64_t weightsChecksum() const override {
    return checksum(
        {reinterpret_cast<const char *>(current.get()), total * sizeof(T)});
  }
  void shareWeights() override {
    team.broadcast(current.get(), total * int64_t(sizeof(T)));
  }
  void storeWeights(TensorFile &file) const override {
    storeArray(file, "", used());
  }
  void store(TensorFile &file) override;
  std::vector<std::string> load(const TensorFile &file,
                                bool isSameRule) override;

private:
  using Memory = OwnArray<T>;
  using State = StepState<T>;

  T *used() const { return average ? average.get() : current.get(); }
  void moveAverage();
  OwnedMemory weightsFrom(T *array);
  OwnedMemory memoryOf(T *array) const {
    OwnedMemory memory;
    for (const Span &span : spans)
      if (array)
        memory[span.path] = array + span.begin;
    return memory;
  }
  std::string firstNotFinite(const T *array, int64_t from = 0,
                             int64_t to = INT64_MAX) const;
  /// Calls `work(span, first, last)` for the part of each span in from .. to.
  template <typename Work>
  void forSpans(int64_t from, int64_t to, const Work &work) const;
  double normOf() const;
  void gatherChunks(T *array);
  void storeState(TensorFile &file, const std::string &prefix,
                  const State &state);
  void gatherState(TensorFile &file, const std::string &prefix, const T *state);
  void storeArray(TensorFile &file, const std::string &prefix,
                  const T *array) const;
  void compare(const TensorFile &file, const std::string &prefix,
               const std::string &what,
               std::vector<std::string> &mistakes) const;
  void loadArray(const TensorFile &file, const std::string &prefix, T *array,
                 int64_t from, int64_t to);

  bool takeUpdates();
  void putUpdates();

  const TrainOptions options;
  FoveaPool *pool;
  Team &team;
  const bool isDivided;
  std::vector<Span> spans;
  int64_t total = 0;
  std::unique_ptr<GradientSums<T>> sums;
  /// Returns the values that this process updates: all, or its chunk if the
  /// state is sharded.
  int64_t from = 0, to = 0;
  Memory current, slopes, noisy;
  OwnArray<uint16_t> rounded; // the weights that programs read now, in bf16
  Memory average;      // of the weights after each update; null: none is kept
  State first, second; // from .. to-1
  Memory updates;      // of states, while the gradients make a step
  bool isFirstBatch = false;
};

} // namespace

static constexpr DType typeOf(float) { return DType::F32; }
static constexpr DType typeOf(double) { return DType::F64; }

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

template <typename T>
template <typename Work>
void LearnerOf<T>::forSpans(int64_t from, int64_t to, const Work &work) const {
  for (const Span &span : spans) {
    int64_t first = std::max(from, span.begin);
    int64_t last = std::min(to, span.begin + span.count);
    if (first < last)
      work(span, first, last);
  }
}

template <typename T>
void LearnerOf<T>::addGradients(const Workspace &workspace) {
  T *values = sums->next();
  std::vector<RowSum<T>> rows;
  for (const Span &span : spans) {
    if (span.isFrozen || (span.isOnce && !isFirstBatch))
      continue;
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
}

/// The norm of all gradients: partial sums are added in order, whichever
/// process has them.
template <typename T> double LearnerOf<T>::normOf() const {
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
  forSpans(from, to, [&](const Span &span, int64_t first, int64_t last) {
    if (span.clip > 0)
      clamp(slopes.get() + first, span.clip, last - first);
  });
  if (options.clip > 0) {
    double left = options.clipValue.empty() ? norm : normOf();
    if (left > options.clip)
      scale(slopes.get() + from, options.clip / left, to - from, pool);
  }
  double rate = rateAt(options.rate, update);
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
  // Everything between two parameters without a step, at once.
  int64_t begin = 0;
  for (const Span &span : spans) {
    if (span.isStepped())
      continue;
    stepOver(begin, span.begin);
    begin = span.begin + span.count;
  }
  stepOver(begin, total);
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

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

template <typename T>
void LearnerOf<T>::storeArray(TensorFile &file, const std::string &prefix,
                              const T *array) const {
  for (const Span &span : spans) {
    Tensor &tensor = file.tensors[prefix + span.path];
    tensor.type = typeOf(T());
    tensor.shape = span.shape;
    tensor.bytes.resize(span.count * sizeof(T));
    if (span.count > 0)
      std::memcpy(tensor.bytes.data(), array + span.begin, tensor.bytes.size());
  }
}

template <typename T>
void LearnerOf<T>::compare(const TensorFile &file, const std::string &prefix,
                           const std::string &what,
                           std::vector<std::string> &mistakes) const {
  for (const Span &span : spans) {
    auto found = file.tensors.find(prefix + span.path);
    bool isMissing = found == file.tensors.end();
    if (!isMissing && found->second.shape == span.shape &&
        found->second.type == typeOf(T()))
      continue;
    mistakes.push_back(
        fmt::format("{}'{}' is {} {} in the model but {} in the resumed run",
                    what, span.path, nameOf(typeOf(T())), shapeText(span.shape),
                    isMissing ? "missing"
                              : fmt::format("{} {}", nameOf(found->second.type),
                                            shapeText(found->second.shape))));
  }
  for (const auto &[name, tensor] : file.tensors) {
    if (!name.starts_with(prefix))
      continue;
    std::string path = name.substr(prefix.size());
    if (std::none_of(spans.begin(), spans.end(),
                     [&](const Span &span) { return span.path == path; }))
      mistakes.push_back(fmt::format(
          "{}'{}' of the resumed run is not a parameter of the model", what,
          path));
  }
}

/// Reads the values from .. to-1 into `array`.
template <typename T>
void LearnerOf<T>::loadArray(const TensorFile &file, const std::string &prefix,
                             T *array, int64_t from, int64_t to) {
  forSpans(from, to, [&](const Span &span, int64_t first, int64_t last) {
    const Tensor &tensor = file.tensors.at(prefix + span.path);
    std::memcpy(array + (first - from),
                tensor.bytes.data() + (first - span.begin) * sizeof(T),
                (last - first) * sizeof(T));
  });
}

/// Stores values that bf16 has in two bytes each.
static void narrow(TensorFile &file, const std::string &prefix) {
  for (auto &[name, tensor] : file.tensors)
    if (name.starts_with(prefix))
      tensor = Tensor::of(DType::BF16, tensor.shape, tensor.toDoubles());
}

/// Sharded state must be gathered while it is stored.
template <typename T>
void LearnerOf<T>::storeState(TensorFile &file, const std::string &prefix,
                              const State &state) {
  if (!state)
    return;
  state.read([&](const T *values) {
    if (isDivided)
      gatherState(file, prefix, values);
    else if (team.isFirst())
      storeArray(file, prefix, values);
  });
  // What is read from a file has at most the type of the weights.
  if (state.brains && team.isFirst() && typeOf(T()) == DType::F32)
    narrow(file, prefix);
}

template <typename T>
void LearnerOf<T>::gatherState(TensorFile &file, const std::string &prefix,
                               const T *state) {
  Memory all = team.isFirst() ? allocateArray<T>(total) : nullptr;
  Parts in = sums->lines(), out = in;
  int64_t own = in.counts[team.rank()];
  out.counts.assign(team.size(), 0);
  out.places.assign(team.size(), 0);
  out.counts[0] = own;
  if (!team.isFirst())
    in.counts.assign(team.size(), 0);
  team.finish(team.beginExchange(state, out, all.get(), in, lineBytes));
  if (all)
    storeArray(file, prefix, all.get());
}

template <typename T> void LearnerOf<T>::store(TensorFile &file) {
  if (team.isFirst())
    storeArray(file, "weights/", current.get());
  if (team.isFirst() && average)
    storeArray(file, "average/", average.get());
  storeState(file, "first/", first);
  storeState(file, "second/", second);
}

template <typename T>
std::vector<std::string> LearnerOf<T>::load(const TensorFile &file,
                                            bool isSameRule) {
  std::vector<std::string> mistakes;
  compare(file, "weights/", "", mistakes);
  if (!isSameRule)
    return mistakes;
  // The state need not repeat errors that the weights report.
  if (mistakes.empty() && first)
    compare(file, "first/", "the first state of ", mistakes);
  if (mistakes.empty() && second)
    compare(file, "second/", "the second state of ", mistakes);
  // An average that begins now begins with the weights.
  bool hasAverage = false;
  for (const Span &span : spans)
    hasAverage |= file.tensors.contains("average/" + span.path);
  if (mistakes.empty() && average && hasAverage)
    compare(file, "average/", "the average of ", mistakes);
  if (!mistakes.empty())
    return mistakes;
  loadArray(file, "weights/", current.get(), 0, total);
  if (average)
    loadArray(file, hasAverage ? "average/" : "weights/", average.get(), 0,
              total);
  if (first)
    first.write(
        [&](T *values) { loadArray(file, "first/", values, from, to); });
  if (second)
    second.write(
        [&](T *values) { loadArray(file, "second/", values, from, to); });
  return mistakes;
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
