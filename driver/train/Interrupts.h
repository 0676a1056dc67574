//===- Interrupts.h - signals that ask a training to stop -----------------===//
//
// An interrupt (Ctrl-C), the end that docker and Slurm announce, a terminal
// that is gone, and a reader of the output that is gone: each asks for a last
// save, and the exit code says which it was.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_TRAIN_INTERRUPTS_H
#define FOVEA_DRIVER_TRAIN_INTERRUPTS_H

namespace fovea::cli {

/// From here on such a signal only asks; a second one insists. What the caller
/// ignores, as `nohup` does, stays ignored.
void catchInterrupts();

/// The signal that asked; 0: none has.
int caughtSignal();

} // namespace fovea::cli

#endif // FOVEA_DRIVER_TRAIN_INTERRUPTS_H
