//===- Samples.h - what a training has learnt so far ----------------------===//
//
// Decodes a few examples of a training run with its best weights, and draws
// their attention. A separate `fovea` process does it, so the training
// continues meanwhile.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_WATCH_SAMPLES_H
#define FOVEA_APP_WATCH_SAMPLES_H

#include <string>
#include <vector>

namespace fovea::cli {

/// The name of the model in `folder`, and the drawable equations: those whose
/// last two axes are lengths. Empty before there are weights.
struct WatchedModel {
  std::string name;
  std::vector<std::string> shows;
  std::vector<std::string> given, chosen; // its data
};
/// False, with the reason in `why`, if the weights cannot be read.
bool readWatchedModel(const std::string &folder, WatchedModel &model,
                      std::string &why);

/// The examples as JSON: `{"examples": [{"src": .., "output": ..}, ..],
/// "picture": "<svg ..>"}`, or `{"error": ".."}`. `show` is an equation, or
/// empty.
std::string samplesOf(const std::string &folder, const WatchedModel &model,
                      const std::string &show);

} // namespace fovea::cli

#endif // FOVEA_APP_WATCH_SAMPLES_H
