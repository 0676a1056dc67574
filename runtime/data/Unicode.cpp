//===- Unicode.cpp - properties of characters -----------------------------===//

#include "runtime/data/Unicode.h"
#include "runtime/data/SentencePieces.h"
#include "runtime/data/Text.h"
#include "runtime/data/UnicodeTables.inc"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

using namespace fovea::runtime;

static constexpr char32_t numChars = 0x110000;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

namespace {
/// The numbers of a stream, as scripts/unicode-tables writes them.
class Numbers {
public:
  explicit Numbers(std::string_view text) { readBase64(text, bytes); }
  bool isAtEnd() const { return place >= bytes.size(); }

  uint32_t next() {
    uint32_t result = 0;
    for (unsigned shift = 0; place < bytes.size(); shift += 7) {
      auto byte = static_cast<uint8_t>(bytes[place++]);
      result |= uint32_t(byte & 127) << shift;
      if (byte < 128)
        break;
    }
    return result;
  }
  int32_t nextSigned() {
    uint32_t number = next();
    return number & 1 ? -static_cast<int32_t>(number / 2) - 1
                      : static_cast<int32_t>(number / 2);
  }

private:
  std::string bytes;
  size_t place = 0;
};

/// A value per character, in pages that are equal where their values are.
class Pages {
public:
  explicit Pages(std::string_view stream) {
    std::string all;
    for (Numbers numbers(stream); !numbers.isAtEnd();) {
      uint32_t count = numbers.next();
      all.append(count, static_cast<char>(numbers.next()));
    }
    std::map<std::string_view, uint16_t> known;
    for (size_t at = 0; at < all.size(); at += pageSize) {
      std::string_view page = std::string_view(all).substr(at, pageSize);
      auto number = static_cast<uint16_t>(known.size());
      auto [found, isNew] = known.try_emplace(page, number);
      if (isNew)
        values += page;
      pages.push_back(found->second);
    }
  }
  uint8_t at(char32_t c) const {
    size_t page = pages[c / pageSize];
    return static_cast<uint8_t>(values[page * pageSize + c % pageSize]);
  }

private:
  static constexpr size_t pageSize = 256;
  std::vector<uint16_t> pages;
  std::string values;
};

struct Decomposition {
  std::u32string chars;
  bool isCompatible;
};

struct Tables {
  Pages category{categories}, combining{combiningClasses};
  std::map<char32_t, std::u32string> lower;
  std::map<char32_t, Decomposition> parts;
  std::map<std::pair<char32_t, char32_t>, char32_t> pairs;

  Tables() {
    char32_t c = 0;
    for (Numbers numbers(lowerCases); !numbers.isAtEnd();) {
      c += numbers.next();
      std::u32string &chars = lower[c];
      for (uint32_t count = numbers.next(); count > 0; --count)
        chars += static_cast<char32_t>(static_cast<int32_t>(c) +
                                       numbers.nextSigned());
    }
    c = 0;
    int32_t last = 0;
    for (Numbers numbers(decompositions); !numbers.isAtEnd();) {
      c += numbers.next();
      uint32_t count = numbers.next();
      bool isCompatible = count & 1, isFinal = count & 2;
      std::u32string chars;
      for (count /= 4; count > 0; --count)
        chars += static_cast<char32_t>(last += numbers.nextSigned());
      if (chars.size() == 2 && !isCompatible && !isFinal)
        pairs[{chars[0], chars[1]}] = c;
      parts[c] = {std::move(chars), isCompatible};
    }
  }
};
} // namespace

/// Only models with a tokeniser need the tables.
static const Tables &tables() {
  static const Tables all;
  return all;
}

//===----------------------------------------------------------------------===//
// Categories
//===----------------------------------------------------------------------===//

Categories fovea::runtime::categoriesOf(std::string_view name) {
  constexpr std::string_view names =
      "LuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCsCoCn";
  Categories result = 0;
  if (!name.empty() && name.size() <= 2)
    for (size_t i = 0; i < names.size(); i += 2)
      if (names.substr(i, name.size()) == name)
        result |= 1u << (i / 2);
  return result;
}

Category fovea::runtime::categoryOf(char32_t c) {
  return c < numChars ? static_cast<Category>(tables().category.at(c))
                      : Category::Cn;
}

bool fovea::runtime::isIn(char32_t c, Categories set) {
  return setOf(categoryOf(c)) & set;
}

bool fovea::runtime::isLetter(char32_t c) {
  static constexpr Categories letters =
      setOf(Category::Lu) | setOf(Category::Ll) | setOf(Category::Lt) |
      setOf(Category::Lm) | setOf(Category::Lo);
  return isIn(c, letters);
}

static constexpr Categories numbers =
    setOf(Category::Nd) | setOf(Category::Nl) | setOf(Category::No);
static constexpr Categories marks =
    setOf(Category::Mn) | setOf(Category::Mc) | setOf(Category::Me);

bool fovea::runtime::isNumber(char32_t c) { return isIn(c, numbers); }

bool fovea::runtime::isMark(char32_t c) { return isIn(c, marks); }

bool fovea::runtime::isPunctuation(char32_t c) {
  if (c < 0x80)
    return (c > 0x20 && c < 0x30) || (c > 0x39 && c < 0x41) ||
           (c > 0x5A && c < 0x61) || (c > 0x7A && c < 0x7F);
  static constexpr Categories punctuation =
      setOf(Category::Pc) | setOf(Category::Pd) | setOf(Category::Ps) |
      setOf(Category::Pe) | setOf(Category::Pi) | setOf(Category::Pf) |
      setOf(Category::Po);
  return isIn(c, punctuation);
}

bool fovea::runtime::isSpace(char32_t c) {
  return c == ' ' || (c >= 0x9 && c <= 0xD) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool fovea::runtime::isWordChar(char32_t c) {
  static constexpr Categories others =
      marks | setOf(Category::Nd) | setOf(Category::Nl) | setOf(Category::Pc);
  // Letters in circles and squares are alphabetic symbols.
  bool isEnclosed =
      (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
      (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
  return isLetter(c) || isEnclosed || isIn(c, others);
}

//===----------------------------------------------------------------------===//
// UTF-8
//===----------------------------------------------------------------------===//

char32_t fovea::runtime::takeChar(std::string_view &text) {
  auto first = static_cast<uint8_t>(text[0]);
  size_t count = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (count == 1 || count > text.size()) {
    text.remove_prefix(1);
    return first;
  }
  char32_t c = first & (0x7Fu >> count);
  for (size_t i = 1; i < count; ++i)
    c = c << 6 | (static_cast<uint8_t>(text[i]) & 0x3Fu);
  text.remove_prefix(count);
  return c;
}

void fovea::runtime::addChar(std::string &text, char32_t c) {
  auto add = [&](char32_t byte) { text += static_cast<char>(byte); };
  auto follow = [&](int shift) { add(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xC0 | c >> 6);
    follow(0);
  } else if (c < 0x10000) {
    add(0xE0 | c >> 12);
    follow(6);
    follow(0);
  } else {
    add(0xF0 | c >> 18);
    follow(12);
    follow(6);
    follow(0);
  }
}

std::u32string fovea::runtime::charsOf(std::string_view text) {
  std::u32string chars;
  while (!text.empty())
    chars += takeChar(text);
  return chars;
}

std::string fovea::runtime::textOf(std::u32string_view chars) {
  std::string text;
  for (char32_t c : chars)
    addChar(text, c);
  return text;
}

/// How many bytes from the first on are the begin of some character, but not
/// a whole one.
static size_t brokenBytes(std::string_view bytes) {
  auto at = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  uint8_t first = at(0);
  if (first < 0xC2 || first > 0xF4)
    return 1;
  uint8_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  uint8_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  size_t count = 1;
  for (size_t size = first < 0xE0   ? 2
                     : first < 0xF0 ? 3
                                    : 4;
       count < size && count < bytes.size() && at(count) >= low &&
       at(count) <= high;
       ++count) {
    low = 0x80;
    high = 0xBF;
  }
  return count;
}

std::string fovea::runtime::textOfBytes(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    size_t valid = validUtf8(bytes);
    text += bytes.substr(0, valid);
    bytes.remove_prefix(valid);
    if (bytes.empty())
      break;
    text += "\xEF\xBF\xBD";
    bytes.remove_prefix(brokenBytes(bytes));
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Normalisation forms
//===----------------------------------------------------------------------===//

void fovea::runtime::addLower(std::u32string &chars, char32_t c) {
  auto found = tables().lower.find(c);
  if (found == tables().lower.end())
    chars += c;
  else
    chars += found->second;
}

// Hangul syllables are computed: first, vowels, last (none is the first).
static constexpr char32_t syllables = 0xAC00, leads = 0x1100, vowels = 0x1161,
                          tails = 0x11A7, numLeads = 19, numVowels = 21,
                          numTails = 28;

static void addParts(std::u32string &result, char32_t c, bool isCompatible) {
  if (c < 0x80) {
    result += c;
    return;
  }
  if (char32_t syllable = c - syllables;
      c >= syllables && syllable < numLeads * numVowels * numTails) {
    result += leads + syllable / (numVowels * numTails);
    result += vowels + syllable / numTails % numVowels;
    if (syllable % numTails != 0)
      result += tails + syllable % numTails;
    return;
  }
  auto found = tables().parts.find(c);
  if (found == tables().parts.end() ||
      (found->second.isCompatible && !isCompatible)) {
    result += c;
    return;
  }
  for (char32_t part : found->second.chars)
    addParts(result, part, isCompatible);
}

static uint8_t classOf(char32_t c) {
  return c < 0x300 || c >= numChars ? 0 : tables().combining.at(c);
}

std::u32string fovea::runtime::decompose(std::u32string_view chars,
                                         bool isCompatible) {
  std::u32string result;
  for (char32_t c : chars)
    addParts(result, c, isCompatible);
  for (size_t begin = 0; begin < result.size();) {
    size_t end = begin;
    while (end < result.size() && classOf(result[end]) != 0)
      ++end;
    std::vector<std::tuple<uint8_t, size_t, char32_t>> marks;
    for (size_t i = begin; i < end; ++i)
      marks.emplace_back(classOf(result[i]), i, result[i]);
    std::sort(marks.begin(), marks.end());
    for (size_t i = begin; i < end; ++i)
      result[i] = std::get<char32_t>(marks[i - begin]);
    begin = end + 1;
  }
  return result;
}

/// The character that two form; 0: none.
static char32_t pairOf(char32_t a, char32_t b) {
  if (a - leads < numLeads && b - vowels < numVowels)
    return syllables + ((a - leads) * numVowels + b - vowels) * numTails;
  if (a - syllables < numLeads * numVowels * numTails &&
      (a - syllables) % numTails == 0 && b > tails && b - tails < numTails)
    return a + b - tails;
  auto found = tables().pairs.find({a, b});
  return found == tables().pairs.end() ? 0 : found->second;
}

std::u32string fovea::runtime::compose(std::u32string_view chars) {
  std::u32string result;
  size_t starter = std::u32string::npos;
  int last = -1; // the class of the character before, of those that stay
  for (char32_t c : chars) {
    int own = classOf(c);
    char32_t pair = 0;
    if (starter != std::u32string::npos && last < own)
      pair = pairOf(result[starter], c);
    if (pair != 0) {
      result[starter] = pair;
      continue;
    }
    if (own == 0) {
      starter = result.size();
      last = -1;
    } else {
      last = own;
    }
    result += c;
  }
  return result;
}
