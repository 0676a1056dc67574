//===- SearchSteps.h - a search that the caller makes ---------------------===//
//
// Returns log p of every symbol, and takes from the caller which symbols follow
// which rows: for custom searches or sampling.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_SEARCH_SEARCHSTEPS_H
#define FOVEA_RUNTIME_SEARCH_SEARCHSTEPS_H

#include "runtime/search/Search.h"

namespace fovea::runtime {

class SearchRun;

class SearchSteps {
public:
  /// The number of symbols, if a step makes one choice among a fixed number of
  /// them; otherwise 0, and there are no such steps.
  static int64_t numSymbols(const Decoder &decoder);

  /// `search` outlives the steps, and is not used otherwise meanwhile.
  explicit SearchSteps(Search &search);
  ~SearchSteps();

  /// Encodes a batch: a row for each example. `logps` is [rows][symbols].
  Status begin(std::vector<Example> examples, double *logps);
  /// Row i continues row `parents[i]` with `symbols[i]`.
  Status step(const std::vector<int64_t> &parents,
              const std::vector<int64_t> &symbols, double *logps);
  /// The current number of rows.
  int64_t numRows() const;

private:
  Status rank(double *logps);

  Search &search;
  SearchOptions options;
  std::vector<Example> examples;
  Batch batch;
  std::unique_ptr<SearchRun> run;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_SEARCH_SEARCHSTEPS_H
