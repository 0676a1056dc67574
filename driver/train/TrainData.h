//===- TrainData.h - the examples of a training ---------------------------===//

#ifndef FOVEA_DRIVER_TRAIN_TRAINDATA_H
#define FOVEA_DRIVER_TRAIN_TRAINDATA_H

#include "driver/data/ExampleStore.h"
#include "driver/data/Examples.h"
#include "driver/model/Compiled.h"
#include "runtime/train/Team.h"

namespace fovea::cli {

/// Examples, and what is known of each while they lie elsewhere: its size, and
/// how many choices it has.
struct TrainData {
  ExampleStore examples;
  std::vector<int64_t> sizes;
  std::vector<double> choices;
  std::string hash; // of all values
  /// The largest of each length.
  std::map<std::string, int64_t> longest;
};

/// How examples are read.
struct TrainDataOptions {
  WantedData wanted;
  /// The length that says how large an example is; empty: all lengths.
  std::string bucketLength;
  bool isDouble = false; // otherwise F32 has to hold the values
  int64_t firstId = 0;
};

/// Reads the examples that `given` has. False where something is wrong
/// (reported); what is wrong with an example that has been read, or with the
/// machine, is in `status`.
bool readTrainData(Session &session, const std::vector<GivenData> &given,
                   const Model &model, const Vocabularies &vocabularies,
                   const TrainDataOptions &options, TrainData &data,
                   runtime::Status &status);

/// Runs a program over some of the examples.
runtime::Status runOver(CompiledProgram &program, const TrainData &data,
                        const std::vector<int64_t> &indices,
                        const runtime::Binding &binding);

/// Counts the choices of each example with `program`, so many examples at a
/// time. A team shares them out; what one of them fails by, all do.
runtime::Status countChoices(CompiledProgram &program,
                             const runtime::OwnedMemory &weights,
                             FoveaPool *pool, runtime::Team &team,
                             int64_t batch, TrainData &data);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_TRAIN_TRAINDATA_H
