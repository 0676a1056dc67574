//===- Trainer.h - the loop of training -----------------------------------===//
//
// The training loop: runs batches, updates the weights, validates, reports, and
// maintains the training folder. All decisions follow from the data, the
// options and the position, so a resumed run takes the same course; only the
// clock may end it earlier.
//
// In a team every process has a trainer, and all take the same course. Clock
// and folder are rank 0's; micro-batches and validations are shared. Every
// event in one process (a signal, a non-finite loss) reaches all in the same
// exchange.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_TRAIN_TRAINER_H
#define FOVEA_APP_TRAIN_TRAINER_H

#include "app/profile/Trace.h"
#include "app/train/Checkpoint.h"
#include "app/train/Progress.h"
#include "app/train/Rollouts.h"
#include "app/train/TrainData.h"
#include "app/train/ValidMetrics.h"
#include "runtime/data/DataOrder.h"

#include <limits>

namespace fovea::cli {

/// The limits of the run, and the intervals of reports; 0: none.
struct TrainLimits {
  int64_t steps = 0, epochs = 0;
  double minutes = 0;
  int64_t reportEvery = 100;
  int64_t validEvery = 0; // 0: after each epoch
  int64_t saveEvery = 0;  // 0: each minute, and after each epoch
};

/// Everything that is constant during a run.
struct Training {
  runtime::TrainOptions options;
  runtime::OrderOptions order;
  TrainLimits limits;
  bool averagesExamples = false;
  /// For state that one update passes to the next: the remaining share.
  std::map<std::string, double> states;
  TrainData data, valid;
  std::unique_ptr<CompiledProgram> grad, loss; // loss: with validation only
  std::unique_ptr<ValidMetrics> metrics;       // null: none
  std::unique_ptr<Rollouts> rollouts;          // null: no policy
  bool measuresBound = false;                  // -log p of an example
  std::string bestBy = "loss"; // or perplexity, or one of the metrics
  std::map<std::string, std::string> metadata; // of all weights
  FoveaPool *pool = nullptr;
  std::unique_ptr<Trace> trace; // null: nothing is recorded

  /// What a program takes in each update, without numbers. `weights` must live
  /// as long as the result.
  runtime::Binding bindingOf(const runtime::OwnedMemory &weights, uint64_t seed,
                             int64_t update) const;
  /// The same for the gradient program of a first update, with all sums
  /// weighted by 1.
  runtime::Binding firstBinding(const runtime::OwnedMemory &weights,
                                uint64_t seed) const;
};

/// How training ended, or why it failed.
struct TrainEnd {
  /// Machine: a failing disk, or processes that compute different results.
  /// Policy: what is generated, or its reward.
  enum Kind {
    Done,
    Interrupted,
    NotFinite,
    Failed,
    Machine,
    Policy
  } kind = Done;
  std::string text;
  std::string help;   // NotFinite: what may avoid it, if anything
  int signal = 0;     // Interrupted: which asked
  double seconds = 0; // of all runs of the training
  /// NotFinite: the examples of the batch, and its weights.
  std::vector<int64_t> batch;
};

class Trainer {
public:
  Trainer(Training &training, runtime::Learner &learner, Position &position,
          TrainingFolder &folder, Progress &progress, runtime::Team &team);
  TrainEnd run();

private:
  using Clock = std::chrono::steady_clock;

  /// A process's message to the others: its failure, with the batch, and the
  /// hash of its weights (0: none).
  struct News {
    TrainEnd::Kind kind = TrainEnd::Done;
    int64_t number = 0;
    std::string text;
    uint64_t weights = 0;
  };
  /// Afterwards all have the message of the first failing rank.
  void exchange(News &news);
  bool trainEpoch();
  bool update(const std::vector<std::vector<int64_t>> &batches, size_t begin,
              size_t end);
  bool runObserved(const std::vector<int64_t> &batch,
                   const runtime::Binding &binding, Sums &sums, News &news);
  bool runGenerated(const std::vector<int64_t> &batch,
                    const runtime::OwnedMemory &weights, double share,
                    Sums &sums, News &news);
  bool report();
  bool validate();
  bool save(bool withModel);
  bool saveWhenDue();
  bool checkWeights();
  bool haveSameWeights();
  bool isWritten(const runtime::Status &status);
  bool isInterrupted();
  bool isAtLimit() const;
  bool isAtEnd();
  bool isValidationDue() const;
  bool fail(TrainEnd::Kind kind, const std::string &text);
  double lossOf(const Sums &sums) const;
  double epochsDone() const;
  /// The estimated end: negative, and infinite, if unknown.
  struct Outlook {
    double share = -1, left = std::numeric_limits<double>::infinity();
  };
  Outlook outlook() const;
  void showProgress();
  double seconds() const;
  double secondsSpent() const;
  double scoreOf(const Sums &sums, const std::vector<double> &values) const;
  std::vector<Part> describe(const Sums &sums, int rank) const;

  Training &training;
  runtime::Learner &learner;
  Position &position;
  TrainingFolder &folder;
  Progress &progress;
  runtime::Team &team;
  /// In a team, as of the last exchange: the requested signal, rank 0's
  /// training time, and whether to save.
  int knownSignal = 0;
  double knownSeconds = 0;
  bool isSaveDue = false;
  TrainEnd end;
  bool isOver = false;
  Clock::time_point begin = Clock::now(), lastReport = begin, lastSave = begin;
  double choicesSinceReport = 0; // in this process
  /// The start of this process.
  int64_t firstUpdate = 0;
  double firstEpochs = -1;
  int64_t batchesOfEpoch = 0;
};

} // namespace fovea::cli

#endif // FOVEA_APP_TRAIN_TRAINER_H
