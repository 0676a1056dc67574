//===- SearchFlags.h - the options of a search on a command line ----------===//
//
// What `fovea decode` and the programs that `fovea compile` makes take alike.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_SEARCHFLAGS_H
#define FOVEA_RUNTIME_MODEL_SEARCHFLAGS_H

#include "runtime/Status.h"
#include "runtime/search/SearchOptions.h"

#include <vector>

namespace fovea::runtime {

/// What stands on the command line, as it stands there.
struct SearchFlags {
  std::optional<int64_t> beam, nbest, maxLength, minLength, topK;
  std::optional<double> temperature, topP;
  std::optional<uint64_t> seed;
  std::string lengthNorm;
  bool scores = false;
  bool sample = false;
};

/// What to say of flags that change nothing beside the others.
std::vector<std::string> idleFlags(const SearchFlags &flags);

/// Puts them over what the spec says. A failure is wrong usage.
Status applyFlags(const SearchFlags &flags, SearchOptions &options);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_SEARCHFLAGS_H
