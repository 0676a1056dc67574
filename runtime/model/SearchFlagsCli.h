//===- SearchFlagsCli.h - the options of a search for CLI11 ---------------===//
//
// Included by the two files that know CLI11, which throws.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_SEARCHFLAGSCLI_H
#define FOVEA_RUNTIME_MODEL_SEARCHFLAGSCLI_H

#include "runtime/model/SearchFlags.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>

namespace fovea::runtime {

/// CLI11's own validators print the largest double in full.
inline CLI::Validator numberThat(const std::string &what,
                                 bool (*holds)(double)) {
  return {[what, holds](const std::string &text) {
            double number = 0;
            bool good =
                CLI::detail::lexical_cast(text, number) && holds(number);
            return good ? "" : "takes " + what + ", not '" + text + "'";
          },
          what};
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

/// More than that no number that counts holds.
inline CLI::Validator below2To63() {
  return numberThat("a number below 2^63", [](double x) { return x < 0x1p63; });
}

/// So many that nothing that is counted of them overflows.
inline CLI::Validator upTo2To31() {
  return numberThat("a number from 1 to 2^31",
                    [](double x) { return x >= 1 && x <= 0x1p31; });
}

inline CLI::Validator positive() {
  return numberThat("a number above 0",
                    [](double x) { return x > 0 && x < HUGE_VAL; });
}

/// Digits alone: what is read of a larger number, or of one below 0, is none
/// that anybody gave.
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

inline void addSearchFlags(CLI::App &command, SearchFlags &flags) {
  command.add_option("--beam", flags.beam, "hypotheses that are kept")
      ->check(atLeast(1))
      ->check(upToHypotheses());
  command
      .add_option("--nbest", flags.nbest,
                  "hypotheses that are printed; each line then begins with "
                  "the number of its example and a tab")
      ->check(atLeast(1))
      ->check(upToHypotheses());
  command
      .add_option("--max-length", flags.maxLength,
                  "the largest number of steps")
      ->check(atLeast(1))
      ->check(upToSteps());
  command
      .add_option("--min-length", flags.minLength,
                  "steps before which nothing ends")
      ->check(atLeast(0));
  command.add_option("--length-norm", flags.lengthNorm,
                     "none, per_symbol or gnmt(A)");
  command.add_flag("--scores", flags.scores,
                   "print log p and a tab before the text");
  command.add_flag("--sample", flags.sample, "draw instead of search");
  command
      .add_option("--temperature", flags.temperature,
                  "divides the logits of a draw (1)")
      ->check(positive());
  command.add_option("--top-k", flags.topK, "draw among the K likeliest")
      ->check(atLeast(1));
  command
      .add_option("--top-p", flags.topP,
                  "draw among the likeliest that have probability P")
      ->check(probability());
  command
      .add_option("--seed", flags.seed,
                  "of what is drawn, by '--sample' and of latent choices (0)")
      ->check(wholeBelow2To64())
      ->type_name("N");
}

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_SEARCHFLAGSCLI_H
