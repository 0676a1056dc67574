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

#include <string>

namespace fovea::cli {

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

} // namespace fovea::cli

#endif // FOVEA_DRIVER_MACHINES_LAUNCH_H
