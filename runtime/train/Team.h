//===- Team.h - processes that train together -----------------------------===//
//
// Communication between processes that share one job: they exchange bytes,
// never sums, so results do not depend on the addition order of a message
// library. Each process has a rank from 0; all call the same functions in the
// same order. A failed transfer ends the process with a message, so no call
// returns an error.
//
// NCCL has the same calls: a team of GPUs would be another Team.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_TRAIN_TEAM_H
#define FOVEA_RUNTIME_TRAIN_TEAM_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fovea::runtime {

/// Parts of an array, one per rank: their sizes in units, and their offsets.
struct Parts {
  std::vector<int64_t> counts, places;
};

/// The bytes that a process has sent, and the time it has waited.
struct Traffic {
  double messages = 0, bytes = 0, seconds = 0;
};

class Team {
public:
  virtual ~Team() = default;
  /// The team of one process. It lives as long as the program.
  static Team &alone();

  virtual int rank() const = 0;
  virtual int size() const = 0;
  bool isFirst() const { return rank() == 0; }
  bool isAlone() const { return size() == 1; }
  /// `rank 2 on 'node7'`.
  virtual std::string nameOf(int rank) const = 0;

  /// Begins to send the part `r` of `from` to each rank r. Begins to receive
  /// each rank's part for this one, into the part of its number of `to`. A unit
  /// has `unit` bytes. Both arrays must not change until `finish` returns.
  virtual int64_t beginExchange(const void *from, const Parts &sent, void *to,
                                const Parts &received, int64_t unit) = 0;
  virtual void finish(int64_t exchange) = 0;
  /// Each rank has its part of `array`; afterwards all have all parts.
  virtual void gather(void *array, const Parts &parts, int64_t unit) = 0;
  /// Broadcasts from rank 0.
  virtual void broadcast(void *bytes, int64_t size) = 0;

  virtual Traffic traffic() const { return {}; }

  // The following functions use the ones above.
  void broadcast(std::string &text);
  /// Gathers the text of each rank, on all ranks or on rank 0 only.
  std::vector<std::string> gatherTexts(const std::string &own);
  std::vector<std::string> gatherTextsOnFirst(const std::string &own);
  /// `width` numbers of each of `count` things. Rank r has computed
  /// `shareOf(count, r)` of them, or those whose number is r modulo the size.
  void gatherShares(std::vector<double> &numbers, int64_t count, int64_t width);
  void gatherTurns(std::vector<double> &numbers, int64_t count, int64_t width);

  /// Returns the consecutive items, from .. to-1, of `count` that belong to a
  /// rank.
  std::pair<int64_t, int64_t> shareOf(int64_t count, int rank) const {
    return {count * rank / size(), count * (rank + 1) / size()};
  }
  /// Returns whether the item of this number belongs to this rank, round-robin.
  bool isTurn(int64_t number) const { return number % size() == rank(); }
};

/// Joins texts into one, and splits them again.
std::string joinTexts(const std::vector<std::string> &texts);
std::vector<std::string> splitTexts(const std::string &joined);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_TRAIN_TEAM_H
