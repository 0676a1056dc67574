//===- Metric.cpp - a metric by its name ----------------------------------===//

#include "metrics/Metric.h"
#include "metrics/Brackets.h"
#include "metrics/Chrf.h"
#include "metrics/Cider.h"
#include "metrics/Distance.h"
#include "metrics/Meteor.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>

using namespace fovea::metrics;

/// The release whose figures test/metrics/Inputs holds.
static constexpr char sacrebleu[] = "version:2.6.0";

static const char *nameOf(Tokeniser tokeniser) {
  switch (tokeniser) {
  case Tokeniser::None:
    return "none";
  case Tokeniser::V13a:
    return "13a";
  case Tokeniser::Meteor:
    return "meteor";
  case Tokeniser::Chars:
    return "char";
  case Tokeniser::CharsAndBlanks:
    return "char+blank";
  }
  return "";
}

static std::vector<Tokens>
tokeniseAll(const std::vector<std::string_view> &lines, Tokeniser tokeniser) {
  std::vector<Tokens> result;
  for (std::string_view line : lines)
    result.push_back(tokenise(line, tokeniser));
  return result;
}

namespace {

//===----------------------------------------------------------------------===//
// Those of sacreBLEU
//===----------------------------------------------------------------------===//

class BleuMetric : public Metric {
public:
  explicit BleuMetric(const MetricOptions &options)
      : tokeniser(options.tokeniser.value_or(Tokeniser::V13a)),
        smoothing(options.smoothing),
        smoothingValue(options.smoothingValue.value_or(
            smoothing == Smoothing::Floor ? 0.1 : 1)) {}

  void add(std::string_view hypothesis,
           const std::vector<std::string_view> &references) override {
    numReferences = references.size();
    bleu.add(tokenise(hypothesis, tokeniser),
             tokeniseAll(references, tokeniser));
  }
  double value() const override {
    return bleu.score(smoothing, smoothingValue).score;
  }
  std::string text(int digits) const override {
    BleuScore all = bleu.score(smoothing, smoothingValue);
    const auto &p = all.precisions;
    double ratio =
        all.referenceLength == 0
            ? 0
            : static_cast<double>(all.hypothesisLength) / all.referenceLength;
    return fmt::format(
        "BLEU|nrefs:{}|case:mixed|eff:no|tok:{}|smooth:{}|{} = {:.{}f} "
        "{:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} "
        "ref_len = {})",
        numReferences, nameOf(tokeniser), smoothingText(), sacrebleu, all.score,
        digits, p[0], p[1], p[2], p[3], all.brevity, ratio,
        all.hypothesisLength, all.referenceLength);
  }

private:
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
  size_t numReferences = 0;
  Bleu bleu;
};

class ChrfMetric : public Metric {
public:
  void add(std::string_view hypothesis,
           const std::vector<std::string_view> &references) override {
    numReferences = references.size();
    chrf.add(hypothesis, references);
  }
  double value() const override { return chrf.score(); }
  std::string text(int digits) const override {
    return fmt::format(
        "chrF2|nrefs:{}|case:mixed|eff:yes|nc:6|nw:0|space:no|{} = {:.{}f}",
        numReferences, sacrebleu, value(), digits);
  }

private:
  size_t numReferences = 0;
  Chrf chrf;
};

//===----------------------------------------------------------------------===//
// Those that count tokens
//===----------------------------------------------------------------------===//

/// A quotient of two sums over lines. Of several references the one counts
/// that `isBetter`.
class Quotient : public Metric {
public:
  struct Parts {
    double counted = 0, all = 0;
  };

  Quotient(std::string name, const MetricOptions &options)
      : name(std::move(name)),
        tokeniser(options.tokeniser.value_or(Tokeniser::None)) {}

  void add(std::string_view hypothesis,
           const std::vector<std::string_view> &references) override {
    assert(!references.empty() && "every line has a reference");
    numReferences = references.size();
    Tokens tokens = tokenise(hypothesis, tokeniser);
    std::vector<Tokens> all = tokeniseAll(references, tokeniser);
    Parts best = compare(tokens, all.front());
    for (size_t i = 1; i < all.size(); ++i) {
      Parts parts = compare(tokens, all[i]);
      if (isBetter(parts, best))
        best = parts;
    }
    sums.counted += best.counted;
    sums.all += best.all;
  }
  double value() const override {
    return sums.all == 0 ? 0 : factor() * sums.counted / sums.all;
  }
  std::string text(int digits) const override {
    return fmt::format("{}|nrefs:{}|case:mixed|tok:{} = {:.{}f} ({:.{}f} of "
                       "{} {})",
                       name, numReferences, nameOf(tokeniser), value(), digits,
                       sums.counted, isWhole() ? 0 : 2, sums.all, unit());
  }

protected:
  virtual Parts compare(const Tokens &hypothesis, const Tokens &reference) = 0;
  virtual bool isBetter(const Parts &a, const Parts &b) const {
    double left = a.counted * b.all, right = b.counted * a.all;
    return isHigherBetter() ? left > right : left < right;
  }
  virtual double factor() const { return 100; }
  virtual bool isWhole() const { return true; }
  virtual const char *unit() const = 0;

private:
  std::string name;
  Tokeniser tokeniser;
  size_t numReferences = 0;
  Parts sums;
};

/// Places that have the token of the reference / places that either has.
class Accuracy : public Quotient {
  using Quotient::Quotient;
  Parts compare(const Tokens &hypothesis, const Tokens &reference) override {
    return {static_cast<double>(equalPlaces(hypothesis, reference)),
            static_cast<double>(std::max(hypothesis.size(), reference.size()))};
  }
  const char *unit() const override { return "tokens"; }
};

/// Lines that are a reference / lines.
class Exact : public Quotient {
  using Quotient::Quotient;
  Parts compare(const Tokens &hypothesis, const Tokens &reference) override {
    return {hypothesis == reference ? 1.0 : 0.0, 1};
  }
  const char *unit() const override { return "lines"; }
};

/// Edits that make the reference of the hypothesis / its tokens; of several
/// references the one with the fewest edits, then the longest.
class ErrorRate : public Quotient {
  using Quotient::Quotient;
  bool isHigherBetter() const override { return false; }
  bool isBetter(const Parts &a, const Parts &b) const override {
    return a.counted < b.counted || (a.counted == b.counted && a.all > b.all);
  }
  Parts compare(const Tokens &hypothesis, const Tokens &reference) override {
    return {static_cast<double>(editDistance(hypothesis, reference)),
            static_cast<double>(reference.size())};
  }
  const char *unit() const override { return "tokens"; }
};

/// Edits / lines.
class EditDistance : public Quotient {
  using Quotient::Quotient;
  bool isHigherBetter() const override { return false; }
  Parts compare(const Tokens &hypothesis, const Tokens &reference) override {
    return {static_cast<double>(editDistance(hypothesis, reference)), 1};
  }
  double factor() const override { return 1; }
  const char *unit() const override { return "lines"; }
};

/// The mean over lines of F = 2 P R / (P + R), P and R being the length of the
/// longest common subsequence / that of the hypothesis and of the reference
/// (Lin, 2004, section 3.1, with beta = 1, as the package rouge-score has it).
class RougeL : public Quotient {
  using Quotient::Quotient;
  Parts compare(const Tokens &hypothesis, const Tokens &reference) override {
    double common = commonSubsequence(hypothesis, reference);
    double size = hypothesis.size() + reference.size();
    return {size == 0 ? 0 : 2 * common / size, 1};
  }
  bool isWhole() const override { return false; }
  const char *unit() const override { return "lines"; }
};

//===----------------------------------------------------------------------===//
// Those of captions
//===----------------------------------------------------------------------===//

/// What compares a line with all of its references.
class CaptionMetric : public Metric {
public:
  CaptionMetric(std::string name, const MetricOptions &options,
                Tokeniser otherwise = Tokeniser::None)
      : name(std::move(name)),
        tokeniser(options.tokeniser.value_or(otherwise)) {}

  void add(std::string_view hypothesis,
           const std::vector<std::string_view> &references) override {
    numReferences = references.size();
    ++numLines;
    addTokens(tokenise(hypothesis, tokeniser),
              tokeniseAll(references, tokeniser));
  }
  std::string text(int digits) const override {
    return fmt::format("{}|nrefs:{}|case:{}|tok:{}{} = {:.{}f} ({} lines)",
                       name, numReferences, isLower() ? "lc" : "mixed",
                       nameOf(tokeniser), signature(), value(), digits,
                       numLines);
  }

protected:
  virtual void addTokens(const Tokens &hypothesis,
                         const std::vector<Tokens> &references) = 0;
  virtual std::string signature() const { return ""; }
  virtual bool isLower() const { return false; }

  size_t numLines = 0;

private:
  std::string name;
  Tokeniser tokeniser;
  size_t numReferences = 0;
};

/// BLEU of fewer orders, as coco-caption has it.
class CaptionBleu : public CaptionMetric {
public:
  CaptionBleu(size_t order, const MetricOptions &options)
      : CaptionMetric(fmt::format("BLEU-{}", order), options), order(order) {}
  double value() const override { return bleu.captionScore(order); }

private:
  void addTokens(const Tokens &hypothesis,
                 const std::vector<Tokens> &references) override {
    bleu.add(hypothesis, references);
  }
  std::string signature() const override {
    return fmt::format("|BP:{:.3f}", bleu.score(Smoothing::None, 0).brevity);
  }

  size_t order;
  Bleu bleu;
};

class CiderMetric : public CaptionMetric {
public:
  CiderMetric(bool isD, const MetricOptions &options)
      : CaptionMetric(isD ? "CIDEr-D" : "CIDEr", options), cider(isD) {}
  double value() const override { return cider.score(); }

private:
  void addTokens(const Tokens &hypothesis,
                 const std::vector<Tokens> &references) override {
    cider.add(hypothesis, references);
  }

  Cider cider;
};

class MeteorMetric : public CaptionMetric {
public:
  explicit MeteorMetric(const MetricOptions &options)
      : CaptionMetric("METEOR", options, Tokeniser::Meteor),
        synonyms(options.synonyms), meteor(options.synonyms) {}
  double value() const override { return 100 * meteor.score(); }

private:
  void addTokens(const Tokens &hypothesis,
                 const std::vector<Tokens> &references) override {
    meteor.add(hypothesis, references);
  }
  bool isLower() const override { return true; }
  std::string signature() const override {
    std::string modules = "|modules:exact,stem";
    if (synonyms && synonyms->hasWordNet())
      modules += ",synonym";
    if (synonyms && synonyms->hasParaphrases())
      modules += ",paraphrase";
    return modules + "|version:1.5";
  }

  std::shared_ptr<const Synonyms> synonyms;
  Meteor meteor;
};

/// ROUGE-L as coco-caption has it: F = (1 + b^2) P R / (R + b^2 P) with b
/// = 1.2, and with the best P and the best R of all references.
class CaptionRouge : public CaptionMetric {
public:
  explicit CaptionRouge(const MetricOptions &options)
      : CaptionMetric("ROUGE-L", options) {}
  double value() const override {
    return numLines == 0 ? 0 : 100 * sum / double(numLines);
  }

private:
  void addTokens(const Tokens &hypothesis,
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
    if (precision != 0 && recall != 0)
      sum += (1 + square) * precision * recall / (recall + square * precision);
  }
  std::string signature() const override { return "|beta:1.2"; }

  double sum = 0;
};

//===----------------------------------------------------------------------===//
// Trees
//===----------------------------------------------------------------------===//

/// F1 = 2 shared / (constituents of the hypotheses + of the references). A
/// hypothesis that is no tree, or of other words than the reference has, shares
/// nothing; EVALB leaves such lines out, and what it has is said beside it. Of
/// several references the one with the best F1 counts.
class BracketMetric : public Metric {
public:
  void add(std::string_view hypothesis,
           const std::vector<std::string_view> &references) override {
    numReferences = references.size();
    std::optional<Tree> own = parseTree(hypothesis);
    ++numLines;
    numTrees += own ? 1 : 0;
    int64_t ours = own ? numOf(own->constituents) : 0;
    Counts best;
    bool isBestValid = false;
    for (std::string_view reference : references) {
      std::optional<Tree> other = parseTree(reference);
      Counts counts = {0, ours, other ? numOf(other->constituents) : 0};
      if (own && other && own->words == other->words)
        counts.shared = sharedOf(own->constituents, other->constituents);
      if (reference.data() == references.front().data() ||
          counts.f1() > best.f1()) {
        best = counts;
        isBestValid =
            own && other && own->words > 0 && areComparable(*own, *other);
      }
    }
    all.add(best);
    if (isBestValid) {
      valid.add(best);
      ++numValid;
    }
  }
  double value() const override { return all.f1(); }
  std::string text(int digits) const override {
    auto share = [](double part, double whole) {
      return whole == 0 ? 0 : 100 * part / whole;
    };
    return fmt::format(
        "bracket F1|nrefs:{}|labelled = {:.{}f} (precision {:.1f} recall "
        "{:.1f}; {} of {} lines are trees; EVALB has {:.{}f} of {})",
        numReferences, value(), digits,
        share(double(all.shared), double(all.ours)),
        share(double(all.shared), double(all.theirs)), numTrees, numLines,
        valid.f1(), digits, numValid);
  }

private:
  struct Counts {
    int64_t shared = 0, ours = 0, theirs = 0;
    double f1() const {
      return ours + theirs == 0 ? 0
                                : 200 * double(shared) / double(ours + theirs);
    }
    void add(const Counts &other) {
      shared += other.shared;
      ours += other.ours;
      theirs += other.theirs;
    }
  };

  size_t numReferences = 0, numLines = 0, numTrees = 0, numValid = 0;
  Counts all, valid; // of all lines, of those that EVALB compares
};

} // namespace

const std::vector<std::string_view> &Metric::names() {
  static const std::vector<std::string_view> all = {
      "bleu",     "bleu-1",  "bleu-2",       "bleu-3", "bleu-4",  "chrf",
      "meteor",   "rouge-l", "rouge-l-coco", "cider",  "cider-d", "bracket-f1",
      "accuracy", "exact",   "per",          "wer",    "cer",     "edit"};
  return all;
}

/// Those that come of captions and of trees, or null.
static std::unique_ptr<Metric> createCaption(std::string_view name,
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
  if (name == "bracket-f1")
    return std::make_unique<BracketMetric>();
  return nullptr;
}

std::unique_ptr<Metric> Metric::create(std::string_view name,
                                       const MetricOptions &options) {
  if (name == "bleu")
    return std::make_unique<BleuMetric>(options);
  if (name == "chrf")
    return std::make_unique<ChrfMetric>();
  if (name == "accuracy")
    return std::make_unique<Accuracy>("accuracy", options);
  if (name == "exact")
    return std::make_unique<Exact>("exact", options);
  if (name == "per")
    return std::make_unique<ErrorRate>("PER", options);
  if (name == "wer")
    return std::make_unique<ErrorRate>("WER", options);
  if (name == "cer") {
    MetricOptions ofCharacters = options;
    ofCharacters.tokeniser = Tokeniser::CharsAndBlanks;
    return std::make_unique<ErrorRate>("CER", ofCharacters);
  }
  if (name == "edit")
    return std::make_unique<EditDistance>("edit", options);
  if (name == "rouge-l")
    return std::make_unique<RougeL>("ROUGE-L", options);
  return createCaption(name, options);
}
