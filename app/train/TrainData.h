//===- TrainData.h - the examples of a training ---------------------------===//

#ifndef FOVEA_APP_TRAIN_TRAINDATA_H
#define FOVEA_APP_TRAIN_TRAINDATA_H

#include "app/data/ExampleStore.h"
#include "app/data/Examples.h"
#include "app/model/Compiled.h"
#include "runtime/train/Team.h"

namespace fovea::cli {

/// Examples stored elsewhere, with the size and the number of choices of
/// each.
struct TrainData {
  ExampleStore examples;
  std::vector<int64_t> sizes;
  std::vector<double> choices;
  std::string hash; // of all values
  /// The maximum of each length.
  std::map<std::string, int64_t> longest;
};

/// How examples are read.
struct TrainDataOptions {
  WantedData wanted;
  /// The length that determines an example's size; empty: all lengths.
  std::string bucketLength;
  bool isDouble = false; // otherwise F32 has to hold the values
  int64_t firstId = 0;
};

/// Reads the examples in `given`. Returns false on an error
/// (reported); errors in a read example, or of the machine, are in
/// `status`.
bool readTrainData(Session &session, const std::vector<GivenData> &given,
                   const Model &model, const Vocabularies &vocabularies,
                   const TrainDataOptions &options, TrainData &data,
                   runtime::Status &status);

/// Runs a program over some of the examples.
runtime::Status runOver(CompiledProgram &program, const TrainData &data,
                        const std::vector<int64_t> &indices,
                        const runtime::Binding &binding);

/// Counts the choices of each example with `program`, so many examples at a
/// time. A team shares the work; the failure of one process is the failure of
/// all.
runtime::Status countChoices(CompiledProgram &program,
                             const runtime::OwnedMemory &weights,
                             FoveaPool *pool, runtime::Team &team,
                             int64_t batch, TrainData &data);

} // namespace fovea::cli

#endif // FOVEA_APP_TRAIN_TRAINDATA_H
