//===- SearchRun.h - one search over one batch ----------------------------===//
//
// Private to the search. Search.cpp makes the steps, SearchLoops.cpp the loops
// inside them, and SearchChoices.cpp the choices. SearchRows.cpp moves values
// between programs, SearchLengths.cpp computes lengths, and SearchResults.cpp
// assembles results.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_SEARCH_SEARCHRUN_H
#define FOVEA_RUNTIME_SEARCH_SEARCHRUN_H

#include "runtime/device/OwnKernels.h"
#include "runtime/search/BestSymbols.h"
#include "runtime/search/Distribution.h"
#include "runtime/search/Search.h"

namespace fovea::runtime {

/// One choice of a step, with its log p.
struct Chosen {
  int choice = 0;
  double logp = 0;
};

/// A hypothesis that is alive.
struct Hypothesis {
  int64_t group = 0, example = 0;
  double logp = 0;
  std::optional<double> score; // the mark's last value
  int64_t node = -1;           // of the step before
  int64_t numChoices = 0;
  bool ended = false, hasEnd = false; // by a symbol
  int64_t state = 0;                  // its row of the states
  int64_t inner = 0;                  // the same of those of a loop inside
  int buffer = -1;                    // of what grows
  std::vector<int64_t> rows;          // by segment, once that has run
  // For the current step:
  std::vector<std::vector<double>> chosen; // by choice
  std::vector<Chosen> logps;
};

/// A step of a hypothesis; hypotheses share their history.
struct Node {
  int64_t parent = -1;
  std::vector<Chosen> logps;
  std::vector<std::vector<std::byte>> rows; // by stack
};

struct Finished {
  double logp = 0, score = 0;
  int64_t steps = 0, node = -1;
  bool cut = false, hasEnd = false;
  Hypothesis last;                            // without a search
  std::vector<std::vector<std::byte>> states; // after the last step
};

/// A set of competing hypotheses: an example, or one sample of it.
struct Group {
  int64_t example = 0;
  uint64_t draw = 0;
  std::vector<Finished> finished;
};

/// A possible continuation.
struct Candidate {
  size_t parent = 0; // in the live hypotheses
  std::vector<double> value;
  double logp = 0; // of the choice
  double rank = 0;
};

/// Rows on their way into an array.
struct GatheredRows {
  std::vector<RowCopy> copies;
  std::vector<std::vector<std::byte>> made; // of what lies nowhere

  void copyTo(RowArray &to, int64_t elementBytes);
};

/// A value by its name.
struct ValueSource {
  enum Kind { Encoded, State, Inner, Choice, Segment } kind = Encoded;
  int index = 0; // of the state, choice or segment
  const Program::Array *array = nullptr;
};

/// One member's values for the hypotheses: rows of all members have the same
/// positions.
struct MemberRows {
  explicit MemberRows(Search::Member &member) : member(member) {}

  Search::Member &member;
  std::vector<RowArray> states, nextStates;
  std::vector<RowArray> inner, nextInner;
  /// The gathered inputs of segments.
  std::map<std::string, RowArray> gathered;
  std::vector<SharedVector<std::byte>> buffers; // by state
};

class SearchRun {
public:
  SearchRun(Search &search, const Batch &examples, const SearchOptions &options,
            const std::vector<SearchStart> &starts = {})
      : search(search), starts(starts), decoder(search.decoder),
        encoded(search.members.front()->encoded), examples(examples),
        options(options) {
    for (const auto &member : search.members)
      members.emplace_back(*member);
  }

  Status run(std::vector<std::vector<Generated>> &results);

private:
  friend class SearchSteps;

  //===--- Search.cpp -----------------------------------------------------===//
  Status begin();
  Status runSteps();
  Status runStep();
  Status takeChoice(int number);
  Status takeElement(int number, int64_t element,
                     const std::vector<size_t> &group,
                     std::vector<Hypothesis> &next);
  Status takeLast(int number);
  Status rankAll(int number, std::vector<Hypothesis> &next);
  Status findCandidates(int number, int64_t element,
                        const std::vector<size_t> &group, size_t most,
                        std::vector<Candidate> &candidates);
  Status pick(int number, size_t parent, const Distribution &distribution,
              Candidate &candidate);
  Status distributionOf(int number, int64_t element, const Hypothesis &from,
                        Distribution &distribution);
  Status distributionOf(const MemberRows &own, int number, int64_t element,
                        const Hypothesis &from, Distribution &distribution);
  SearchStart startOf(int64_t example) const {
    return starts.empty() ? SearchStart() : starts[example];
  }
  Status checkEnsemble() const;
  Status checkPrefixes() const;
  /// The forced value of a choice here; null: none.
  const double *forcedAt(int number, int64_t example) const;
  Status forcedLogp(int number, double value, const Distribution &distribution,
                    double &logp) const;
  Hypothesis follow(const Candidate &candidate, int number);
  void fill(Hypothesis &hypothesis, int number) const;
  Status stage(int number, std::vector<Hypothesis> &hypotheses,
               std::vector<char> &rejected);
  Status applyMarks(int number, Hypothesis &hypothesis, bool &rejected);
  Status endStep();
  /// Returns whether the prefix has values of later steps: nothing in it ends
  /// the output.
  bool prefixGoesOn(int64_t example) const;
  /// Tells `options.listen` what a hypothesis chose in this step.
  bool tell(const Hypothesis &hypothesis) const;
  double logpOf(const Hypothesis &hypothesis) const;
  double scoreOf(double logp, int64_t steps,
                 const std::optional<double> &score) const;
  /// Real-valued single choices take the most probable value.
  bool followsOnePath() const {
    return options.sample || (!decoder.isSearch && !isListable());
  }
  bool isListable() const;
  bool hasMark(Decoder::Mark::Kind kind, int segment = -1) const;
  int64_t roomOf(int64_t group) const {
    return width - static_cast<int64_t>(groups[group].finished.size());
  }
  Status isNoNumber(int choice) const;
  static Status doNotAgree() {
    return Status::error("the members of the ensemble do not agree on a mark "
                         "('valid', 'stop' or 'longest')");
  }
  static Status forbidsEverything() {
    return Status::error("the mark 'valid' forbids everything");
  }
  /// The live hypotheses of each group, in order.
  std::vector<std::vector<size_t>> byGroup() const;

  //===--- SearchLoops.cpp ------------------------------------------------===//
  Status runLoop(const Decoder::Loop &loop);
  void moveInner(const Decoder::Loop &loop, bool begins,
                 std::vector<Hypothesis> &waiting);
  /// How many values of a choice are made in so many steps, and so many places
  /// of the loop around it.
  int64_t numMade(int number, int64_t example, int64_t steps,
                  int64_t places) const;
  /// Whether a choice before a segment was forced in this step; in a loop, the
  /// one just before it.
  bool isForced(int segment, int64_t example) const;

  //===--- SearchLengths.cpp ----------------------------------------------===//
  void findLengths();
  int64_t lengthAt(int64_t extent, int64_t example) const;
  int64_t rowLengthAt(int64_t extent, int64_t example, int64_t at) const;
  int64_t indexOf(int64_t at, int64_t example) const;
  bool isRowOfStep(int64_t extent) const;
  bool isInside(const std::vector<int64_t> &shape, int64_t element,
                int64_t example) const;
  int64_t countOf(const std::vector<int64_t> &shape, int64_t example) const;
  /// The number of the last element of a choice; -1: it has none.
  int64_t lastElement(int number, int64_t example) const;

  //===--- SearchRows.cpp -------------------------------------------------===//
  ValueSource find(const std::string &name) const;
  void findSources();
  std::vector<std::byte> read(const MemberRows &own, const ValueSource &source,
                              const Hypothesis &from) const;
  /// Of the first member.
  std::vector<std::byte> read(const ValueSource &source,
                              const Hypothesis &from) const {
    return read(members.front(), source, from);
  }
  void findBestOnDevice(int number);
  const BestSymbols *bestOf(int number, const Hypothesis &from) const;
  const std::byte *placeOf(const MemberRows &own, const ValueSource &source,
                           const Hypothesis &from, int64_t &bytes) const;
  void beginStates();
  void lengthen(const Decoder::State &state,
                const std::vector<Hypothesis> &from, RowArray &rows) const;
  void moveStates(const std::vector<Hypothesis> &from);
  Status runSegment(int number, std::vector<Hypothesis> &hypotheses,
                    bool keepsParents);
  Status runSegment(MemberRows &own, int number, const StepRows &rows,
                    const std::vector<Hypothesis> &hypotheses, bool isInOrder);
  void gather(const MemberRows &own, const ValueSource &source,
              const std::vector<Hypothesis> &from, int64_t elementBytes,
              RowArray &to) const;
  void addRows(const MemberRows &own, const ValueSource &source,
               const std::vector<Hypothesis> &from, GatheredRows &rows) const;
  // Buffers of growing state.
  int64_t placesOf(size_t state, int64_t example) const;
  void makeRoom(int64_t steps, int64_t buffers);
  void ownBuffers(int segment, std::vector<Hypothesis> &hypotheses,
                  const std::vector<Hypothesis> &others);
  bool hasGrowing() const;

  //===--- SearchResults.cpp ----------------------------------------------===//
  void keepStep(Hypothesis &hypothesis);
  bool hasOutput(const std::string &name) const;
  void listLogps(const Finished &finished, Generated &result) const;
  Status finish(const Finished &finished, int64_t example, Generated &result);
  Status runFinish(const Finished &finished, int64_t example,
                   Generated &result);
  DataValues stackOf(int number, const Finished &finished, int64_t example);
  DataValues stateOf(int number, const Finished &finished, int64_t example);
  bool needsStates() const;

  Search &search;
  /// By example; empty: each begins here.
  std::vector<SearchStart> starts;
  const Decoder &decoder;
  const Workspace &encoded;
  const Batch &examples;
  const SearchOptions &options;
  int64_t width = 1;
  int64_t step = 0;
  /// For a loop inside the step: the number of finished places, and its index.
  int64_t place = 0, inside = 0;
  std::vector<Group> groups;
  std::vector<Hypothesis> live;
  std::vector<Node> nodes;
  std::vector<int64_t> longest; // by example

  std::vector<const Tables::Length *> lengths; // by Decoder::lengths
  std::vector<int64_t> parents; // the extents that nested ones vary along
  int openLength = -1;
  std::map<std::string, ValueSource> sources;
  /// For the current choice, by the rows of its segment, if a device found
  /// them.
  std::vector<BestSymbols> best;
  std::vector<MemberRows> members;
  int64_t bufferSteps = 0, numBuffers = 0; // the room in each, and of them
  std::vector<int64_t> mostPlaces;         // of a step, by state
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_SEARCH_SEARCHRUN_H
