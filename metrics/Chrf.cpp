//===- Chrf.cpp - n-grams of characters -----------------------------------===//

#include "metrics/Chrf.h"
#include "metrics/Text.h"

#include <unordered_map>

using namespace fovea::metrics;

using Counts = std::unordered_map<std::u32string_view, int64_t>;

static std::u32string withoutSpaces(std::string_view line) {
  std::u32string text;
  for (const std::u32string &character : tokenise(line, Tokeniser::Chars))
    text += character;
  return text;
}

static Counts ngramsOf(std::u32string_view text, size_t order) {
  Counts counts;
  for (size_t i = 0; i + order <= text.size(); ++i)
    ++counts[text.substr(i, order)];
  return counts;
}

double Chrf::scoreOf(const Orders &orders) {
  double precision = 0, recall = 0, count = 0;
  for (const Order &order : orders)
    if (order.hypothesis > 0 && order.reference > 0) {
      precision += static_cast<double>(order.matches) / order.hypothesis;
      recall += static_cast<double>(order.matches) / order.reference;
      ++count;
    }
  if (precision + recall == 0)
    return 0;
  precision /= count;
  recall /= count;
  constexpr double weight = 2 * 2;
  return 100 * (1 + weight) * precision * recall /
         (weight * precision + recall);
}

void Chrf::add(std::string_view hypothesis,
               const std::vector<std::string_view> &references) {
  std::u32string text = withoutSpaces(hypothesis);
  Orders best;
  double bestScore = -1;
  for (std::string_view line : references) {
    std::u32string reference = withoutSpaces(line);
    Orders own;
    for (size_t n = 0; n < own.size(); ++n) {
      Counts ours = ngramsOf(text, n + 1), theirs = ngramsOf(reference, n + 1);
      for (const auto &[ngram, count] : theirs)
        own[n].reference += count;
      for (const auto &[ngram, count] : ours) {
        // An order that the reference is too short for counts nowhere.
        if (!theirs.empty())
          own[n].hypothesis += count;
        if (auto found = theirs.find(ngram); found != theirs.end())
          own[n].matches += std::min(count, found->second);
      }
    }
    if (double score = scoreOf(own); score > bestScore) {
      bestScore = score;
      best = own;
    }
  }
  for (size_t n = 0; n < all.size(); ++n) {
    all[n].hypothesis += best[n].hypothesis;
    all[n].reference += best[n].reference;
    all[n].matches += best[n].matches;
  }
}

double Chrf::score() const { return scoreOf(all); }
