//===- Runner.h - one hypothesis, run up to its next choice ---------------===//
//
// The search's view of a decoding graph. There are two kinds: a program runs op
// by op and keeps its state; in a system, what depends on choices is evaluated
// from scratch for each of them, and so it is the oracle for the other.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_RUNNER_H
#define FOVEA_DIALECT_REFERENCE_RUNNER_H

#include "dialect/reference/Program.h"
#include "dialect/reference/Search.h"

namespace fovea::reference {

enum class Event {
  Choice,    // `pending` waits for a value
  StepEnd,   // one step of the outermost search is done, and there is another
  SearchEnd, // the outermost search is done
  Rejected,  // the mark "valid" forbids the last value
  End        // everything is done; outputs stand
};

class Runner {
public:
  Runner(const Inputs &inputs, const SearchOptions &options)
      : inputs(&inputs), options(&options) {}
  virtual ~Runner() = default;
  virtual std::unique_ptr<Runner> clone() const = 0;

  /// Runs to the next event. After Choice, call `give` first.
  virtual Status advance(Event &event) = 0;
  /// Sets the value of the pending choice.
  Status give(llvm::ArrayRef<double> value);
  /// Returns whether the running search has the mark "score".
  virtual bool ranksByScore() const = 0;
  /// At StepEnd: takes the states that the beam does not reorder from `first`.
  virtual void shareStates(const Runner &first) = 0;
  /// At End.
  virtual Arrays outputs() const = 0;

  /// Picks a value without a search: the given one, a sample, or the mode.
  Status choose(const ChoiceDistribution &distribution, llvm::StringRef name,
                std::vector<double> &value);
  /// The value that ends the sequence at the pending choice.
  std::optional<int64_t> endValue() const { return pendingEnd; }
  /// The forced next value of this choice, or nothing.
  std::optional<double> prefixValue(llvm::StringRef name) const;

  struct Pending {
    attn::ChoiceOp op;
    ChoiceDistribution distribution;

    std::string name() const {
      attn::ChoiceOp choice = op;
      return choice.getTarget().str();
    }
  } pending;
  double logp = 0;
  std::vector<double> stepLogp;
  std::map<std::string, std::vector<size_t>> choices; // which, by name
  int64_t steps = 0;
  bool cut = false;            // reached the largest number of steps
  bool hasEnd = false;         // a choice took its end
  std::optional<double> score; // the mark's last value
  uint64_t draw = 0;           // which of several draws this is

protected:
  /// Stores the value of the pending choice.
  virtual Status store(llvm::ArrayRef<double> value) = 0;
  /// Records log p of a chosen value.
  Status count(const ChoiceDistribution &distribution, llvm::StringRef name,
               llvm::ArrayRef<double> value);
  /// Returns whether the given values are used up.
  bool isForcedOver() const;
  /// Returns whether the prefix has more values for the last choice of a step:
  /// nothing in it ends the output.
  bool prefixGoesOn() const {
    return pending.op && prefixValue(pending.name()).has_value();
  }
  /// Returns whether the mark "valid" counts in this step; `isLast`: whether it
  /// does for the last chosen value.
  bool isJudged(bool isLast) const {
    return options->forced.empty() &&
           !(isLast ? isLastForced : forcedStep == steps);
  }
  /// The value of `end` of a choice.
  static std::optional<int64_t> endOf(attn::ChoiceOp op,
                                      const LengthTable &lengths);

  const Inputs *inputs;
  const SearchOptions *options;
  std::optional<int64_t> pendingEnd;
  bool ended = false; // a choice took its end, or "stop" holds
  std::map<std::string, int64_t> taken; // choices made, by name
  int64_t forcedStep = -1;   // the last step in which the prefix gave a value
  bool isLastForced = false; // whether it gave the last value
};

/// A runner before its first op.
Status makeProgramRunner(mlir::Operation *program, const Inputs &inputs,
                         const SearchOptions &options,
                         std::unique_ptr<Runner> &runner);
Status makeSystemRunner(mlir::Operation *system, const Inputs &inputs,
                        const SearchOptions &options,
                        std::unique_ptr<Runner> &runner);

/// Several models before their first op, which form an ensemble.
std::unique_ptr<Runner>
makeEnsemble(const Inputs &inputs, const SearchOptions &options,
             std::vector<std::unique_ptr<Runner>> members);

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_RUNNER_H
