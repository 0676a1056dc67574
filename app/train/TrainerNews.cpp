//===- TrainerNews.cpp - what trainers of a team know of each other -------===//
//
// One exchange of a few numbers, at the end of every update and wherever rank 0
// writes. So all processes stop at the same update, and none waits for one that
// has ended.
//
//===----------------------------------------------------------------------===//

#include "app/train/Interrupts.h"
#include "app/train/Trainer.h"

#include <fmt/format.h>

using namespace fovea;
using namespace fovea::cli;
using runtime::Status;

void Trainer::exchange(News &news) {
  if (team.isAlone())
    return;
  enum { Signal, Kind, Number, Seconds, IsSaveDue, High, Low, width };
  std::vector<double> all(team.size() * width);
  auto of = [&](int rank, int what) -> double & {
    return all[rank * width + what];
  };
  std::chrono::duration<double> spent = Clock::now() - begin;
  int own = team.rank();
  of(own, Signal) = caughtSignal();
  of(own, Kind) = news.kind;
  of(own, Number) = double(news.number);
  of(own, Seconds) = spent.count();
  of(own, IsSaveDue) = Clock::now() - lastSave > std::chrono::minutes(1);
  // 64-bit words travel as halves, which are exact in double precision.
  of(own, High) = double(news.weights >> 32);
  of(own, Low) = double(news.weights & 0xFFFFFFFF);
  team.gatherShares(all, team.size(), width);
  knownSeconds = of(0, Seconds);
  isSaveDue = of(0, IsSaveDue) != 0;
  for (int rank = 0; rank < team.size(); ++rank)
    if (knownSignal == 0)
      knownSignal = int(of(rank, Signal));
  for (int rank = 0; rank < team.size(); ++rank)
    if (auto kind = TrainEnd::Kind(int(of(rank, Kind)));
        kind != TrainEnd::Done) {
      news = {kind, int64_t(of(rank, Number)),
              team.gatherTexts(news.text)[rank]};
      return;
    }
  for (int rank = 1; rank < team.size(); ++rank)
    if (of(rank, High) != of(0, High) || of(rank, Low) != of(0, Low)) {
      news = {TrainEnd::Machine, 0,
              fmt::format("{} has other weights than {} after update {}: "
                          "they do not compute the same, and these weights "
                          "are not saved",
                          team.nameOf(rank), team.nameOf(0), position.update)};
      return;
    }
}

bool Trainer::haveSameWeights() {
  if (team.isAlone())
    return true;
  News news;
  news.weights = learner.weightsChecksum();
  exchange(news);
  return news.kind == TrainEnd::Done || fail(news.kind, news.text);
}

/// Returns whether rank 0 could write its files.
bool Trainer::isWritten(const Status &status) {
  News news;
  if (status.failed())
    news = {TrainEnd::Machine, 0, status.text()};
  exchange(news);
  return news.kind == TrainEnd::Done || fail(news.kind, news.text);
}

/// The run's time so far; in a team, as all know it.
double Trainer::secondsSpent() const {
  std::chrono::duration<double> spent = Clock::now() - begin;
  return team.isAlone() ? spent.count() : knownSeconds;
}
