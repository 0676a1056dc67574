//===- EndingSignals.h - signals that end a training ----------------------===//

#ifndef FOVEA_APP_ENDINGSIGNALS_H
#define FOVEA_APP_ENDINGSIGNALS_H

#include <csignal>

namespace fovea::cli {

/// The signals that request an end. Batch systems announce the end of a job by
/// SIGTERM, SIGUSR1, SIGUSR2 or SIGXCPU.
inline constexpr int endingSignals[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                                        SIGUSR1, SIGUSR2, SIGXCPU};

} // namespace fovea::cli

#endif // FOVEA_APP_ENDINGSIGNALS_H
