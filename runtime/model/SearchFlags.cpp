//===- SearchFlags.cpp - the options of a search on a command line --------===//

#include "runtime/model/SearchFlags.h"

#include <fmt/format.h>

using namespace fovea::runtime;

std::vector<std::string> fovea::runtime::idleFlags(const SearchFlags &flags) {
  std::vector<std::string> result;
  auto say = [&](bool isGiven, const char *flag, const char *rest) {
    if (isGiven)
      result.push_back(
          fmt::format("'{}' has no effect {} '--sample'", flag, rest));
  };
  bool draws = flags.sample;
  say(!draws && flags.temperature, "--temperature", "without");
  say(!draws && flags.topK, "--top-k", "without");
  say(!draws && flags.topP, "--top-p", "without");
  say(draws && flags.beam, "--beam", "with");
  say(draws && !flags.lengthNorm.empty(), "--length-norm", "with");
  return result;
}

Status fovea::runtime::applyFlags(const SearchFlags &flags,
                                  SearchOptions &options) {
  if (!flags.lengthNorm.empty() && !readNormalise(flags.lengthNorm, options))
    return Status::error(fmt::format(
        "'--length-norm' takes none, per_symbol or gnmt(A), not '{}'",
        flags.lengthNorm));
  options.beam = flags.beam.value_or(options.beam);
  if (flags.maxLength)
    options.longest = flags.maxLength;
  options.shortest = flags.minLength.value_or(options.shortest);
  if (flags.minLength && flags.maxLength && *flags.minLength > *flags.maxLength)
    return Status::error(
        fmt::format("'--min-length {}' is more than '--max-length {}'",
                    *flags.minLength, *flags.maxLength));
  options.nbest = flags.nbest.value_or(1);
  options.sample = flags.sample;
  options.seed = flags.seed.value_or(0);
  options.temperature = flags.temperature.value_or(1);
  options.topK = flags.topK.value_or(0);
  options.topP = flags.topP.value_or(1);
  if (!options.sample && options.nbest > options.beam)
    return Status::error(
        fmt::format("'--nbest {}' is more than the beam of {} keeps; help: add "
                    "--beam {}, or --sample",
                    options.nbest, options.beam, options.nbest));
  return Status::success();
}
