//===- TranslationMetrics.cpp - the metrics of sacreBLEU ------------------===//

#include "metrics/Chrf.h"
#include "metrics/Kinds.h"
#include "metrics/Ter.h"

#include <algorithm>
#include <fmt/format.h>

using namespace fovea::metrics;

/// The release that wrote the figures in test/metrics/Inputs.
static constexpr char sacrebleu[] = "version:2.6.0";

namespace {

class BleuMetric : public Metric {
public:
  explicit BleuMetric(const MetricOptions &options)
      : Metric(options.isLower),
        tokeniser(options.tokeniser.value_or(Tokeniser::V13a)),
        smoothing(options.smoothing),
        smoothingValue(options.smoothingValue.value_or(
            smoothing == Smoothing::Floor ? 0.1 : 1)) {}

  double valueOf(const Statistics &sum) const override {
    return Bleu(sum).score(smoothing, smoothingValue).score;
  }
  double lineValue(size_t line) const override {
    return Bleu(statistics(line))
        .score(smoothing, smoothingValue, /*effective=*/true)
        .score;
  }
  std::string signature() const override { return signatureWith("no"); }
  std::string lineSignature() const override { return signatureWith("yes"); }

private:
  Statistics count(std::string_view hypothesis,
                   const std::vector<std::string_view> &references) override {
    return Bleu::count(tokenise(hypothesis, tokeniser),
                       tokeniseAll(references, tokeniser));
  }
  std::string details(const Statistics &sum, int) const override {
    BleuScore all = Bleu(sum).score(smoothing, smoothingValue);
    const auto &p = all.precisions;
    double ratio =
        all.referenceLength == 0
            ? 0
            : static_cast<double>(all.hypothesisLength) / all.referenceLength;
    return fmt::format(
        " {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} "
        "ref_len = {})",
        p[0], p[1], p[2], p[3], all.brevity, ratio, all.hypothesisLength,
        all.referenceLength);
  }
  std::string signatureWith(const char *effective) const {
    return fmt::format("BLEU|{}|eff:{}|tok:{}|smooth:{}|{}", common(),
                       effective, nameOf(tokeniser), smoothingText(),
                       sacrebleu);
  }
  std::string smoothingText() const {
    switch (smoothing) {
    case Smoothing::Exp:
      return "exp";
    case Smoothing::Floor:
      return fmt::format("floor[{:.2f}]", smoothingValue);
    case Smoothing::AddK:
      return fmt::format("add-k[{:.2f}]", smoothingValue);
    case Smoothing::None:
      return "none";
    }
    return "";
  }

  Tokeniser tokeniser;
  Smoothing smoothing;
  double smoothingValue;
};

class ChrfMetric : public Metric {
public:
  ChrfMetric(size_t wordOrders, const MetricOptions &options)
      : Metric(options.isLower), wordOrders(wordOrders) {}
  double valueOf(const Statistics &sum) const override {
    return chrfScore(sum);
  }
  std::string signature() const override {
    return fmt::format("chrF2{}|{}|eff:yes|nc:6|nw:{}|space:no|{}",
                       std::string(wordOrders, '+'), common(), wordOrders,
                       sacrebleu);
  }

private:
  Statistics count(std::string_view hypothesis,
                   const std::vector<std::string_view> &references) override {
    return countChrf(hypothesis, references, wordOrders);
  }

  size_t wordOrders;
};

class TerMetric : public Metric {
public:
  TerMetric() : Metric(/*isLower=*/true) {}
  bool isHigherBetter() const override { return false; }
  double valueOf(const Statistics &sum) const override {
    // Words beside empty references are wrong, however many there are.
    if (sum[1] == 0)
      return sum[0] > 0 ? 100 : 0;
    return 100 * (sum[0] / sum[1]);
  }
  std::string signature() const override {
    return fmt::format("TER|{}|tok:tercom|norm:no|punct:yes|asian:no|{}",
                       common(), sacrebleu);
  }

private:
  /// The fewest edits to a reference, and the mean length of the references.
  Statistics count(std::string_view hypothesis,
                   const std::vector<std::string_view> &references) override {
    Tokens own = tokenise(hypothesis, Tokeniser::None);
    std::vector<int64_t> edits;
    double length = 0;
    for (const Tokens &other : tokeniseAll(references, Tokeniser::None)) {
      edits.push_back(translationEdits(own, other));
      length += double(other.size());
    }
    return {double(*std::min_element(edits.begin(), edits.end())),
            length / double(references.size())};
  }
};

} // namespace

std::unique_ptr<Metric>
fovea::metrics::createTranslation(std::string_view name,
                                  const MetricOptions &options) {
  if (name == "bleu")
    return std::make_unique<BleuMetric>(options);
  if (name == "chrf" || name == "chrf++")
    return std::make_unique<ChrfMetric>(name == "chrf" ? 0 : 2, options);
  if (name == "ter")
    return std::make_unique<TerMetric>();
  return nullptr;
}
