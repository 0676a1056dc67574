//===- Identity.h - what a training was asked for -------------------------===//
//
// A resumed run continues bit for bit as if it had never stopped. So every
// setting that affects its course is compared with the original, and
// differences are reported. Users may change some of them (`--change`); others
// would make it a different run.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_TRAIN_IDENTITY_H
#define FOVEA_APP_TRAIN_IDENTITY_H

#include "app/open/Session.h"
#include "app/train/TrainBlock.h"
#include "app/train/Trainer.h"

namespace fovea::cli {

/// Texts by name: `rate`, `data`, `valid-every`.
using Identity = std::map<std::string, std::string>;

/// A hash of the model, after the front end and before any pass: it ignores the
/// layout of the spec and its `train` block.
std::string equationsHash(Model &model);

Identity identityOf(const Training &training, const TrainBlock &block,
                    std::string equations);

/// Describes how a resumed run differs from `position.identity`.
class Differences {
public:
  Differences(Session &session, const Arguments &arguments, Position &position)
      : session(session), arguments(arguments), position(position) {}

  /// Everything except the equations: an error, or with `--change` a warning.
  /// If the validation score changes, the comparison of validations restarts.
  void report(const Identity &now);
  void reportEquations(const Identity &now);
  /// Returns whether the optimiser state can be reused.
  bool hasSameRule(const Identity &now) const;

private:
  bool mayChange(const std::string &what, const Identity &now) const;

  Session &session;
  const Arguments &arguments;
  Position &position;
};

} // namespace fovea::cli

#endif // FOVEA_APP_TRAIN_IDENTITY_H
