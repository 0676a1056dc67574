//===- SearchOptions.cpp - what a search is asked for ---------------------===//

#include "runtime/search/SearchOptions.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace fovea::runtime;

Status fovea::runtime::check(const SearchOptions &options) {
  if (options.beam < 1 || options.nbest < 1)
    return Status::error(fmt::format("the beam is {} and the number of best "
                                     "hypotheses {}, but both are at least 1",
                                     options.beam, options.nbest));
  if (options.beam > mostHypotheses || options.nbest > mostHypotheses)
    return Status::error(fmt::format("a search keeps at most {} hypotheses, "
                                     "not {}",
                                     mostHypotheses,
                                     std::max(options.beam, options.nbest)));
  if (options.longest && *options.longest < 1)
    return Status::error(fmt::format(
        "the largest length is {}, but it is at least 1", *options.longest));
  if (options.longest && *options.longest > mostSteps)
    return Status::error(fmt::format("a search makes at most {} steps, not {}",
                                     mostSteps, *options.longest));
  if (!(options.temperature > 0))
    return Status::error(fmt::format("the temperature is {}, but it is above 0",
                                     options.temperature));
  if (!std::isfinite(options.gnmt))
    return Status::error(
        fmt::format("gnmt(A) takes a number, not {}", options.gnmt));
  return Status::success();
}
