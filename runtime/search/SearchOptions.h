//===- SearchOptions.h - what a search is asked for -----------------------===//
//
// The options of a search, in compiled code and in the interpreter.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_SEARCH_SEARCHOPTIONS_H
#define FOVEA_RUNTIME_SEARCH_SEARCHOPTIONS_H

#include "runtime/Status.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace fovea::runtime {

enum class Normalise {
  None,
  PerSymbol, // log p / n, of n steps (the one that ends counts)
  Gnmt       // log p / ((5 + n) / 6)^a
};

struct SearchOptions {
  int64_t beam = 1;
  int64_t nbest = 1; // how many hypotheses are returned, at most `beam`
  /// The maximum number of steps. Without it the mark "longest" decides, then
  /// twice the largest given length plus 50.
  std::optional<int64_t> longest;
  /// The value that ends a sequence is not taken before this many steps.
  int64_t shortest = 0;
  Normalise normalise = Normalise::None;
  double gnmt = 0.6;

  /// Samples instead of searching; `nbest` independent samples. A sample
  /// depends on this seed, on the id of the example, and on its number. Sampled
  /// latent choices depend on the seed in any case.
  bool sample = false;
  uint64_t seed = 0;
  double temperature = 1.0;
  int64_t topK = 0;  // 0: all symbols
  double topP = 1.0; // the smallest set of symbols with this probability

  /// Hears each value that a search along one path (a beam of 1, or a sample)
  /// chooses after the prefix: the example, the name and the value. If it
  /// returns false, the search of that example ends with this step.
  std::function<bool(int64_t, const std::string &, double)> listen;
  /// Is asked after each step. If it returns true, the search ends with an
  /// error.
  std::function<bool()> isCancelled;
};

/// Larger than any sensible value: an error.
constexpr int64_t mostHypotheses = 10'000, mostSteps = 1'000'000;

/// Reads `none`, `per_symbol`, `gnmt` or `gnmt(A)`, with a number A. Returns
/// false for another text, and changes nothing.
bool readNormalise(std::string_view text, SearchOptions &options);

/// Checks that the options are valid.
Status check(const SearchOptions &options);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_SEARCH_SEARCHOPTIONS_H
