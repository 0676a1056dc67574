//===- MeteorAlignment.cpp - which words of two lines are paired ----------===//

#include "metrics/MeteorAlignment.h"

#include <algorithm>
#include <functional>
#include <optional>

using namespace fovea::metrics;

static constexpr size_t beam = 40;

namespace {

/// What is paired of the words of the reference up to some place.
struct Path {
  std::vector<std::optional<MeteorPair>> pairs; // by their place
  std::vector<bool> ownUsed, otherUsed;
  int64_t ownCovered = 0, otherCovered = 0, chunks = 0, distance = 0;
  size_t number = 0;             // of those that are equally good
  size_t next = 0;               // the place after the last pair
  std::optional<size_t> lastEnd; // of the line, where a run is open

  bool canTake(const MeteorPair &pair) const;
  void use(const MeteorPair &pair);
  void cover(const MeteorPair &pair);
};

class Aligner {
public:
  Aligner(const MeteorWords &line, const MeteorWords &reference)
      : line(line), reference(reference), candidates(reference.size()),
        ownTimes(line.size()), otherTimes(reference.size()) {}

  void pairWords(
      size_t module,
      const std::function<bool(const MeteorWord &, const MeteorWord &)> &fits);
  void pairPhrases(const Synonyms &synonyms);
  std::vector<MeteorPair> best();

private:
  void add(const MeteorPair &pair);
  Path begin();

  const MeteorWords &line, &reference;
  std::vector<std::vector<MeteorPair>> candidates; // by place of the reference
  std::vector<size_t> ownTimes, otherTimes;        // how many cover a word
};

} // namespace

static int64_t distanceOf(const MeteorPair &pair) {
  return std::abs(int64_t(pair.other) - int64_t(pair.own));
}

bool Path::canTake(const MeteorPair &pair) const {
  for (size_t i = 0; i < pair.otherLength; ++i)
    if (otherUsed[pair.other + i])
      return false;
  for (size_t i = 0; i < pair.ownLength; ++i)
    if (ownUsed[pair.own + i])
      return false;
  return true;
}

void Path::use(const MeteorPair &pair) {
  pairs[pair.other] = pair;
  for (size_t i = 0; i < pair.otherLength; ++i)
    otherUsed[pair.other + i] = true;
  for (size_t i = 0; i < pair.ownLength; ++i)
    ownUsed[pair.own + i] = true;
}

/// The path goes through a pair.
void Path::cover(const MeteorPair &pair) {
  auto worth = [&](size_t length) {
    return int64_t(pair.module == 0 ? length : length / 2);
  };
  ownCovered += worth(pair.ownLength);
  otherCovered += worth(pair.otherLength);
  if (lastEnd && pair.own != *lastEnd)
    ++chunks;
  next = pair.other + pair.otherLength;
  lastEnd = pair.own + pair.ownLength;
}

void Aligner::add(const MeteorPair &pair) {
  candidates[pair.other].push_back(pair);
  for (size_t i = 0; i < pair.ownLength; ++i)
    ++ownTimes[pair.own + i];
  for (size_t i = 0; i < pair.otherLength; ++i)
    ++otherTimes[pair.other + i];
}

void Aligner::pairWords(
    size_t module,
    const std::function<bool(const MeteorWord &, const MeteorWord &)> &fits) {
  for (size_t j = 0; j < reference.size(); ++j)
    for (size_t i = 0; i < line.size(); ++i)
      if ((line[i].text == reference[j].text) == (module == 0) &&
          fits(line[i], reference[j]))
        add({j, 1, i, 1, module});
}

/// Whether the words of `phrase` stand in `words` from a place on.
static bool standsAt(const MeteorWords &words, size_t place,
                     const std::vector<std::string_view> &phrase) {
  if (place + phrase.size() > words.size())
    return false;
  for (size_t i = 0; i < phrase.size(); ++i)
    if (words[place + i].text != phrase[i])
      return false;
  return true;
}

void Aligner::pairPhrases(const Synonyms &synonyms) {
  // Each line has the phrases whose paraphrases the other has.
  auto pair = [&](const MeteorWords &first, const MeteorWords &second,
                  bool isOwn) {
    for (size_t i = 0; i < first.size(); ++i) {
      std::string phrase;
      for (size_t length = 1;
           length <= synonyms.longestPhrase() && i + length <= first.size();
           ++length) {
        phrase += (length > 1 ? " " : "") + first[i + length - 1].text;
        for (std::string_view text : synonyms.paraphrasesOf(phrase)) {
          std::vector<std::string_view> words = Synonyms::wordsOf(text);
          for (size_t j = 0; j < second.size(); ++j)
            if (standsAt(second, j, words))
              add(isOwn ? MeteorPair{j, words.size(), i, length, 3}
                        : MeteorPair{i, length, j, words.size(), 3});
        }
      }
    }
  };
  pair(reference, line, /*isOwn=*/false);
  pair(line, reference, /*isOwn=*/true);
}

/// Where words have one partner alone, there is nothing to search.
Path Aligner::begin() {
  Path path;
  path.pairs.resize(reference.size());
  path.ownUsed.resize(line.size());
  path.otherUsed.resize(reference.size());
  for (const std::vector<MeteorPair> &here : candidates) {
    if (here.size() != 1)
      continue;
    const MeteorPair &pair = here.front();
    bool isAlone = true;
    for (size_t i = 0; i < pair.otherLength; ++i)
      isAlone &= otherTimes[pair.other + i] == 1;
    for (size_t i = 0; i < pair.ownLength; ++i)
      isAlone &= ownTimes[pair.own + i] == 1;
    if (isAlone)
      path.use(pair);
  }
  return path;
}

std::vector<MeteorPair> Aligner::best() {
  auto isBetter = [](const Path &a, const Path &b) {
    int64_t ours = a.ownCovered + a.otherCovered,
            theirs = b.ownCovered + b.otherCovered;
    return ours != theirs             ? ours > theirs
           : a.chunks != b.chunks     ? a.chunks < b.chunks
           : a.distance != b.distance ? a.distance < b.distance
                                      : a.number < b.number;
  };
  std::vector<Path> paths, following = {begin()};
  for (size_t place = 0; place <= reference.size(); ++place) {
    paths = std::move(following);
    following.clear();
    for (size_t i = 0; i < paths.size(); ++i)
      paths[i].number = i;
    std::sort(paths.begin(), paths.end(), isBetter);
    paths.resize(std::min(paths.size(), beam));
    for (Path &path : paths) {
      if (place == reference.size()) {
        path.chunks += path.lastEnd ? 1 : 0;
      } else if (path.otherUsed[place]) {
        if (place == path.next) {
          MeteorPair pair = *path.pairs[place];
          path.cover(pair);
          path.distance += distanceOf(pair);
        }
      } else {
        for (const MeteorPair &pair : candidates[place]) {
          if (!path.canTake(pair))
            continue;
          Path taken = path;
          taken.use(pair);
          taken.cover(pair);
          // What was not taken is farther, and not what was: so it is there.
          path.distance += distanceOf(pair);
          following.push_back(std::move(taken));
        }
        path.chunks += path.lastEnd ? 1 : 0;
        path.lastEnd.reset();
        ++path.next;
      }
      following.push_back(std::move(path));
    }
  }
  for (size_t i = 0; i < following.size(); ++i)
    following[i].number = i;
  auto chosen = std::min_element(following.begin(), following.end(), isBetter);
  std::vector<MeteorPair> pairs;
  for (const std::optional<MeteorPair> &pair : chosen->pairs)
    if (pair)
      pairs.push_back(*pair);
  return pairs;
}

std::vector<MeteorPair>
fovea::metrics::alignMeteor(const MeteorWords &line,
                            const MeteorWords &reference,
                            const Synonyms *synonyms) {
  Aligner aligner(line, reference);
  aligner.pairWords(0, [](auto &, auto &) { return true; });
  // Equal lines are paired word by word.
  if (!std::equal(line.begin(), line.end(), reference.begin(), reference.end(),
                  [](auto &a, auto &b) { return a.text == b.text; })) {
    aligner.pairWords(1, [](auto &a, auto &b) { return a.stem == b.stem; });
    if (synonyms && synonyms->hasWordNet())
      aligner.pairWords(2, [](auto &a, auto &b) {
        return std::any_of(
            a.meanings.begin(), a.meanings.end(),
            [&](size_t meaning) { return b.meanings.contains(meaning); });
      });
    if (synonyms && synonyms->hasParaphrases())
      aligner.pairPhrases(*synonyms);
  }
  return aligner.best();
}
