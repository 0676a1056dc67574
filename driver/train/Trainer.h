//===- Trainer.h - the loop of training -----------------------------------===//
//
// Goes through the epochs: runs batches, learns from them, validates, reports,
// and keeps the folder of the training up to date. Whatever it decides follows
// from the data, the options and the position alone, so that a training that
// is resumed takes the same course; only the clock may end it earlier.
//
// Of a team every process has a trainer, and all take the same course: the
// clock and the folder are those of rank 0, micro-batches and validations are
// shared out, and whatever one process finds (a signal, a loss that is not
// finite) all of them get to know in the same exchange.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_TRAIN_TRAINER_H
#define FOVEA_DRIVER_TRAIN_TRAINER_H

#include "driver/train/Checkpoint.h"
#include "driver/train/Progress.h"
#include "driver/train/TrainData.h"
#include "driver/train/ValidMetrics.h"
#include "runtime/data/DataOrder.h"

#include <limits>

namespace fovea::cli {

/// When training ends, and how often it says something; 0: not by this.
struct TrainLimits {
  int64_t steps = 0, epochs = 0;
  double minutes = 0;
  int64_t reportEvery = 100;
  int64_t validEvery = 0; // 0: after each epoch
  int64_t saveEvery = 0;  // 0: each minute, and after each epoch
};

/// Everything that stays as it is during a training.
struct Training {
  runtime::TrainOptions options;
  runtime::OrderOptions order;
  TrainLimits limits;
  bool averagesExamples = false;
  /// Of what one update leaves to the next, the share that remains.
  std::map<std::string, double> states;
  TrainData data, valid;
  std::unique_ptr<CompiledProgram> grad, loss; // loss: with validation only
  std::unique_ptr<ValidMetrics> metrics;       // null: none
  std::string bestBy = "loss"; // or perplexity, or one of the metrics
  std::map<std::string, std::string> metadata; // of all weights
  FoveaPool *pool = nullptr;
};

/// How training ended, or why it had to.
struct TrainEnd {
  /// Machine: a disk, or processes that do not compute the same.
  enum Kind { Done, Interrupted, NotFinite, Failed, Machine } kind = Done;
  std::string text;
  int signal = 0;     // Interrupted: which asked
  double seconds = 0; // of all runs of the training
  /// NotFinite: the examples of the batch, and the weights that it had.
  std::vector<int64_t> batch;
};

class Trainer {
public:
  Trainer(Training &training, runtime::Learner &learner, Position &position,
          TrainingFolder &folder, Progress &progress, runtime::Team &team);
  TrainEnd run();

private:
  using Clock = std::chrono::steady_clock;

  /// What a process has to tell the others: why it cannot go on, in which
  /// batch; and which weights it has (0: it does not say).
  struct News {
    TrainEnd::Kind kind = TrainEnd::Done;
    int64_t number = 0;
    std::string text;
    uint64_t weights = 0;
  };
  /// Afterwards all have the news of the first rank that cannot go on.
  void exchange(News &news);
  bool trainEpoch();
  bool update(const std::vector<std::vector<int64_t>> &batches, size_t begin,
              size_t end);
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
  /// What is known of the end: less than 0, and infinite, where nothing is.
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
  /// Of a team, as of the last exchange: the signal that asks one of them to
  /// stop, how long rank 0 trains, and whether it is time to save.
  int knownSignal = 0;
  double knownSeconds = 0;
  bool isSaveDue = false;
  TrainEnd end;
  bool isOver = false;
  Clock::time_point begin = Clock::now(), lastReport = begin, lastSave = begin;
  double choicesSinceReport = 0; // in this process
  /// Where this process began.
  int64_t firstUpdate = 0;
  double firstEpochs = -1;
  int64_t batchesOfEpoch = 0;
};

} // namespace fovea::cli

#endif // FOVEA_DRIVER_TRAIN_TRAINER_H
