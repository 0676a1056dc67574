//===- MpiTeam.h - processes that talk by MPI -----------------------------===//
//
// Opens the plug-in of the library that started this process, and transfers its
// messages. A thread drives each transfer, so it progresses while others
// compute. Waiting threads sleep, because two processes may share a CPU.
// Library calls are serialised.
//
// The same thread sends heartbeats: rank 0 receives those of all others, and
// they receive rank 0's. A process may compute or wait for any time; only one
// that is stopped, or whose machine is down, goes silent.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_MACHINES_MPITEAM_H
#define FOVEA_APP_MACHINES_MPITEAM_H

#include "app/machines/Launch.h"
#include "app/machines/Messages.h"
#include "runtime/Status.h"
#include "runtime/train/Team.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace fovea::cli {

class MpiTeam : public runtime::Team {
public:
  /// Connects to the other processes; a collective call.
  static runtime::Status start(const Launch &launch,
                               std::unique_ptr<MpiTeam> &team);
  /// Waits for the others, and ends.
  ~MpiTeam() override;

  int rank() const override { return ownRank; }
  int size() const override { return numRanks; }
  std::string nameOf(int rank) const override;

  int64_t beginExchange(const void *from, const runtime::Parts &sent, void *to,
                        const runtime::Parts &received, int64_t unit) override;
  void finish(int64_t exchange) override;
  void gather(void *array, const runtime::Parts &parts, int64_t unit) override;
  using Team::broadcast;
  void broadcast(void *bytes, int64_t size) override;

  /// Returns how many processes share this one's CPUs, itself included.
  int sharers() const { return numSharers; }

  runtime::Traffic traffic() const override { return counted; }

private:
  using Clock = std::chrono::steady_clock;
  struct Transfer {
    void *handle = nullptr;
    bool isDone = false;
    /// When the link would have carried it, if its rate is limited.
    Clock::time_point notBefore;
  };

  /// Another rank, which sends heartbeats.
  struct Peer {
    int rank = 0;
    char out = 0, in = 0; // 1: the last one
    void *sending = nullptr, *receiving = nullptr;
    double silence = 0; // seconds that this one ran since it heard it
    bool isLeft = false, hasLeft = false;
  };

  explicit MpiTeam(const FoveaMessages &messages) : messages(messages) {}
  void meet();
  void beat();
  void hear(Peer &peer);
  void leave();
  void check(int error);
  int64_t begin(void *handle, int64_t bytes);
  bool isDone(void *&handle);
  void test(Transfer &transfer);
  void lookAfter();

  const FoveaMessages &messages;
  int ownRank = 0, numRanks = 1, numSharers = 1;
  bool hasOwnCpu = false; // no more processes than CPUs share them
  std::vector<std::string> hosts;
  runtime::Traffic counted;
  double bytesPerSecond = 0; // $FOVEA_LINK_GBIT; 0: what the link carries
  Clock::time_point linkIsFree;

  std::mutex mutex; // of all below, and of calls of the library
  std::condition_variable hasWork;
  std::map<int64_t, Transfer> transfers;
  int64_t numbered = 0;
  std::vector<Peer> peers;
  Clock::time_point nextBeat;
  unsigned watcherBeats = 0;
  bool isLeaving = false, isOver = false;
  std::thread carer;
};

} // namespace fovea::cli

#endif // FOVEA_APP_MACHINES_MPITEAM_H
