//===- Synonyms.cpp - words of one meaning --------------------------------===//

#include "metrics/Synonyms.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>

using namespace fovea::metrics;

static const char *const partNames[] = {"noun", "verb", "adj", "adv"};

/// Endings of each part of speech, and what stands in their place.
static const std::vector<std::pair<std::string, std::string>> &
endingsOf(size_t part) {
  static const std::vector<std::pair<std::string, std::string>> all[] = {
      {{"s", ""},
       {"ses", "s"},
       {"ves", "f"},
       {"xes", "x"},
       {"zes", "z"},
       {"ches", "ch"},
       {"shes", "sh"},
       {"men", "man"},
       {"ies", "y"}},
      {{"s", ""},
       {"ies", "y"},
       {"es", "e"},
       {"es", ""},
       {"ed", "e"},
       {"ed", ""},
       {"ing", "e"},
       {"ing", ""}},
      {{"er", ""}, {"est", ""}, {"er", "e"}, {"est", "e"}},
      {}};
  return all[part];
}

static bool readWhole(const std::string &path, std::string &text,
                      std::string &problem) {
  std::ifstream file(path, std::ios::binary);
  if (file) {
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (!file.bad())
      return true;
  }
  problem = "cannot read '" + path + "': " + std::strerror(errno ? errno : EIO);
  return false;
}

/// The words of a line, which spaces are between.
static std::vector<std::string> wordsOf(std::string_view line) {
  std::vector<std::string> words;
  for (size_t begin = 0; (begin = line.find_first_not_of(" \r", begin)) !=
                         std::string_view::npos;) {
    size_t end = std::min(line.find_first_of(" \r", begin), line.size());
    words.emplace_back(line.substr(begin, end - begin));
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

static std::optional<size_t> numberOf(const std::string &word, int base = 10) {
  size_t value = 0;
  auto [end, failure] =
      std::from_chars(word.data(), word.data() + word.size(), value, base);
  bool isWhole = failure == std::errc() && end == word.data() + word.size();
  return isWhole ? std::optional(value) : std::nullopt;
}

bool Synonyms::readWordNet(const std::string &folder, std::string &problem) {
  for (size_t number = 0; number < parts.size(); ++number) {
    Part &part = parts[number];
    std::string name = partNames[number], index, exceptions;
    if (!readWhole(folder + "/index." + name, index, problem) ||
        !readWhole(folder + "/data." + name, part.data, problem) ||
        !readWhole(folder + "/" + name + ".exc", exceptions, problem))
      return false;
    // `lemma pos senses pointers pointer.. senses tagged offset..`; a line
    // that begins with spaces is the licence.
    forLines(index, [&](std::string_view line) {
      std::vector<std::string> words = wordsOf(line);
      if (line.starts_with(' ') || words.size() < 4)
        return;
      std::optional<size_t> senses = numberOf(words[2]);
      if (!senses || *senses > words.size())
        return;
      for (size_t i = words.size() - *senses; i < words.size(); ++i)
        if (std::optional<size_t> offset = numberOf(words[i]))
          part.offsets[words[0]].push_back(*offset);
    });
    forLines(exceptions, [&](std::string_view line) {
      std::vector<std::string> words = wordsOf(line);
      if (words.size() > 1)
        part.exceptions[words[0]].assign(words.begin() + 1, words.end());
    });
  }
  return isRead = true;
}

bool Synonyms::readParaphrases(const std::string &path, std::string &problem) {
  std::string text;
  if (!readWhole(path, text, problem))
    return false;
  size_t number = 0;
  forLines(text, [&](std::string_view line) {
    ++number;
    size_t tab = line.find('\t');
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (tab == line.npos || tab == 0 || tab + 1 >= line.size() ||
        line.find('\t', tab + 1) != line.npos || line.find(' ') != line.npos) {
      if (problem.empty())
        problem = path + ":" + std::to_string(number) +
                  ": error: two words are wanted, with a tab between them";
      return;
    }
    std::string first = encode(lower(decode(line.substr(0, tab)))),
                second = encode(lower(decode(line.substr(tab + 1))));
    paraphrases[first].insert(second);
    paraphrases[second].insert(first);
  });
  if (problem.empty() && paraphrases.empty())
    problem = "'" + path + "' is empty";
  return problem.empty();
}

/// The forms of a word that a part of speech knows.
std::vector<std::string> Synonyms::formsOf(const Part &part, size_t number,
                                           const std::string &word) {
  std::vector<std::string> forms = {word};
  auto known = part.exceptions.find(word);
  if (known != part.exceptions.end())
    forms.insert(forms.end(), known->second.begin(), known->second.end());
  else
    for (const auto &[ending, other] : endingsOf(number))
      if (word.ends_with(ending))
        forms.push_back(word.substr(0, word.size() - ending.size()) + other);
  std::erase_if(forms, [&](const std::string &form) {
    return !part.offsets.contains(form);
  });
  return forms;
}

std::set<std::string> Synonyms::of(const std::string &word) const {
  std::set<std::string> result;
  for (size_t number = 0; number < parts.size(); ++number) {
    const Part &part = parts[number];
    for (const std::string &form : formsOf(part, number, word))
      for (size_t offset : part.offsets.at(form)) {
        if (offset >= part.data.size())
          continue;
        std::string_view rest = std::string_view(part.data).substr(offset);
        // `offset file type count word id word id ..`, the count in base 16.
        std::vector<std::string> words =
            wordsOf(rest.substr(0, std::min(rest.find('\n'), rest.size())));
        size_t count =
            words.size() > 3 ? numberOf(words[3], 16).value_or(0) : 0;
        for (size_t i = 0; i < count && 4 + 2 * i < words.size(); ++i) {
          // What an adjective may stand behind is in parentheses.
          std::string lemma = words[4 + 2 * i];
          lemma = lemma.substr(0, lemma.find('('));
          if (lemma.find('_') == lemma.npos)
            result.insert(encode(lower(decode(lemma))));
        }
      }
  }
  return result;
}

std::set<std::string> Synonyms::paraphrasesOf(const std::string &word) const {
  auto found = paraphrases.find(word);
  return found == paraphrases.end() ? std::set<std::string>() : found->second;
}
