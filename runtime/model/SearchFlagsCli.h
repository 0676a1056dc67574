//===- SearchFlagsCli.h - the options of a search for CLI11 ---------------===//
//
// Included by the two files that know CLI11, which throws.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MODEL_SEARCHFLAGSCLI_H
#define FOVEA_RUNTIME_MODEL_SEARCHFLAGSCLI_H

#include "runtime/model/SearchFlags.h"

#include <CLI/CLI.hpp>

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

/// So many that nothing that is counted of them overflows.
inline CLI::Validator upTo2To31() {
  return numberThat("a number from 1 to 2^31",
                    [](double x) { return x >= 1 && x <= 0x1p31; });
}

inline CLI::Validator positive() {
  return numberThat("a number above 0",
                    [](double x) { return x > 0 && x < HUGE_VAL; });
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
  command.add_option("--seed", flags.seed, "of the draws (0)")->type_name("N");
}

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MODEL_SEARCHFLAGSCLI_H
