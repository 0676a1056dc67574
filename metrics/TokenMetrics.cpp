//===- TokenMetrics.cpp - metrics that count tokens -----------------------===//

#include "metrics/Distance.h"
#include "metrics/Kinds.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

using namespace fovea::metrics;

namespace {

/// A quotient of two sums over lines. Of several references the one counts
/// that `isBetter`.
class Quotient : public Metric {
public:
  struct Parts {
    double counted = 0, all = 0;
  };

  Quotient(std::string name, const MetricOptions &options)
      : Metric(options.isLower), name(std::move(name)),
        tokeniser(options.tokeniser.value_or(Tokeniser::None)) {}

  double valueOf(const Statistics &sum) const override {
    return sum[1] == 0 ? 0 : factor() * sum[0] / sum[1];
  }
  std::string signature() const override {
    return fmt::format("{}|{}|tok:{}", name, common(), nameOf(tokeniser));
  }

protected:
  virtual Parts compare(const Tokens &hypothesis, const Tokens &reference) = 0;
  virtual bool isBetter(const Parts &a, const Parts &b) const {
    double left = a.counted * b.all, right = b.counted * a.all;
    return isHigherBetter() ? left > right : left < right;
  }
  virtual double factor() const { return 100; }
  virtual bool isWhole() const { return true; }
  virtual const char *counted() const = 0;

private:
  Statistics count(std::string_view hypothesis,
                   const std::vector<std::string_view> &references) override {
    Tokens tokens = tokenise(hypothesis, tokeniser);
    std::vector<Tokens> all = tokeniseAll(references, tokeniser);
    Parts best = compare(tokens, all.front());
    for (size_t i = 1; i < all.size(); ++i) {
      Parts parts = compare(tokens, all[i]);
      if (isBetter(parts, best))
        best = parts;
    }
    return {best.counted, best.all};
  }
  std::string details(const Statistics &sum, int) const override {
    return fmt::format(" ({:.{}f} of {} {})", sum[0], isWhole() ? 0 : 2, sum[1],
                       counted());
  }

  std::string name;
  Tokeniser tokeniser;
};

/// Places that have the token of the reference / places that either has.
class Accuracy : public Quotient {
  using Quotient::Quotient;
  Parts compare(const Tokens &hypothesis, const Tokens &reference) override {
    return {static_cast<double>(equalPlaces(hypothesis, reference)),
            static_cast<double>(std::max(hypothesis.size(), reference.size()))};
  }
  const char *counted() const override { return "tokens"; }
};

/// Lines that are a reference / lines.
class Exact : public Quotient {
  using Quotient::Quotient;
  Parts compare(const Tokens &hypothesis, const Tokens &reference) override {
    return {hypothesis == reference ? 1.0 : 0.0, 1};
  }
  const char *counted() const override { return "lines"; }
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
  const char *counted() const override { return "tokens"; }
};

/// Edits / lines.
class EditDistance : public Quotient {
  using Quotient::Quotient;
  bool isHigherBetter() const override { return false; }
  Parts compare(const Tokens &hypothesis, const Tokens &reference) override {
    return {static_cast<double>(editDistance(hypothesis, reference)), 1};
  }
  double factor() const override { return 1; }
  double unit() const override { return 1; }
  const char *counted() const override { return "lines"; }
};

/// The mean over lines of F = 2 P R / (P + R) (Lin, 2004, section 3.1, with
/// beta = 1, as in the package rouge-score). P and R are the length of the
/// longest common subsequence over the length of the hypothesis and of the
/// reference.
class RougeL : public Quotient {
  using Quotient::Quotient;
  Parts compare(const Tokens &hypothesis, const Tokens &reference) override {
    double common = commonSubsequence(hypothesis, reference);
    double size = hypothesis.size() + reference.size();
    return {size == 0 ? 0 : 2 * common / size, 1};
  }
  bool isWhole() const override { return false; }
  const char *counted() const override { return "lines"; }
};

/// The mean over lines of F = 2 P R / (P + R) (Lin, 2004, section 2, as in the
/// package rouge-score). P and R are the shared n-grams over the n-grams of the
/// hypothesis and of the reference.
class RougeN : public Quotient {
public:
  RougeN(size_t order, const MetricOptions &options)
      : Quotient(fmt::format("ROUGE-{}", order), options), order(order) {}

private:
  std::map<Tokens, int64_t> ngramsOf(const Tokens &tokens) const {
    std::map<Tokens, int64_t> counts;
    for (size_t i = 0; i + order <= tokens.size(); ++i)
      ++counts[Tokens(tokens.begin() + i, tokens.begin() + i + order)];
    return counts;
  }
  Parts compare(const Tokens &hypothesis, const Tokens &reference) override {
    double shared = 0, size = 0;
    for (const Tokens *tokens : {&hypothesis, &reference})
      size += tokens->size() < order ? 0 : double(tokens->size() - order + 1);
    std::map<Tokens, int64_t> theirs = ngramsOf(reference);
    for (const auto &[ngram, count] : ngramsOf(hypothesis))
      if (auto found = theirs.find(ngram); found != theirs.end())
        shared += double(std::min(count, found->second));
    return {size == 0 ? 0 : 2 * shared / size, 1};
  }
  bool isWhole() const override { return false; }
  const char *counted() const override { return "lines"; }

  size_t order;
};

} // namespace

std::unique_ptr<Metric>
fovea::metrics::createTokens(std::string_view name,
                             const MetricOptions &options) {
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
  if (name == "rouge-1" || name == "rouge-2")
    return std::make_unique<RougeN>(name == "rouge-1" ? 1 : 2, options);
  return nullptr;
}
