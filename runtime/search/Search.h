//===- Search.h - generates by compiled code ------------------------------===//
//
// Greedy search, beam search and sampling over the programs of a decoder. All
// examples of a batch are at the same step; finished hypotheses drop out. The
// result of an example does not depend on its batch.
//
// The beam: at each choice the best `beam - finished` continuations of the live
// hypotheses of an example are kept. They are ranked by their log p (or by the
// mark "score"); ties go to the lower parent, then to the lower symbol. A
// hypothesis is finished when it chose the value that ends it, or when the mark
// "stop" holds. That value counts in its log p and its length. Finished
// hypotheses are ranked by their log p after length normalisation; hypotheses
// that were cut at `longest` come last.
//
// Several models of one spec form an ensemble: each has its own parameters
// and states, and choices use the mean of their probabilities. Marks must
// agree, except "score", whose mean counts; shown equations are those of the
// first.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_SEARCH_SEARCH_H
#define FOVEA_RUNTIME_SEARCH_SEARCH_H

#include "runtime/Decoder.h"
#include "runtime/memory/StepMemory.h"
#include "runtime/search/SearchOptions.h"

#include <deque>

namespace fovea::runtime {

/// The result of one hypothesis.
struct Generated {
  /// The outputs of the decoder: the generated names and the shown equations.
  std::map<std::string, DataValues> outputs;
  double logp = 0;
  double score = 0;      // what it is ranked by
  bool isMarked = false; // whether the mark "score" gave that
  int64_t steps = 0;     // 0 without a search
  /// log p of each choice, in order; with a sum over a latent choice, one for
  /// all that depend on it.
  std::vector<double> stepLogp;
  /// Which of these an output of the decoder gives, by its name: densities of
  /// real numbers, and sums over a latent choice.
  std::map<std::string, std::vector<size_t>> computed;
  bool ended = true;   // false: cut at the largest number of steps
  bool hasEnd = false; // whether a symbol that ends it stands last
};

/// The starting point for a search that continues others.
struct SearchStart {
  uint64_t draw = 0; // the number of the draw
  int64_t steps = 0;
  std::vector<double> logps; // of the choices so far
};

class Search {
public:
  /// `decoder` outlives the search. `code` are the functions of its programs,
  /// in order, `parameters` what they read, in the type of their elements: of
  /// one model, or of each member of an ensemble.
  Search(const Decoder &decoder, std::vector<ProgramCode> code,
         std::vector<OwnedMemory> parameters, void *pool);
  ~Search();

  /// The best hypotheses of each example, best first; or its samples, in order.
  Status decode(const Batch &examples, const SearchOptions &options,
                std::vector<std::vector<Generated>> &results);

  /// Its two halves, for measurements: `encode` lays out a batch and computes
  /// everything before the search.
  Status encode(const Batch &examples, uint64_t draws = 0);
  Status generate(const Batch &examples, const SearchOptions &options,
                  std::vector<std::vector<Generated>> &results);

  /// The bytes of the arrays of the last batch, without the parameters.
  int64_t memoryBytes() const;

private:
  friend class SearchRun;
  friend struct MemberRows;
  friend class SearchSteps;

  /// A model, and the memory of its programs.
  struct Member {
    Member(const Program &encode, OwnedMemory memory)
        : parameters(std::move(memory)), encoded(encode) {}

    OwnedMemory parameters;
    Workspace encoded;
    bool isPrepared = false;
    /// One per segment; null if there is nothing to compute.
    std::vector<std::unique_ptr<StepMemory>> segments;
  };
  Status encode(Member &member, const Batch &examples, uint64_t draws);
  Status decodeOne(const Batch &examples,
                   const std::vector<SearchStart> &starts,
                   const SearchOptions &options,
                   std::vector<std::vector<Generated>> &results);
  Status decodeChain(const Batch &examples, const SearchOptions &options,
                     std::vector<std::vector<Generated>> &results);
  Status checkChain(const Batch &examples);
  Status takeLogps(const SearchOptions &options, Generated &result) const;
  /// log p after length normalisation.
  static double normalised(const SearchOptions &options, double logp,
                           int64_t steps);
  bool runsBackwards() const;
  static Status hasNoPrefix(const std::string &name);
  std::vector<Search *> chain();

  const Decoder &decoder;
  std::vector<ProgramCode> code;
  void *pool;
  std::vector<std::unique_ptr<Member>> members;
  std::string openLength;
  /// The following searches, and the lengths that earlier ones found.
  std::deque<Decoder> laterDecoders;
  std::vector<std::unique_ptr<Search>> later;
  std::vector<std::string> foundLengths;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_SEARCH_SEARCH_H
