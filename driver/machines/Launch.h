//===- Launch.h - a process that mpirun started ---------------------------===//
//
// What happens before a command of several processes begins. The library of
// messages says by the environment who this process is. It then becomes two:
// one works, the other watches it and is what mpirun sees, so that a worker
// that is killed is one sentence and exit code 3. What all processes would say
// alike, rank 0 says: what the others print is held back, and said by their
// watchers only where it is of their own.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_MACHINES_LAUNCH_H
#define FOVEA_DRIVER_MACHINES_LAUNCH_H

#include <atomic>
#include <string>

namespace fovea::cli {

/// What a worker and its watcher tell each other, in memory of both.
struct Pair {
  /// Whether the worker ends as all others do, by their agreement.
  std::atomic<bool> isTogether = false;
  /// Where the worker waits for all others in a call that nobody looks after:
  /// while it meets them, and at the end.
  std::atomic<bool> isMeeting = true;
  /// How long a process that does not answer is waited for; 0: for ever.
  std::atomic<double> patience = 120;
  /// Counted up by the watcher while it runs.
  std::atomic<unsigned> beats = 0;
  /// What the watcher says of the worker, and whether nobody else knows more.
  char last[256] = "";
  bool isSure = false;

  /// Between two of the messages that say that a rank is there.
  double beatSeconds() const;
  /// How long this rank waits for another. Where all of them find something
  /// out, so one of them says it, the first that can.
  double patienceOf(int rank) const;
};

/// That of this process; null where it has no watcher.
Pair *watched();

/// What the environment says of this process.
struct Launch {
  std::string library; // openmpi, mpich; empty: no process of several
  int rank = 0;
};

/// $FOVEA_MPI (openmpi, mpich or none) says which library it is where the
/// variables of mpirun do not.
Launch findLaunch();

/// Returns in the process that works. `resumes`: what to say of a worker that
/// was killed. No threads may run.
void startWorker(const Launch &launch, bool resumes);

/// From here on the process ends as all others do, by their agreement. Where
/// it does not speak, what it has said so far is not printed.
void endTogether(bool speaks);

/// Ends a worker, whose watcher says `sentence`, which ends without a period.
/// `isSure`: at once; otherwise where nobody else does, as a rank whose
/// messages fail does most likely because another one has ended.
[[noreturn]] void endWorker(const std::string &sentence, bool isSure);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_MACHINES_LAUNCH_H
