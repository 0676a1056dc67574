//===- Launch.h - a process that mpirun started ---------------------------===//
//
// Runs before a command of several processes. The message library identifies
// this process through the environment. The process then forks: a worker, and a
// watcher that mpirun sees, so a killed worker becomes one message and exit
// code 3. Rank 0 prints messages that all processes would print. The output of
// the others is held back, and their watchers print it only if it is specific
// to them.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_MACHINES_LAUNCH_H
#define FOVEA_APP_MACHINES_LAUNCH_H

#include <atomic>
#include <string>

namespace fovea::cli {

/// The state shared between a worker and its watcher, in shared memory.
struct Pair {
  /// Whether the worker ends like all others, by agreement.
  std::atomic<bool> isTogether = false;
  /// Whether the worker waits for all others in an unsupervised call: at the
  /// first meeting, and at the end.
  std::atomic<bool> isMeeting = true;
  /// How long to wait for an unresponsive process; 0: forever.
  std::atomic<double> patience = 120;
  /// Counted up by the watcher while it runs.
  std::atomic<unsigned> beats = 0;
  /// The watcher's message about the worker, and whether only this watcher
  /// knows more.
  char last[256] = "";
  bool isSure = false;

  /// The interval between two heartbeat messages of a rank.
  double beatSeconds() const;
  /// How long this rank waits for another. If all of them detect a problem, the
  /// first rank that can reports it.
  double patienceOf(int rank) const;
};

/// The pair of this process; null without a watcher.
Pair *watched();

/// The launch data in the environment.
struct Launch {
  std::string library; // openmpi, mpich; empty: no process of several
  int rank = 0;
};

/// $FOVEA_MPI (openmpi, mpich or none) names the library if mpirun's variables
/// do not.
Launch findLaunch();

/// Returns in the worker. `resumes` is the hint about a killed worker. No
/// threads may be running.
void startWorker(const Launch &launch, bool resumes);

/// From here on the process ends like all others, by agreement. If it is not
/// the reporting rank, its output so far is dropped.
void endTogether(bool speaks);

/// Ends a worker with `sentence`, without a period, as its watcher's message.
/// `isSure`: at once; otherwise where nobody else does, as a rank whose
/// messages fail does most likely because another one has ended.
[[noreturn]] void endWorker(const std::string &sentence, bool isSure);

} // namespace fovea::cli

#endif // FOVEA_APP_MACHINES_LAUNCH_H
