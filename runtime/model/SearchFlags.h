//===- SearchFlags.h - the options of a search on a command line ----------===//
//
// The search options that `fovea decode` and compiled programs share.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_SEARCHFLAGS_H
#define FOVEA_RUNTIME_MODEL_SEARCHFLAGS_H

#include "runtime/Status.h"
#include "runtime/search/SearchOptions.h"

#include <vector>

namespace fovea::runtime {

/// The options as given on the command line.
struct SearchFlags {
  std::optional<int64_t> beam, nbest, maxLength, minLength, topK;
  std::optional<double> temperature, topP;
  std::optional<uint64_t> seed;
  std::string lengthNorm;
  bool scores = false;
  bool sample = false;
};

/// Returns warnings about flags that have no effect with the others.
std::vector<std::string> idleFlags(const SearchFlags &flags);

/// Overrides the spec's options. A failure is wrong usage.
Status applyFlags(const SearchFlags &flags, SearchOptions &options);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_SEARCHFLAGS_H
