//===- Learner.h - weights, gradients and their updates -------------------===//
//
// Holds what training changes: the weights, in the element type of compiled
// code, which reads them here; the sums of their gradients; and the state of
// the optimiser. Knows nothing of batches, epochs and files.
//
// Of a team each process has a learner with the same weights, and all call the
// same functions in the same order. Whether the state of the optimiser is
// divided among them or each has all of it, the weights have the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_TRAIN_LEARNER_H
#define FOVEA_RUNTIME_TRAIN_LEARNER_H

#include "runtime/data/SafeTensors.h"
#include "runtime/memory/Workspace.h"
#include "runtime/train/Optimiser.h"
#include "runtime/train/Team.h"

namespace fovea::runtime {

class Learner {
public:
  /// Takes the names, extents and values of the weights from `initial`.
  static std::unique_ptr<Learner> create(const TensorFile &initial,
                                         const TrainOptions &options,
                                         bool isDouble, FoveaPool *pool,
                                         Team &team = Team::alone(),
                                         bool dividesState = false);
  virtual ~Learner() = default;

  /// What the compiled code of the next update reads: the weights, or where
  /// there is noise on weights, a copy with that of (seed, update).
  virtual OwnedMemory weightsToLearn(uint64_t seed, int64_t update) = 0;
  virtual OwnedMemory weights() = 0;

  /// Of the gradients there is no memory before they are summed once.
  virtual OwnedMemory gradients() = 0;
  /// Begins an update of `batches` micro-batches, of which this process runs
  /// its share (Team::shareOf).
  virtual void beginGradients(int64_t batches = 1) = 0;
  /// Takes the outputs `grad/<path>` of a run: of the next micro-batch.
  virtual void addGradients(const Workspace &workspace) = 0;
  /// After the share of this process, whether all of it was run or not.
  virtual void sendGradients() = 0;
  /// The sums of all micro-batches, in the order of SumTree.h. Where the state
  /// is divided, each process has a part.
  virtual void sumGradients() = 0;

  /// Makes the `update`th update, from 1. Returns the norm of the gradients
  /// before they are clipped; when it is not finite, nothing has changed.
  virtual double learn(int64_t update) = 0;
  /// The first parameter whose gradient is not finite; empty: none.
  virtual std::string firstNotFinite() const = 0;
  /// What of the weights and the state of the optimiser is not finite, `the
  /// weights of 'w' are`; empty: nothing. Gradients that are finite may make
  /// updates that are not.
  virtual std::string notFinite() const = 0;

  /// The bytes of the state of the optimiser that this process has.
  virtual int64_t stateBytes() const = 0;

  /// The same of all weights: whether two processes have the same.
  virtual uint64_t weightsChecksum() const = 0;
  /// Takes the weights of rank 0.
  virtual void shareWeights() = 0;

  /// The weights as a file of weights has them.
  virtual void storeWeights(TensorFile &file) const = 0;
  /// Weights and state, under names of their own. Of a team rank 0 gets them.
  virtual void store(TensorFile &file) = 0;
  /// Reads what `store` wrote. Where the file is that of another model, one
  /// sentence for each thing that differs, and nothing has changed. Of another
  /// optimiser (not `isSameRule`) only the weights are compared.
  virtual std::vector<std::string> load(const TensorFile &file,
                                        bool isSameRule) = 0;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_TRAIN_LEARNER_H
