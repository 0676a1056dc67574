//===- Interrupts.h - signals that ask a training to stop -----------------===//
//
// Handles an interrupt (Ctrl-C), the termination signals of docker and batch
// systems, a CPU time limit, and a lost terminal or reader. Each ends a run
// that has not started, and makes a running one save and stop. The exit code
// names the signal.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_TRAIN_INTERRUPTS_H
#define FOVEA_APP_TRAIN_INTERRUPTS_H

#include <string_view>

namespace fovea::cli {

class TrainingFolder;

/// While this object is alive, such a signal ends the process, with `words`,
/// after cleaning up `folder`. Signals that the caller ignores, as `nohup`
/// does, stay ignored.
class EndOnInterrupts {
public:
  EndOnInterrupts(const TrainingFolder &folder, std::string_view words);
  ~EndOnInterrupts();
};

/// From here on a signal only requests the end; a second one forces it.
void catchInterrupts();

/// The signal that requested the end, or 0.
int caughtSignal();

} // namespace fovea::cli

#endif // FOVEA_APP_TRAIN_INTERRUPTS_H
