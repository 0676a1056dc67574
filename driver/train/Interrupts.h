//===- Interrupts.h - signals that ask a training to stop -----------------===//
//
// An interrupt (Ctrl-C), the end that docker and Slurm announce, a terminal
// that is gone, and a reader of the output that is gone: each ends a training
// that has not begun, and asks one that has for a last save. The exit code says
// which it was.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_TRAIN_INTERRUPTS_H
#define FOVEA_DRIVER_TRAIN_INTERRUPTS_H

#include <string_view>

namespace fovea::cli {

class TrainingFolder;

/// While it is there, such a signal ends the process, with `words`, after
/// undoing what `folder` has to. What the caller ignores, as `nohup` does,
/// stays ignored.
class EndOnInterrupts {
public:
  EndOnInterrupts(const TrainingFolder &folder, std::string_view words);
  ~EndOnInterrupts();
};

/// From here on it only asks; a second one insists.
void catchInterrupts();

/// The signal that asked; 0: none has.
int caughtSignal();

} // namespace fovea::cli

#endif // FOVEA_DRIVER_TRAIN_INTERRUPTS_H
