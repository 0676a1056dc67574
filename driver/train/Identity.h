//===- Identity.h - what a training was asked for -------------------------===//
//
// A training that is resumed continues as if it had never ended, so all that
// decides its course is compared with what it began with, and what differs is
// said. Some of it a person may want to change on the way (`--change`); the
// rest makes it another training.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_TRAIN_IDENTITY_H
#define FOVEA_DRIVER_TRAIN_IDENTITY_H

#include "driver/model/Session.h"
#include "driver/train/TrainBlock.h"
#include "driver/train/Trainer.h"

namespace fovea::cli {

/// Texts by what they are called: `rate`, `data`, `valid-every`.
using Identity = std::map<std::string, std::string>;

/// A hash of what is trained, after the front end and before any pass: the
/// layout of the spec and its block `train` are not in it.
std::string equationsHash(Model &model);

Identity identityOf(const Training &training, const TrainBlock &block,
                    std::string equations);

/// Says how a training that is resumed differs from `position.identity`.
class Differences {
public:
  Differences(Session &session, const Arguments &arguments, Position &position)
      : session(session), arguments(arguments), position(position) {}

  /// Everything but the equations: an error, or where `--change` allows it a
  /// warning. Validations that give another score are compared from new.
  void report(const Identity &now);
  void reportEquations(const Identity &now);
  /// Whether the state of the optimiser can be used.
  bool hasSameRule(const Identity &now) const;

private:
  bool mayChange(const std::string &what, const Identity &now) const;

  Session &session;
  const Arguments &arguments;
  Position &position;
};

} // namespace fovea::cli

#endif // FOVEA_DRIVER_TRAIN_IDENTITY_H
