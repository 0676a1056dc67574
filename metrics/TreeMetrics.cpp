//===- TreeMetrics.cpp - metrics of constituents --------------------------===//

#include "metrics/Brackets.h"
#include "metrics/Kinds.h"

#include <fmt/format.h>

using namespace fovea::metrics;

namespace {

/// F1 = 2 shared / (constituents of the hypotheses + of the references). A
/// hypothesis that is not a tree, or whose words differ from its reference,
/// shares nothing. EVALB leaves such lines out; `details` gives its figure. Of
/// several references the one with the best F1 counts.
class BracketMetric : public Metric {
public:
  BracketMetric() : Metric(/*isLower=*/false) {}

  double valueOf(const Statistics &sum) const override {
    return Counts::read(&sum[0]).f1();
  }
  std::string signature() const override {
    std::string references = common();
    return "bracket F1|" + references.substr(0, references.find('|')) +
           "|labelled";
  }

private:
  struct Counts {
    double shared = 0, ours = 0, theirs = 0;
    static Counts read(const double *from) {
      return {from[0], from[1], from[2]};
    }
    double f1() const {
      return ours + theirs == 0 ? 0 : 200 * shared / (ours + theirs);
    }
  };

  /// The counts of all lines, those of the lines that EVALB compares, and
  /// numbers of lines: trees, and what EVALB compares.
  Statistics count(std::string_view hypothesis,
                   const std::vector<std::string_view> &references) override {
    std::optional<Tree> own = parseTree(hypothesis);
    double ours = own ? double(numOf(own->constituents)) : 0;
    Counts best;
    bool isFirst = true, isBestValid = false;
    for (std::string_view reference : references) {
      std::optional<Tree> other = parseTree(reference);
      Counts counts = {0, ours, other ? double(numOf(other->constituents)) : 0};
      if (own && other && own->words == other->words)
        counts.shared =
            double(sharedOf(own->constituents, other->constituents));
      if (isFirst || counts.f1() > best.f1()) {
        best = counts;
        isBestValid =
            own && other && own->words > 0 && areComparable(*own, *other);
      }
      isFirst = false;
    }
    Counts valid = isBestValid ? best : Counts();
    return {
        best.shared, best.ours,    best.theirs,     valid.shared,
        valid.ours,  valid.theirs, own ? 1.0 : 0.0, isBestValid ? 1.0 : 0.0};
  }
  std::string details(const Statistics &sum, int digits) const override {
    auto share = [](double part, double whole) {
      return whole == 0 ? 0 : 100 * part / whole;
    };
    return fmt::format(" (precision {:.1f} recall {:.1f}; {} of {} lines are "
                       "trees; EVALB has {:.{}f} of {})",
                       share(sum[0], sum[1]), share(sum[0], sum[2]), sum[6],
                       size(), Counts::read(&sum[3]).f1(), digits, sum[7]);
  }
};

} // namespace

std::unique_ptr<Metric> fovea::metrics::createTrees(std::string_view name) {
  if (name == "bracket-f1")
    return std::make_unique<BracketMetric>();
  return nullptr;
}
