//===- Synonyms.cpp - words of one meaning --------------------------------===//

#include "metrics/Synonyms.h"
#include "runtime/data/PackedFile.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <optional>

using namespace fovea::metrics;

static const char *const partNames[] = {"noun", "verb", "adj", "adv"};

/// Endings of nouns, verbs and adjectives, and their replacements (WordNet's
/// morphy, as in METEOR 1.5).
static constexpr std::pair<std::string_view, std::string_view> endings[] = {
    {"s", ""},      {"ses", "s"},   {"xes", "x"}, {"zes", "z"}, {"ches", "ch"},
    {"shes", "sh"}, {"men", "man"}, {"ies", "y"}, {"s", ""},    {"ies", "y"},
    {"es", "e"},    {"es", ""},     {"ed", "e"},  {"ed", ""},   {"ing", "e"},
    {"ing", ""},    {"er", ""},     {"est", ""},  {"er", "e"},  {"est", "e"}};

/// What is packed is unpacked.
static bool readWhole(const std::string &path, std::string &text,
                      std::string &problem) {
  if (fovea::runtime::readUnpacked(path, text, problem))
    return true;
  problem = "cannot read '" + path + "': " + problem;
  return false;
}

std::vector<std::string_view> Synonyms::wordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t begin = 0; (begin = line.find_first_not_of(" \t\r", begin)) !=
                         std::string_view::npos;) {
    size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

static void forLines(std::string_view text,
                     const std::function<void(std::string_view)> &take) {
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    take(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

static std::optional<size_t> numberOf(std::string_view word) {
  size_t value = 0;
  auto [end, failure] =
      std::from_chars(word.data(), word.data() + word.size(), value);
  bool isWhole = failure == std::errc() && end == word.data() + word.size();
  return isWhole ? std::optional(value) : std::nullopt;
}

bool Synonyms::readWordNet(const std::string &folder, std::string &problem) {
  for (std::string name : partNames) {
    std::string index, exceptions;
    if (!readWhole(folder + "/index." + name, index, problem) ||
        !readWhole(folder + "/" + name + ".exc", exceptions, problem))
      return false;
    // `lemma pos senses pointers pointer.. senses tagged offset..`; a line
    // that begins with spaces is the licence.
    forLines(index, [&](std::string_view line) {
      std::vector<std::string_view> words = wordsOf(line);
      if (line.starts_with(' ') || words.size() < 4)
        return;
      std::optional<size_t> senses = numberOf(words[2]);
      if (!senses || *senses > words.size())
        return;
      std::set<size_t> &own = meanings[std::string(words[0])];
      for (size_t i = words.size() - *senses; i < words.size(); ++i)
        if (std::optional<size_t> offset = numberOf(words[i]))
          own.insert(*offset);
    });
    forLines(exceptions, [&](std::string_view line) {
      std::vector<std::string_view> words = wordsOf(line);
      if (words.size() > 1)
        bases[std::string(words[0])].insert(words.begin() + 1, words.end());
    });
  }
  return isRead = true;
}

/// Adds a phrase, with one space between its words. False for one without
/// words.
bool Synonyms::addPhrase(std::string_view line) {
  std::vector<std::string_view> words = wordsOf(line);
  for (size_t i = 0; i < words.size(); ++i) {
    phrases += i == 0 ? "" : " ";
    phrases += words[i];
  }
  phrases += '\n';
  longest = std::max(longest, words.size());
  return !words.empty();
}

bool Synonyms::readParaphrases(const std::string &path, std::string &problem) {
  std::string text;
  if (!readWhole(path, text, problem))
    return false;
  // Lines of two phrases with a tab between them, or three lines for each pair,
  // the first a number.
  bool arePairs = text.find('\t') < text.find('\n');
  size_t number = 0, begin = 0;
  forLines(text, [&](std::string_view line) {
    bool isGood = true;
    if (arePairs) {
      size_t tab = std::min(line.find('\t'), line.size());
      std::string first = encode(lower(decode(line.substr(0, tab))));
      begin = phrases.size();
      isGood = tab < line.size() && addPhrase(first) &&
               line.find('\t', tab + 1) == line.npos &&
               addPhrase(encode(lower(decode(line.substr(tab + 1)))));
      pairs.push_back(begin);
    } else if (number % 3 != 0) {
      if (number % 3 == 1)
        pairs.push_back(phrases.size());
      isGood = addPhrase(line);
    } else {
      isGood = line.find_first_not_of("0123456789.eE+- \r") == line.npos;
    }
    ++number;
    if (!isGood && problem.empty())
      problem = path + ":" + std::to_string(number) +
                ": error: expected two tab-separated phrases, or METEOR's "
                "three lines: a number and two phrases";
  });
  if (problem.empty() && pairs.empty())
    problem = "'" + path + "' is empty";
  if (problem.empty() && !arePairs && number % 3 != 0)
    problem = path + ":" + std::to_string(number) +
              ": error: the file ends within three lines of a pair";
  std::sort(pairs.begin(), pairs.end(), [&](size_t a, size_t b) {
    return std::pair(phraseAt(a), a) < std::pair(phraseAt(b), b);
  });
  return problem.empty();
}

/// The phrase that begins at a place.
std::string_view Synonyms::phraseAt(size_t begin) const {
  std::string_view rest = std::string_view(phrases).substr(begin);
  return rest.substr(0, rest.find('\n'));
}

std::set<size_t> Synonyms::meaningsOf(const std::string &word) const {
  std::set<size_t> result;
  auto add = [&](const std::string &form) {
    auto found = meanings.find(form);
    if (found != meanings.end())
      result.insert(found->second.begin(), found->second.end());
    return found != meanings.end();
  };
  add(word);
  if (auto known = bases.find(word); known != bases.end()) {
    for (const std::string &base : known->second)
      add(base);
  } else if (!word.ends_with("ss") && word.size() > 2) {
    for (auto [ending, other] : endings)
      if (word.ends_with(ending) &&
          add(word.substr(0, word.size() - ending.size()).append(other)))
        break;
  }
  return result;
}

std::vector<std::string_view>
Synonyms::paraphrasesOf(std::string_view phrase) const {
  auto begin = std::lower_bound(pairs.begin(), pairs.end(), phrase,
                                [&](size_t pair, std::string_view text) {
                                  return phraseAt(pair) < text;
                                });
  std::vector<std::string_view> result;
  for (; begin != pairs.end() && phraseAt(*begin) == phrase; ++begin)
    result.push_back(phraseAt(*begin + phrase.size() + 1));
  return result;
}
