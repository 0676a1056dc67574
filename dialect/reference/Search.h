//===- Search.h - generates by beam, greedily or at random ----------------===//
//
// Executes a decoding graph: a program with `attn.search`, or, as its oracle,
// the unscheduled system. The body of a search runs for each hypothesis up to a
// choice; the search picks a value and continues.
//
// The beam: at each choice the best `beam - finished` continuations of the live
// hypotheses are kept, ranked by their log p (or by the mark "score"). Ties go
// to the lower parent, then to the lower symbol. A hypothesis is finished when
// it chose the value that ends it, or when the mark "stop" holds. That value
// counts in its log p and its length. Finished hypotheses are ranked by their
// log p after length normalisation. Hypotheses that were cut at `longest` come
// after them.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_SEARCH_H
#define FOVEA_DIALECT_REFERENCE_SEARCH_H

#include "dialect/reference/Interpreter.h"
#include "runtime/search/SearchOptions.h"

namespace fovea::reference {

using runtime::Normalise;

/// The options of any search, and those of the interpreter alone.
struct SearchOptions : runtime::SearchOptions {
  /// Names of `attn.equation` to return besides the outputs.
  std::vector<std::string> equations;

  /// Forced values, by the name of the choice, with the generated
  /// index first: for log p of given outputs. The search ends with
  /// them.
  Arrays forced;

  /// Prefix symbols, by the name of the choice; the search continues after
  /// them. The mark "valid" does not forbid them.
  std::map<std::string, std::vector<double>> prefix;

  /// For tests: the state of this name keeps its initial value.
  std::string dropState;
};

/// The options in the module's `attn.decode` dictionary: beam, nbest, longest,
/// shortest, normalise ("none", "per_symbol", "gnmt(0.6)").
Status readSearchOptions(mlir::ModuleOp module, SearchOptions &options);

struct Hypothesis {
  /// The generated names and the shown equations, stacked along this
  /// hypothesis.
  Arrays outputs;
  double logp = 0;
  double score = 0;             // what it is ranked by
  int64_t steps = 0;            // of the last search; 0 where there is none
  std::vector<double> stepLogp; // log p of each choice, in order
  bool ended = true;            // false: cut at the largest number of steps
  bool hasEnd = false;          // whether a symbol that ends it stands last
};

/// Decodes one example; `hypotheses` are the best ones, best first.
Status decode(mlir::Operation *container, const Inputs &inputs,
              const SearchOptions &options,
              std::vector<Hypothesis> &hypotheses);
/// The same by an ensemble: the inputs of each member, which differ in their
/// parameters. Choices use the mean of the probabilities; marks must agree,
/// the mean of the mark "score" counts, and the outputs are those of the
/// first.
Status decode(mlir::Operation *container, llvm::ArrayRef<Inputs> members,
              const SearchOptions &options,
              std::vector<Hypothesis> &hypotheses);

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_SEARCH_H
