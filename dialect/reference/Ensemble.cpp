//===- Ensemble.cpp - several models as one hypothesis --------------------===//
//
// Runs the members side by side: each with its own parameters, all with the
// values chosen from the mean of their probabilities.
//
//===----------------------------------------------------------------------===//

#include "dialect/reference/Runner.h"

#include <fmt/format.h>

using namespace mlir;
using namespace fovea;
using namespace fovea::reference;

namespace {
class Ensemble : public Runner {
public:
  Ensemble(const Inputs &inputs, const SearchOptions &options,
           std::vector<std::unique_ptr<Runner>> members)
      : Runner(inputs, options), members(std::move(members)) {}

  Ensemble(const Ensemble &other) : Runner(other) {
    for (const auto &member : other.members)
      members.push_back(member->clone());
  }

  std::unique_ptr<Runner> clone() const override {
    return std::make_unique<Ensemble>(*this);
  }
  Status advance(Event &event) override;
  bool ranksByScore() const override { return members.front()->ranksByScore(); }
  void shareStates(const Runner &first) override {
    const auto &other = static_cast<const Ensemble &>(first);
    for (auto [own, others] : llvm::zip_equal(members, other.members))
      own->shareStates(*others);
  }
  Arrays outputs() const override { return members.front()->outputs(); }

protected:
  Status store(ArrayRef<double> value) override {
    for (auto &member : members)
      if (Status status = member->give(value); status.failed())
        return status;
    return Status::success();
  }

private:
  Status takePending();

  std::vector<std::unique_ptr<Runner>> members;
};
} // namespace

/// The common event that the members wait for.
Status Ensemble::takePending() {
  std::vector<ChoiceDistribution> all;
  for (const auto &member : members)
    all.push_back(member->pending.distribution);
  pending.op = members.front()->pending.op;
  pendingEnd = members.front()->endValue();
  if (!all.front().isDiscrete())
    return Status::error(
        fmt::format("'{}' is a choice of real numbers, which an ensemble "
                    "cannot make",
                    pending.name()));
  pending.distribution = ChoiceDistribution::meanOf(all);
  return Status::success();
}

Status Ensemble::advance(Event &event) {
  std::optional<Event> agreed;
  for (auto &member : members) {
    Event own = event;
    if (Status status = member->advance(own); status.failed())
      return status;
    if (agreed.value_or(own) != own || member->cut != members.front()->cut)
      return Status::error("the members of the ensemble do not agree on a mark "
                           "('valid', 'stop' or 'longest')");
    agreed = own;
  }
  event = agreed.value_or(event);
  steps = members.front()->steps;
  cut = members.front()->cut;
  score.reset();
  for (const auto &member : members)
    if (member->score)
      score = score.value_or(0) +
              *member->score / static_cast<double>(members.size());
  return event == Event::Choice ? takePending() : Status::success();
}

std::unique_ptr<Runner>
reference::makeEnsemble(const Inputs &inputs, const SearchOptions &options,
                        std::vector<std::unique_ptr<Runner>> members) {
  return std::make_unique<Ensemble>(inputs, options, std::move(members));
}
