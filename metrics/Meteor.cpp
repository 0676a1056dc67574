//===- Meteor.cpp - words that mean the same ------------------------------===//

#include "metrics/Meteor.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <libstemmer.h>

using namespace fovea::metrics;

Meteor::Meteor(std::shared_ptr<const Synonyms> synonyms)
    : synonyms(std::move(synonyms)),
      stemmer(sb_stemmer_new("english", nullptr)) {
  assert(stemmer && "the library knows English");
}

Meteor::~Meteor() { sb_stemmer_delete(stemmer); }

Meteor::Words Meteor::wordsOf(const Tokens &tokens) const {
  Words words;
  for (const std::u32string &token : tokens) {
    Word &word = words.emplace_back();
    word.place = words.size() - 1;
    word.text = encode(lower(token));
    const sb_symbol *stem = sb_stemmer_stem(
        stemmer, reinterpret_cast<const sb_symbol *>(word.text.data()),
        static_cast<int>(word.text.size()));
    word.stem.assign(reinterpret_cast<const char *>(stem),
                     sb_stemmer_length(stemmer));
  }
  return words;
}

double Meteor::compare(const Tokens &hypothesis,
                       const Tokens &reference) const {
  Words ours = wordsOf(hypothesis), theirs = wordsOf(reference);
  std::vector<std::pair<size_t, size_t>> pairs;
  // What is said to fit a word, as a test of a word of the reference.
  using Fits = std::function<bool(const Word &)>;
  auto pair = [&](const std::function<Fits(const Word &)> &fitsOf) {
    for (size_t i = ours.size(); i-- > 0;) {
      Fits fits = fitsOf(ours[i]);
      auto found = std::find_if(theirs.rbegin(), theirs.rend(), fits);
      if (found == theirs.rend())
        continue;
      pairs.push_back({ours[i].place, found->place});
      ours.erase(ours.begin() + static_cast<ptrdiff_t>(i));
      theirs.erase(std::next(found).base());
    }
  };
  auto pairAmong = [&](auto wordsBeside) {
    pair([&](const Word &own) -> Fits {
      return [words = wordsBeside(own)](const Word &other) {
        return words.contains(other.text);
      };
    });
  };
  pair([](const Word &own) -> Fits {
    return [&own](const Word &other) { return own.text == other.text; };
  });
  pair([](const Word &own) -> Fits {
    return [&own](const Word &other) { return own.stem == other.stem; };
  });
  if (synonyms && synonyms->hasWordNet())
    pairAmong([&](const Word &own) { return synonyms->of(own.text); });
  if (synonyms && synonyms->hasParaphrases())
    pairAmong(
        [&](const Word &own) { return synonyms->paraphrasesOf(own.text); });
  if (pairs.empty())
    return 0;
  std::sort(pairs.begin(), pairs.end());
  double runs = 1, count = double(pairs.size());
  for (size_t i = 1; i < pairs.size(); ++i)
    runs += pairs[i].first != pairs[i - 1].first + 1 ||
            pairs[i].second != pairs[i - 1].second + 1;
  double precision = count / double(hypothesis.size()),
         recall = count / double(reference.size()), share = runs / count;
  double mean = precision * recall / (0.9 * precision + 0.1 * recall);
  return mean * (1 - 0.5 * share * share * share);
}

double Meteor::compare(const Tokens &hypothesis,
                       const std::vector<Tokens> &references) const {
  double best = 0;
  for (const Tokens &reference : references)
    best = std::max(best, compare(hypothesis, reference));
  return best;
}
