//===- Given.h - the command line of a training ---------------------------===//
//
// The folder of a training keeps what it was called with, so that
// `fovea train DIR --resume` needs nothing else. What decides its course is
// compared apart from it (Identity.h).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_TRAIN_GIVEN_H
#define FOVEA_APP_TRAIN_GIVEN_H

#include "app/Arguments.h"

#include <string>

namespace fovea::cli {

/// Data and the hashes of their files, validation, limits and metrics as text.
/// File names are absolute. Reads all data files once.
std::string textOfGiven(const Arguments &arguments);

/// Fills in what `arguments` leaves open from such a text. It is untrusted, so
/// each entry is checked as on the command line.
runtime::Status takeGiven(const std::string &text, Arguments &arguments);

} // namespace fovea::cli

#endif // FOVEA_APP_TRAIN_GIVEN_H
