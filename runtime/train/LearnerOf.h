//===- LearnerOf.h - a learner of numbers of one type -----------*- C++ -*-===//
//
// What Learner.cpp, which makes updates, and LearnerFiles.cpp share.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_TRAIN_LEARNEROF_H
#define FOVEA_RUNTIME_TRAIN_LEARNEROF_H

#include "runtime/train/GradientSums.h"
#include "runtime/train/Learner.h"
#include "runtime/train/RowGradients.h"
#include "runtime/train/StepState.h"

#include <algorithm>

namespace fovea::runtime {

constexpr DType typeOf(float) { return DType::F32; }
constexpr DType typeOf(double) { return DType::F64; }

/// A parameter and its position in the arrays.
struct Span {
  std::string path;
  std::vector<int64_t> shape;
  int64_t begin = 0, count = 0;
  double clip = 0; // of the values of its gradient; 0: any
  bool isFrozen = false;
  bool isState = false;  // takes the sum of its updates
  bool isOnce = false;   // and there is one for all micro-batches
  bool isByRows = false; // programs list the rows of its gradient

  bool isStepped() const { return !isFrozen && !isState; }
  int64_t width() const { return count / shape[0]; }
};

template <typename T> class LearnerOf : public Learner {
public:
  LearnerOf(TensorFile initial, const TrainOptions &options, FoveaPool *pool,
            Team &team, bool dividesState);

  OwnedMemory weightsToLearn(uint64_t seed, int64_t update) override;
  OwnedMemory weights() override { return weightsFrom(current.get()); }
  OwnedMemory weightsToUse() override { return weightsFrom(used()); }
  void findRows(const Workspace &program) override;
  OwnedMemory gradients() override { return memoryOf(slopes.get()); }
  void beginGradients(int64_t batches) override {
    sums->begin(batches, slopes);
    rowNodes.clear();
    numBatches = batches;
    isFirstBatch = team.rank() == 0;
  }
  void addGradients(const Workspace &workspace) override;
  void sendGradients() override { sums->send(); }
  void sumGradients() override;
  double learn(int64_t update) override;
  std::string firstNotFinite() const override;
  std::string notFinite() const override;
  int64_t stateBytes() const override {
    int64_t each = options.hasBrainState ? sizeof(uint16_t) : sizeof(T);
    return (bool(first) + bool(second)) * (to - from) * each;
  }
  uint64_t weightsChecksum() const override;
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
  void forSpans(int64_t from, int64_t to, const Work &work) const {
    for (const Span &span : spans) {
      int64_t first = std::max(from, span.begin);
      int64_t last = std::min(to, span.begin + span.count);
      if (first < last)
        work(span, first, last);
    }
  }
  /// The gradients that are in memory, which may be some rows of a parameter.
  std::vector<Segment<T>> segments() const;
  double normOf() const;
  void clipGradients(double norm);
  void stepAll(int64_t update, double rate);
  /// Whether only some rows of a parameter have a step.
  bool stepsRows(const Span &span) const {
    return span.isByRows && (keepsRows || options.isLazy());
  }
  void stepRows(int64_t update, double rate);
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

  /// The gradients of parameters by rows, in their order: a process alone keeps
  /// lists; in a team they are in the arrays, like all others.
  using RowGradients = std::vector<RowGradient<T>>;
  bool keepsRows = false;
  int64_t numBatches = 1;
  std::vector<Range> ranges; // what `slopes` has
  std::vector<SumNode<RowGradients>> rowNodes;
  RowGradients rowSums;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_TRAIN_LEARNEROF_H
