//===- TrainBlock.h - the train block of a spec as texts ------------------===//

#ifndef FOVEA_APP_TRAIN_TRAINBLOCK_H
#define FOVEA_APP_TRAIN_TRAINBLOCK_H

#include "app/open/Session.h"
#include "runtime/train/TrainOptions.h"

namespace fovea::cli {

struct TrainBlock {
  std::map<std::string, std::string> entries;
  /// Whether the loss is a mean over examples; otherwise over choices.
  bool averagesExamples = false;
};

TrainBlock readTrainBlock(Model &model);

/// Reports an error in an entry, at its place in the spec.
void reportTrainOption(Session &session, const Arguments &arguments,
                       const Model &model, const runtime::Status &status);

/// The names of models whose parameters `use` freezes. Returns false for a
/// frozen model without a name (reported).
bool readFrozen(Session &session, const Arguments &arguments,
                const Model &model, std::vector<std::string> &frozen);

/// The states of a model, and whether an update of each is the same for all
/// examples.
std::map<std::string, bool> readStates(const Model &model);

/// Checks that the block's lengths and parameters exist in the model
/// (reported).
bool checkNames(Session &session, const Arguments &arguments,
                const Model &model, const runtime::TrainOptions &options);

} // namespace fovea::cli

#endif // FOVEA_APP_TRAIN_TRAINBLOCK_H
