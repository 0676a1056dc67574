//===- CaptionMetrics.cpp - the metrics of coco-caption -------------------===//

#include "metrics/Cider.h"
#include "metrics/Distance.h"
#include "metrics/Kinds.h"
#include "metrics/Meteor.h"

#include <algorithm>
#include <fmt/format.h>

using namespace fovea::metrics;

namespace {

/// A metric that compares a line with all of its references.
class CaptionMetric : public Metric {
public:
  CaptionMetric(std::string name, const MetricOptions &options,
                Tokeniser otherwise = Tokeniser::None)
      : Metric(options.isLower), name(std::move(name)),
        tokeniser(options.tokeniser.value_or(otherwise)) {}

  std::string signature() const override {
    return fmt::format("{}|{}|tok:{}", name, common(), nameOf(tokeniser));
  }

protected:
  virtual Statistics countTokens(const Tokens &hypothesis,
                                 const std::vector<Tokens> &references) = 0;
  std::string details(const Statistics &, int) const override {
    return fmt::format(" ({} lines)", size());
  }

private:
  Statistics count(std::string_view hypothesis,
                   const std::vector<std::string_view> &references) override {
    return countTokens(tokenise(hypothesis, tokeniser),
                       tokeniseAll(references, tokeniser));
  }

  std::string name;
  Tokeniser tokeniser;
};

/// A mean over lines.
class CaptionMean : public CaptionMetric {
public:
  using CaptionMetric::CaptionMetric;
  double valueOf(const Statistics &sum) const override {
    return sum[0] / sum[1];
  }
};

/// BLEU of fewer orders, as coco-caption computes it.
class CaptionBleu : public CaptionMetric {
public:
  CaptionBleu(size_t order, const MetricOptions &options)
      : CaptionMetric(fmt::format("BLEU-{}", order), options), order(order) {}
  double valueOf(const Statistics &sum) const override {
    return Bleu(sum).captionScore(order);
  }
  std::string signature() const override {
    return fmt::format("{}|BP:{:.3f}", CaptionMetric::signature(),
                       Bleu(sum()).score(Smoothing::None, 0).brevity);
  }
  std::string lineSignature() const override {
    return CaptionMetric::signature();
  }

private:
  Statistics countTokens(const Tokens &hypothesis,
                         const std::vector<Tokens> &references) override {
    return Bleu::count(hypothesis, references);
  }

  size_t order;
};

class CiderMetric : public CaptionMean {
public:
  CiderMetric(bool isD, const MetricOptions &options)
      : CaptionMean(isD ? "CIDEr-D" : "CIDEr", options),
        cider(isD, options.corpus) {}
  Statistics statistics(size_t line) const override {
    return {cider.score(line), 1};
  }
  double unit() const override { return 10; }
  bool needsCorpus() const override { return true; }

private:
  Statistics countTokens(const Tokens &hypothesis,
                         const std::vector<Tokens> &references) override {
    cider.add(hypothesis, references);
    return {0, 1};
  }

  Cider cider;
};

class MeteorMetric : public CaptionMetric {
public:
  explicit MeteorMetric(const MetricOptions &options)
      : CaptionMetric("METEOR", options, Tokeniser::Meteor),
        synonyms(options.synonyms), meteor(options.synonyms) {}
  double valueOf(const Statistics &sum) const override {
    return 100 * Meteor::score(sum);
  }
  std::string signature() const override {
    std::string modules = "|modules:exact,stem";
    if (synonyms && synonyms->hasWordNet())
      modules += ",synonym";
    if (synonyms && synonyms->hasParaphrases())
      modules += ",paraphrase";
    return CaptionMetric::signature() + modules + "|version:1.5";
  }

private:
  Statistics countTokens(const Tokens &hypothesis,
                         const std::vector<Tokens> &references) override {
    return meteor.count(hypothesis, references);
  }
  bool ignoresCase() const override { return true; }

  std::shared_ptr<const Synonyms> synonyms;
  Meteor meteor;
};

/// ROUGE-L as coco-caption computes it: F = (1 + b^2) P R / (R + b^2 P) with b
/// = 1.2, and with the best P and the best R of all references.
class CaptionRouge : public CaptionMean {
public:
  explicit CaptionRouge(const MetricOptions &options)
      : CaptionMean("ROUGE-L", options) {}
  double valueOf(const Statistics &sum) const override {
    return 100 * CaptionMean::valueOf(sum);
  }
  std::string signature() const override {
    return CaptionMean::signature() + "|beta:1.2";
  }

private:
  Statistics countTokens(const Tokens &hypothesis,
                         const std::vector<Tokens> &references) override {
    double precision = 0, recall = 0;
    for (const Tokens &reference : references) {
      double common = double(commonSubsequence(hypothesis, reference));
      if (common == 0)
        continue;
      precision = std::max(precision, common / double(hypothesis.size()));
      recall = std::max(recall, common / double(reference.size()));
    }
    constexpr double square = 1.2 * 1.2;
    if (precision == 0 || recall == 0)
      return {0, 1};
    return {(1 + square) * precision * recall / (recall + square * precision),
            1};
  }
};

} // namespace

std::unique_ptr<Metric>
fovea::metrics::createCaption(std::string_view name,
                              const MetricOptions &options) {
  if (name.size() == 6 && name.starts_with("bleu-") && name[5] >= '1' &&
      name[5] <= '4')
    return std::make_unique<CaptionBleu>(name[5] - '0', options);
  if (name == "cider" || name == "cider-d")
    return std::make_unique<CiderMetric>(name == "cider-d", options);
  if (name == "meteor")
    return std::make_unique<MeteorMetric>(options);
  if (name == "rouge-l-coco")
    return std::make_unique<CaptionRouge>(options);
  return nullptr;
}
