//===- Learner.h - weights, gradients and their updates -------------------===//
//
// Holds everything that training changes: the weights, in the element type of
// compiled code, which reads them here; the sums of their gradients; and the
// optimiser state. Independent of batches, epochs and files.
//
// In a team, each process has a learner with the same weights, and all call the
// same functions in the same order. Weights have the same bits whether the
// optimiser state is sharded or replicated.
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
  /// Takes the names, extents and values of the weights from `initial`, whose
  /// tensors are freed one by one.
  static std::unique_ptr<Learner> create(TensorFile initial,
                                         const TrainOptions &options,
                                         bool isDouble, FoveaPool *pool,
                                         Team &team = Team::alone(),
                                         bool dividesState = false);
  virtual ~Learner() = default;

  /// The weights for the next update: the weights, or with weight noise a copy
  /// with the noise of (seed, update). If the options ask for it, this function
  /// and the next two add rounded weights under their own names. They are valid
  /// until one of the three is called again.
  virtual OwnedMemory weightsToLearn(uint64_t seed, int64_t update) = 0;
  virtual OwnedMemory weights() = 0;
  /// The weights to validate and to store: the weights, or the moving average
  /// of them that the options ask for.
  virtual OwnedMemory weightsToUse() = 0;

  /// Asks a program which gradients it lists by rows, before the first update.
  virtual void findRows(const Workspace &program) = 0;

  /// Gradients get memory at the first summation.
  virtual OwnedMemory gradients() = 0;
  /// Begins an update of `batches` micro-batches; this process runs its share
  /// of them (Team::shareOf).
  virtual void beginGradients(int64_t batches = 1) = 0;
  /// Takes the outputs `grad/<path>` of the next micro-batch.
  virtual void addGradients(const Workspace &workspace) = 0;
  /// Call it after the share of this process, whether complete or not.
  virtual void sendGradients() = 0;
  /// Returns the sums of all micro-batches, in SumTree.h order. If the state is
  /// sharded, each process has a part.
  virtual void sumGradients() = 0;

  /// Makes update number `update`, from 1. Returns the gradient norm before
  /// clipping; if it is not finite, nothing has changed.
  virtual double learn(int64_t update) = 0;
  /// Names the first gradient or update of a state that is not finite,
  /// `gradient of 'w'`; empty: none.
  virtual std::string firstNotFinite() const = 0;
  /// Describes non-finite weights or optimiser state, `the weights of
  /// 'w' are`; empty: none. Finite gradients may cause non-finite
  /// updates.
  virtual std::string notFinite() const = 0;

  /// Returns the bytes of optimiser state in this process.
  virtual int64_t stateBytes() const = 0;

  /// The same for all weights: compares two processes.
  virtual uint64_t weightsChecksum() const = 0;
  /// Takes the weights of rank 0.
  virtual void shareWeights() = 0;

  /// Returns the weights to use as a weights file.
  virtual void storeWeights(TensorFile &file) const = 0;
  /// Returns weights and state, under their own names. In a team, rank 0 gets
  /// them.
  virtual void store(TensorFile &file) = 0;
  /// Reads the output of `store`. If the file belongs to another model, returns
  /// one sentence per difference and changes nothing. With another optimiser
  /// (not `isSameRule`), only the weights are compared.
  virtual std::vector<std::string> load(const TensorFile &file,
                                        bool isSameRule) = 0;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_TRAIN_LEARNER_H
