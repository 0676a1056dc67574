//===- Meteor.cpp - words and phrases that mean the same ------------------===//

#include "metrics/Meteor.h"
#include "runtime/Functions.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <libstemmer.h>
#include <unordered_set>

using namespace fovea;
using namespace fovea::metrics;

static constexpr double moduleWeights[numModules] = {1, 0.6, 0.8, 0.6};
static constexpr double contentWeight = 0.75;

/// What METEOR 1.5 takes for English, the most frequent words and signs.
static bool isFunctionWord(const std::string &word) {
  static const std::unordered_set<std::string> all = {
      "the",    ",",     ".",      "to",    "of",     "and",   "a",
      "in",     "that",  "for",    "\"",    "is",     "on",    "'s",
      "it",     "with",  "was",    "as",    "said",   "at",    "he",
      "by",     "be",    "from",   "have",  "has",    "are",   "his",
      "but",    "an",    "this",   "not",   "i",      "will",  "\u2019",
      "they",   ")",     "-rrb-",  "(",     "-lrb-",  "who",   "their",
      "had",    "we",    "which",  "were",  "been",   "more",  "or",
      "s",      "its",   "would",  "about", "new",    "one",   "after",
      "you",    ":",     "also",   "up",    "when",   "there", "than",
      "$",      "all",   "out",    "her",   "people", "she",   "year",
      "two",    "-",     "can",    "if",    "last",   "first", "\u201c",
      "over",   "other", "\u201d", "into",  "some",   "what",  "so",
      "--",     "no",    "time",   "years", "could",  "?",     "'t",
      "\u2014", "'"};
  return all.contains(word);
}

Meteor::Meteor(std::shared_ptr<const Synonyms> synonyms)
    : synonyms(std::move(synonyms)),
      stemmer(sb_stemmer_new("english", nullptr)) {
  assert(stemmer && "the library knows English");
}

Meteor::~Meteor() { sb_stemmer_delete(stemmer); }

MeteorWords Meteor::wordsOf(const Tokens &tokens) const {
  MeteorWords words;
  for (const std::u32string &token : tokens) {
    MeteorWord &word = words.emplace_back();
    word.text = encode(lower(token));
    const sb_symbol *stem = sb_stemmer_stem(
        stemmer, reinterpret_cast<const sb_symbol *>(word.text.data()),
        static_cast<int>(word.text.size()));
    word.stem.assign(reinterpret_cast<const char *>(stem),
                     sb_stemmer_length(stemmer));
    if (synonyms && synonyms->hasWordNet())
      word.meanings = synonyms->meaningsOf(word.text);
  }
  return words;
}

double Meteor::Side::paired() const {
  double sum = 0;
  for (size_t i = 0; i < numModules; ++i)
    sum += content[i] + function[i];
  return sum;
}

double Meteor::Side::share() const {
  constexpr double rest = 1 - contentWeight;
  double length =
             contentWeight * (words - functionWords) + rest * functionWords,
         sum = 0;
  for (size_t i = 0; i < numModules; ++i)
    sum += moduleWeights[i] * (contentWeight * content[i] + rest * function[i]);
  return sum / length;
}

void Meteor::Side::append(Statistics &to) const {
  to.insert(to.end(), {words, functionWords});
  to.insert(to.end(), content.begin(), content.end());
  to.insert(to.end(), function.begin(), function.end());
}

void Meteor::Side::read(const double *from) {
  words = *from++;
  functionWords = *from++;
  std::copy_n(from, numModules, content.begin());
  std::copy_n(from + numModules, numModules, function.begin());
}

bool Meteor::Counts::isWhole() const {
  return hypothesis.paired() == hypothesis.words &&
         reference.paired() == reference.words && chunks == 1;
}

double Meteor::Counts::score() const {
  double pairs = (hypothesis.paired() + reference.paired()) / 2;
  if (pairs == 0)
    return 0;
  double mean =
      1 / ((1 - 0.85) / hypothesis.share() + 0.85 / reference.share());
  double penalty = 0.6 * runtime::powOf(isWhole() ? 0 : chunks / pairs, 0.2);
  return std::max(0.0, mean * (1 - penalty));
}

Meteor::Counts Meteor::compare(const MeteorWords &hypothesis,
                               const MeteorWords &reference) const {
  auto sideOf = [](const MeteorWords &words) {
    Side side;
    side.words = double(words.size());
    for (const MeteorWord &word : words)
      side.functionWords += isFunctionWord(word.text);
    return side;
  };
  Counts counts{sideOf(hypothesis), sideOf(reference)};
  auto count = [](Side &side, const MeteorWords &words, size_t module,
                  size_t begin, size_t length) {
    for (size_t i = begin; i < begin + length; ++i)
      ++(isFunctionWord(words[i].text) ? side.function : side.content)[module];
  };
  std::vector<MeteorPair> pairs =
      alignMeteor(hypothesis, reference, synonyms.get());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const MeteorPair &pair = pairs[i];
    count(counts.hypothesis, hypothesis, pair.module, pair.own, pair.ownLength);
    count(counts.reference, reference, pair.module, pair.other,
          pair.otherLength);
    const MeteorPair *before = i == 0 ? nullptr : &pairs[i - 1];
    counts.chunks += !before ||
                     pair.other != before->other + before->otherLength ||
                     pair.own != before->own + before->ownLength;
  }
  return counts;
}

Statistics Meteor::count(const Tokens &hypothesis,
                         const std::vector<Tokens> &references) const {
  MeteorWords own = wordsOf(hypothesis);
  Counts best;
  double score = -1;
  for (const Tokens &reference : references) {
    Counts counts = compare(own, wordsOf(reference));
    if (counts.score() > score) {
      best = counts;
      score = counts.score();
    }
  }
  Statistics result = {best.isWhole() ? 0 : best.chunks};
  best.hypothesis.append(result);
  best.reference.append(result);
  return result;
}

double Meteor::score(const Statistics &sum) {
  Counts counts;
  counts.chunks = sum[0];
  counts.hypothesis.read(&sum[1]);
  counts.reference.read(&sum[3 + 2 * numModules]);
  return counts.score();
}
