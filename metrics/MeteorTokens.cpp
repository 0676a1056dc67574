//===- MeteorTokens.cpp - tokens as METEOR has them -----------------------===//
//
// The option -norm of METEOR 1.5 for English, after the tokeniser of Moses.
// Signs become tokens, words with dashes are several, and `it's` is `it 's`. A
// full stop is a token unless a word is known to have one.
//
//===----------------------------------------------------------------------===//

#include "metrics/Text.h"

#include <set>

using namespace fovea::metrics;

static bool isDigit(char32_t c) { return c >= U'0' && c <= U'9'; }
static bool isNoDigit(char32_t c) { return !isDigit(c); }

/// Letters of Western Europe and Cyrillic.
static bool isLetter(char32_t c) {
  return (c >= U'A' && c <= U'Z') || (c >= U'a' && c <= U'z') ||
         (c >= 0xc0 && c <= 0x17e && c != 0xd7 && c != 0xf7) ||
         (c >= 0x400 && c <= 0x527) || (c >= 0xa640 && c <= 0xa66e) ||
         (c >= 0xa67e && c <= 0xa697) || (c >= 0x1d00 && c <= 0x1d7f);
}
static bool isNoLetter(char32_t c) { return !isLetter(c); }
static bool isLetterOrDigit(char32_t c) { return isLetter(c) || isDigit(c); }
static bool isSign(char32_t c) { return !isLetterOrDigit(c); }

static bool isBlank(char32_t c) {
  return c == U' ' || (c >= U'\t' && c <= U'\r');
}

/// Signs with rules of their own: an apostrophe may belong to a word, a full
/// stop and a comma to a number.
static bool isSpecial(char32_t c) {
  constexpr std::u32string_view all = U".'`,-\u2018\u2019";
  return all.find(c) != all.npos;
}

/// Replaces a sign between two others by `text`.
static std::u32string replaceBetween(const std::u32string &line,
                                     bool (*before)(char32_t), char32_t sign,
                                     bool (*after)(char32_t),
                                     std::u32string_view text) {
  std::u32string result;
  for (size_t i = 0; i < line.size(); ++i) {
    result.push_back(line[i]);
    if (i + 2 < line.size() && before(line[i]) && line[i + 1] == sign &&
        after(line[i + 2])) {
      result.append(text).push_back(line[i + 2]);
      i += 2;
    }
  }
  return result;
}

/// Words that a full stop may follow within a sentence; before numbers only.
static bool hasStop(const std::u32string &word, bool isBeforeNumber) {
  static const std::set<std::u32string> known = {
      U"Adj",  U"Adm",  U"Adv",  U"Asst",  U"Bart", U"Bldg", U"Brig", U"Bros",
      U"Capt", U"Cmdr", U"Col",  U"Comdr", U"Con",  U"Corp", U"Cpl",  U"DR",
      U"Dr",   U"Drs",  U"Ens",  U"Gen",   U"Gov",  U"Hon",  U"Hr",   U"Hosp",
      U"Insp", U"Lt",   U"MM",   U"MR",    U"MRS",  U"MS",   U"Maj",  U"Messrs",
      U"Mlle", U"Mme",  U"Mr",   U"Mrs",   U"Ms",   U"Msgr", U"Op",   U"Ord",
      U"Pfc",  U"Ph",   U"Prof", U"Pvt",   U"Rep",  U"Reps", U"Res",  U"Rev",
      U"Rt",   U"Sen",  U"Sens", U"Sfc",   U"Sgt",  U"Sr",   U"St",   U"Supt",
      U"Surg", U"v",    U"vs",   U"i.e",   U"rev",  U"e.g",  U"Nos",  U"Nr"};
  bool isInitial = word.size() == 1 && word[0] >= U'A' && word[0] <= U'Z';
  return isInitial || known.contains(word) ||
         (isBeforeNumber && (word == U"No" || word == U"Art" || word == U"pp"));
}

/// Of `word`, which ends with a full stop, what comes in its place.
static std::u32string splitStop(const std::u32string &word,
                                const std::u32string &following) {
  std::u32string rest = word.substr(0, word.size() - 1);
  bool hasLetter = false;
  for (char32_t c : rest)
    hasLetter |= isLetter(c);
  if (hasLetter && rest.find(U'.') != rest.npos) {
    std::erase(rest, U'.');
    return rest;
  }
  char32_t first = following.empty() ? U' ' : following[0];
  if ((first >= U'a' && first <= U'z') || hasStop(rest, isDigit(first)))
    return word;
  return rest + U" .";
}

static std::vector<std::u32string> splitAtBlanks(const std::u32string &line) {
  std::vector<std::u32string> words(1);
  for (char32_t c : line)
    if (!isBlank(c))
      words.back().push_back(c);
    else if (!words.back().empty())
      words.emplace_back();
  if (words.back().empty())
    words.pop_back();
  return words;
}

std::u32string fovea::metrics::normaliseForMeteor(const std::u32string &text) {
  // Replaces a full stop beside others.
  constexpr char32_t stop = 0xe000;
  std::u32string line = U" ";
  for (size_t i = 0; i < text.size(); ++i) {
    size_t stops = 0;
    while (i + stops < text.size() && text[i + stops] == U'.')
      ++stops;
    if (stops > 1) {
      line.append(1, U' ').append(stops, stop).append(1, U' ');
      i += stops - 1;
    } else if (isLetterOrDigit(text[i]) || isBlank(text[i]) ||
               isSpecial(text[i])) {
      line.push_back(text[i]);
    } else {
      line.append({U' ', text[i], U' '});
    }
  }
  line.push_back(U' ');
  line = replaceBetween(line, isNoDigit, U',', isNoDigit, U" , ");
  line = replaceBetween(line, isDigit, U',', isNoDigit, U" , ");
  line = replaceBetween(line, isNoDigit, U',', isDigit, U" , ");
  for (std::u32string_view quote : {U"`", U"\u2018", U"\u2019"})
    replaceAll(line, quote, U"'");
  for (std::u32string_view quotes : {U"\u201c", U"\u201d", U"''"})
    replaceAll(line, quotes, U" \" ");
  replaceAll(line, U"\u2013", U"-");
  replaceAll(line, U"--", U"-");
  line = replaceBetween(
      line, [](char32_t c) { return isLetterOrDigit(c) || c == U'.'; }, U'-',
      isLetterOrDigit, U" ");
  line = replaceBetween(line, isNoLetter, U'\'', isNoLetter, U" ' ");
  line = replaceBetween(line, isSign, U'\'', isLetter, U" ' ");
  line = replaceBetween(line, isLetter, U'\'', isNoLetter, U" ' ");
  line = replaceBetween(line, isLetter, U'\'', isLetter, U" '");
  line = replaceBetween(
      line, isDigit, U'\'', [](char32_t c) { return c == U's'; }, U" '");
  std::vector<std::u32string> words = splitAtBlanks(line);
  words.emplace_back();
  std::u32string result;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    bool mayEnd = words[i].size() > 1 && words[i].back() == U'.';
    result += mayEnd ? splitStop(words[i], words[i + 1]) : words[i];
    result.push_back(U' ');
  }
  for (char32_t &c : result)
    if (c == stop)
      c = U'.';
  return result;
}
