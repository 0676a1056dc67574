//===- Chrf.cpp - n-grams of characters -----------------------------------===//

#include "metrics/Chrf.h"
#include "metrics/Text.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

using namespace fovea::metrics;

using Counts = std::unordered_map<std::u32string, int64_t>;

static constexpr size_t characterOrders = 6;

/// Python's `string.punctuation`: all signs of ASCII.
static bool isSign(char32_t c) {
  return c > U' ' && c < 0x7f && !(c >= U'0' && c <= U'9') &&
         !(c >= U'A' && c <= U'Z') && !(c >= U'a' && c <= U'z');
}

/// The words of a line; a sign at the end of a word, or else at its beginning,
/// is a word of its own.
static Tokens wordsOf(std::string_view line) {
  Tokens words;
  for (const std::u32string &word : tokenise(line, Tokeniser::None))
    if (word.size() > 1 && isSign(word.back())) {
      words.push_back(word.substr(0, word.size() - 1));
      words.push_back(word.substr(word.size() - 1));
    } else if (word.size() > 1 && isSign(word.front())) {
      words.push_back(word.substr(0, 1));
      words.push_back(word.substr(1));
    } else {
      words.push_back(word);
    }
  return words;
}

/// Counts the n-grams of one order; `separator` is between tokens.
static Counts ngramsOf(const Tokens &tokens, size_t order,
                       std::u32string_view separator) {
  Counts counts;
  for (size_t i = 0; i + order <= tokens.size(); ++i) {
    std::u32string ngram = tokens[i];
    for (size_t k = 1; k < order; ++k)
      (ngram += separator) += tokens[i + k];
    ++counts[ngram];
  }
  return counts;
}

/// The n-grams of all orders: of characters, then of words.
static std::vector<Counts> allNgramsOf(std::string_view line,
                                       size_t wordOrders) {
  std::vector<Counts> all;
  Tokens characters = tokenise(line, Tokeniser::Chars), words = wordsOf(line);
  for (size_t n = 1; n <= characterOrders; ++n)
    all.push_back(ngramsOf(characters, n, U""));
  for (size_t n = 1; n <= wordOrders; ++n)
    all.push_back(ngramsOf(words, n, U" "));
  return all;
}

/// For each order, three numbers: n-grams of the hypothesis, of the reference,
/// and of both.
static Statistics compare(const std::vector<Counts> &ours,
                          const std::vector<Counts> &theirs) {
  Statistics result;
  for (size_t n = 0; n < ours.size(); ++n) {
    int64_t own = 0, other = 0, matches = 0;
    for (const auto &[ngram, count] : theirs[n])
      other += count;
    for (const auto &[ngram, count] : ours[n]) {
      // An order that the reference is too short for is left out.
      if (!theirs[n].empty())
        own += count;
      if (auto found = theirs[n].find(ngram); found != theirs[n].end())
        matches += std::min(count, found->second);
    }
    result.insert(result.end(), {double(own), double(other), double(matches)});
  }
  return result;
}

Statistics
fovea::metrics::countChrf(std::string_view hypothesis,
                          const std::vector<std::string_view> &references,
                          size_t wordOrders) {
  std::vector<Counts> ours = allNgramsOf(hypothesis, wordOrders);
  Statistics best;
  double bestScore = -1;
  for (std::string_view reference : references) {
    Statistics own = compare(ours, allNgramsOf(reference, wordOrders));
    if (double score = chrfScore(own); score > bestScore) {
      bestScore = score;
      best = std::move(own);
    }
  }
  return best;
}

double fovea::metrics::chrfScore(const Statistics &sum) {
  double precision = 0, recall = 0, count = 0;
  for (size_t at = 0; at < sum.size(); at += 3)
    if (sum[at] > 0 && sum[at + 1] > 0) {
      precision += sum[at + 2] / sum[at];
      recall += sum[at + 2] / sum[at + 1];
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
