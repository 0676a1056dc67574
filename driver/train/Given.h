//===- Given.h - the command line of a training ---------------------------===//
//
// The folder of a training keeps what it was called with, so that
// `fovea train DIR --resume` needs nothing else. What decides its course is
// compared apart from it (Identity.h).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DRIVER_TRAIN_GIVEN_H
#define FOVEA_DRIVER_TRAIN_GIVEN_H

#include "driver/Arguments.h"

#include <string>

namespace fovea::cli {

/// Data, validation, limits and measures as text. Files are named from the
/// root.
std::string textOfGiven(const Arguments &arguments);

/// Takes from it what `arguments` does not say. False where there are no data.
bool takeGiven(const std::string &text, Arguments &arguments);

} // namespace fovea::cli

#endif // FOVEA_DRIVER_TRAIN_GIVEN_H
