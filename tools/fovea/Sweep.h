//===- Sweep.h - one training per combination of settings -----------------===//
//
// `fovea train --sweep rate=0.001,0.002 --sweep seed=1..3` trains every
// combination in a folder of its own, and compares the results.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_TOOLS_FOVEA_SWEEP_H
#define FOVEA_TOOLS_FOVEA_SWEEP_H

#include "app/Arguments.h"

namespace fovea::cli {

/// One setting and its values, in the order of the command line.
struct SweepAxis {
  std::string key;
  std::vector<std::string> values;
};

/// Splits `KEY=VALUES`: values with commas between them, outside of
/// parentheses; `1..3` are the whole numbers from 1 to 3. Returns a mistake, or
/// an empty text.
std::string readAxis(const std::string &text, SweepAxis &axis);

/// Trains every combination of `arguments.sweeps`. Returns an exit code.
int runSweep(const Arguments &arguments);

/// One training, with an exit code. `hasBegun`: it reached its first update.
/// A signal before it ends the process, and prints `wordsOnInterrupt`.
int trainOnce(const Arguments &arguments, bool &hasBegun,
              std::string wordsOnInterrupt = {});

} // namespace fovea::cli

#endif // FOVEA_TOOLS_FOVEA_SWEEP_H
