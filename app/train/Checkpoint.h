//===- Checkpoint.h - a training that can be continued --------------------===//
//
// The folder of a training run:
//   model.safetensors       the best weights, with their vocabularies
//   log.jsonl               one object per report
//   last/state.safetensors  all that continues the training bit for bit
//   last/given.json         what the training was called with
//   last/lock               there and held while a training writes here
// Each file is written under a temporary name and renamed, so that an
// interruption at any time leaves complete files.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_TRAIN_CHECKPOINT_H
#define FOVEA_APP_TRAIN_CHECKPOINT_H

#include "app/watch/EventFile.h"
#include "runtime/train/Learner.h"

#include <optional>

namespace fovea::cli {

/// Sums over examples of a program's outputs.
struct Sums {
  double nll = 0, logp = 0, choices = 0, penalty = 0, examples = 0;
  double reward = 0, samples = 0; // of a policy
  void add(const Sums &other);
};

/// The rank of a validation, lower is better: ties are broken by loss. All
/// values are finite.
struct Score {
  double score = 0, loss = 0;
  auto operator<=>(const Score &) const = default;
};

/// An exponentially weighted mean over the updates.
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

/// The position of a run, besides its weights.
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
  /// The state that one update passes to the next, by the name of the program's
  /// data.
  std::map<std::string, MovingAverage> states;
  /// The settings, by name: to continue bit for bit, all of them must be the
  /// same.
  std::map<std::string, std::string> identity;
};

class TrainingFolder {
public:
  ~TrainingFolder();

  /// Restores the state before `open`, if nothing was written since. Safe in a
  /// signal handler.
  void leave() const;

  /// Creates the folder and locks it. `isBusy`: another run holds the lock.
  runtime::Status open(const std::string &path, bool &isBusy);
  /// Returns whether there is a run to continue.
  runtime::Status findState(bool &isThere) const;
  /// Checks that files to be overwritten belong to a training run.
  runtime::Status checkIsOurs() const;

  /// `file` has what a learner stores, and the metadata of all weights.
  runtime::Status writeState(const Position &position,
                             runtime::TensorFile file);
  /// Reads the output of `writeState`.
  runtime::Status readState(Position &position, runtime::TensorFile &file);
  /// The position in such a file. Returns false if it has none.
  static bool takePosition(const runtime::TensorFile &file, Position &position);
  runtime::Status writeModel(const runtime::Learner &learner,
                             std::map<std::string, std::string> metadata);

  /// The arguments of the run: stored with the next state; the stored ones;
  /// empty if there are none.
  void keepGiven(std::string text) { given = std::move(text); }
  std::string readGiven() const;
  std::string givenPath() const { return lastPath + "/given.json"; }

  /// Opens the log, truncated after its first `lines`.
  runtime::Status openLog(int64_t lines);
  runtime::Status addToLog(const std::string &line);
  /// Also writes the log for TensorBoard, to files in `folder`.
  runtime::Status openEvents(const std::string &folder) {
    return events.open(folder);
  }
  int64_t logLines() const { return written; }
  /// The training time so far, from the log.
  double secondsBefore() const { return secondsLogged; }

private:
  std::string statePath() const { return lastPath + "/state.safetensors"; }
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

#endif // FOVEA_APP_TRAIN_CHECKPOINT_H
