//===- Checkpoint.h - a training that can be continued --------------------===//
//
// The folder of a training:
//   model.safetensors       the best weights, with their vocabularies
//   log.jsonl               one object per report
//   last/state.safetensors  all that continues the training bit for bit
//   last/given.json         what the training was called with
//   last/lock               there and held while a training writes here
// Each file is written beside its place and renamed, so that whenever a
// training is cut off, what lies there is whole.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_TRAIN_CHECKPOINT_H
#define FOVEA_DRIVER_TRAIN_CHECKPOINT_H

#include "driver/watch/EventFile.h"
#include "runtime/train/Learner.h"

#include <optional>

namespace fovea::cli {

/// Sums over examples of what a program gives.
struct Sums {
  double nll = 0, logp = 0, choices = 0, penalty = 0, examples = 0;
  void add(const Sums &other);
};

/// What a validation is worth, less is better: of equal scores the loss says.
/// There are no others than numbers in it.
struct Score {
  double score = 0, loss = 0;
  auto operator<=>(const Score &) const = default;
};

/// A mean over the updates, of which the latest count most.
struct MovingAverage {
  double sum = 0, weight = 0;

  /// `share` of what was before remains.
  void add(double value, double share) {
    sum = share * sum + (1 - share) * value;
    weight = share * weight + (1 - share);
  }
  /// 0 before the first update.
  double value() const { return weight == 0 ? 0 : sum / weight; }
};

/// Where a training is, besides its weights.
struct Position {
  uint64_t seed = 0;
  int64_t update = 0; // that are made
  uint64_t epoch = 0; // from 0
  int64_t place = 0;  // batches of the epoch that are done
  /// Since the last report.
  Sums sums;
  double norm = 0;
  int64_t reported = 0; // the update of the last report
  /// Of validations.
  std::optional<Score> best;
  int64_t bestUpdate = 0;
  int64_t withoutBest = 0;
  int64_t validated = -1; // the update of the last one
  int64_t logLines = 0;
  /// What one update leaves to the next, by the name of the program's data.
  std::map<std::string, MovingAverage> states;
  /// What it was asked for, by what it is called: to be continued as if it had
  /// never ended, all of it has to be the same.
  std::map<std::string, std::string> identity;
};

class TrainingFolder {
public:
  ~TrainingFolder();

  /// Leaves behind what was there before `open`, if nothing was written since.
  /// Safe in a signal handler.
  void leave() const;

  /// Makes the folder and takes its lock. `isBusy`: another training has it.
  runtime::Status open(const std::string &path, bool &isBusy);
  /// Whether there is a training to be continued.
  runtime::Status findState(bool &isThere) const;
  /// What a training that begins would overwrite has to be of a training.
  runtime::Status checkIsOurs() const;

  /// `file` has what a learner stores, and the metadata of all weights.
  runtime::Status writeState(const Position &position,
                             runtime::TensorFile file);
  /// Reads what `writeState` wrote.
  runtime::Status readState(Position &position, runtime::TensorFile &file);
  /// The position that such a file says. False where it says none.
  static bool takePosition(const runtime::TensorFile &file, Position &position);
  runtime::Status writeModel(const runtime::Learner &learner,
                             std::map<std::string, std::string> metadata);

  /// What the training was called with: is written with the next state; what
  /// was written; empty where nothing was.
  void keepGiven(std::string text) { given = std::move(text); }
  std::string readGiven() const;

  /// Opens the log, cut after its first `lines`.
  runtime::Status openLog(int64_t lines);
  runtime::Status addToLog(const std::string &line);
  /// From now on TensorBoard gets what the log does, in files of `folder`.
  runtime::Status openEvents(const std::string &folder) {
    return events.open(folder);
  }
  int64_t logLines() const { return written; }
  /// What the log says that the training has taken before.
  double secondsBefore() const { return secondsLogged; }

private:
  std::string statePath() const { return lastPath + "/state.safetensors"; }
  std::string givenPath() const { return lastPath + "/given.json"; }
  runtime::Status writeGiven();
  std::string path, lastPath, lockPath, logPath;
  std::string given;     // until it is written
  bool isMade = false;   // by this training
  bool isNewLog = false; // nothing stood in it
  int lock = -1, log = -1;
  EventFile events;
  int64_t written = 0;
  double secondsLogged = 0;
};

} // namespace fovea::cli

#endif // FOVEA_DRIVER_TRAIN_CHECKPOINT_H
