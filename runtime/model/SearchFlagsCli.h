//===- SearchFlagsCli.h - the options of a search for CLI11 ---------------===//
//
// Included by the two files that use CLI11, which throws.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_SEARCHFLAGSCLI_H
#define FOVEA_RUNTIME_MODEL_SEARCHFLAGSCLI_H

#include "runtime/model/SearchFlags.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>

namespace fovea::runtime {

/// Checks a number; its help shows the option's value name alone. CLI11's own
/// validators print the largest double in full.
inline CLI::Validator numberThat(const std::string &what,
                                 bool (*holds)(double)) {
  return {[what, holds](const std::string &text) {
            double number = 0;
            bool good =
                CLI::detail::lexical_cast(text, number) && holds(number);
            return good ? "" : "takes " + what + ", not '" + text + "'";
          },
          ""};
}

inline CLI::Validator atLeast(int least) {
  return least == 0 ? numberThat("a number of at least 0",
                                 [](double x) { return x >= 0; })
                    : numberThat("a number of at least 1",
                                 [](double x) { return x >= 1; });
}

inline CLI::Validator upToHypotheses() {
  static_assert(mostHypotheses == 10'000);
  return numberThat("a number of at most 10000",
                    [](double x) { return x <= mostHypotheses; });
}

inline CLI::Validator upToSteps() {
  static_assert(mostSteps == 1'000'000);
  return numberThat("a number of at most 1000000",
                    [](double x) { return x <= mostSteps; });
}

/// No counter can hold more.
inline CLI::Validator below2To63() {
  return numberThat("a number below 2^63", [](double x) { return x < 0x1p63; });
}

/// Small enough that no count of them overflows.
inline CLI::Validator upTo2To31() {
  return numberThat("a number from 1 to 2^31",
                    [](double x) { return x >= 1 && x <= 0x1p31; });
}

inline CLI::Validator positive() {
  return numberThat("a number above 0",
                    [](double x) { return x > 0 && x < HUGE_VAL; });
}

/// Accepts only digits: a value that overflows or is negative would be
/// misread.
inline CLI::Validator wholeBelow2To64() {
  return CLI::Validator(
      [](const std::string &text) -> std::string {
        uint64_t value = 0;
        const char *end = text.data() + text.size();
        auto [rest, error] = std::from_chars(text.data(), end, value);
        return error == std::errc() && rest == end
                   ? ""
                   : "takes a whole number from 0 and below 2^64, not '" +
                         text + "'";
      },
      "");
}

inline CLI::Validator probability() {
  return numberThat("a number above 0 and up to 1",
                    [](double x) { return x > 0 && x <= 1; });
}

inline void addSamplingFlags(CLI::App &command, SearchFlags &flags) {
  command.add_flag("--sample", flags.sample, "sample instead of searching");
  command
      .add_option("--temperature", flags.temperature,
                  "sampling temperature (default: 1)")
      ->check(positive())
      ->type_name("X");
  command
      .add_option("--top-k", flags.topK,
                  "sample from the K most likely symbols")
      ->check(atLeast(1))
      ->type_name("K");
  command
      .add_option(
          "--top-p", flags.topP,
          "sample from the most likely symbols with total probability P")
      ->check(probability())
      ->type_name("P");
  command
      .add_option("--seed", flags.seed,
                  "random seed of sampling and latent choices (default: 0)")
      ->check(wholeBelow2To64())
      ->type_name("N");
}

inline void addSearchFlags(CLI::App &command, SearchFlags &flags) {
  command.add_option("--beam", flags.beam, "beam size")
      ->check(atLeast(1))
      ->check(upToHypotheses())
      ->type_name("K");
  command
      .add_option("--nbest", flags.nbest,
                  "hypotheses to print per example; each line then starts with "
                  "the example's number and a tab")
      ->check(atLeast(1))
      ->check(upToHypotheses())
      ->type_name("N");
  command
      .add_option("--max-length", flags.maxLength, "maximum number of steps")
      ->check(atLeast(1))
      ->check(upToSteps())
      ->type_name("N");
  command
      .add_option("--min-length", flags.minLength, "minimum number of steps")
      ->check(atLeast(0))
      ->type_name("N");
  command
      .add_option("--length-norm", flags.lengthNorm,
                  "length normalisation: none, per_symbol or gnmt(A)")
      ->type_name("RULE");
  command.add_flag("--scores", flags.scores,
                   "print the log-probability and a tab before each text; with "
                   "--nbest also the ranking score");
  addSamplingFlags(command, flags);
}

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_SEARCHFLAGSCLI_H
