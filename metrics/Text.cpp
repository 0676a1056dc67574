//===- Text.cpp - lines as characters and as words ------------------------===//

#include "metrics/Text.h"

#include <clocale>
#include <cstdint>
#include <cwctype>
#include <glib.h>

using namespace fovea::metrics;

std::u32string fovea::metrics::decode(std::string_view utf8) {
  std::u32string text;
  text.reserve(utf8.size());
  for (size_t i = 0; i < utf8.size();) {
    auto first = static_cast<unsigned char>(utf8[i]);
    size_t count = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    char32_t point = count == 1 ? first : first & (0xff >> (count + 1));
    for (size_t k = 1; k < count && i + k < utf8.size(); ++k)
      point = point << 6 | (static_cast<unsigned char>(utf8[i + k]) & 0x3f);
    text.push_back(point);
    i += count;
  }
  return text;
}

std::string fovea::metrics::encode(std::u32string_view text) {
  std::string utf8;
  for (char32_t c : text) {
    int count = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    constexpr unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (int k = count - 1; k >= 0; --k) {
      char32_t part = c >> (6 * k);
      utf8 += static_cast<char>(k == count - 1 ? first[count] | part
                                               : 0x80 | (part & 0x3f));
    }
  }
  return utf8;
}

std::u32string fovea::metrics::lower(std::u32string_view text) {
  // What a letter is must not depend on who calls.
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  std::u32string result(text);
  for (char32_t &c : result)
    if (unicode)
      c = towlower_l(static_cast<wint_t>(c), unicode);
    else if (c >= U'A' && c <= U'Z')
      c += U'a' - U'A';
  return result;
}

std::string fovea::metrics::lowerLine(std::string_view utf8) {
  std::u32string text = decode(utf8), result;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == U'\u0130')
      result += U"i\u0307";
    else if (text[i] == U'\u03a3' && i > 0 && g_unichar_isalpha(text[i - 1]) &&
             !(i + 1 < text.size() && g_unichar_isalpha(text[i + 1])))
      result += U'\u03c2';
    else
      result += g_unichar_tolower(text[i]);
  return encode(result);
}

/// `str.isspace` of Python.
static bool isSpace(char32_t c) {
  return (c >= 0x9 && c <= 0xd) || (c >= 0x1c && c <= 0x20) || c == 0x85 ||
         c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
         c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

static Tokens splitWords(const std::u32string &text) {
  Tokens words;
  bool isWithin = false;
  for (char32_t c : text) {
    if (isSpace(c)) {
      isWithin = false;
      continue;
    }
    if (!isWithin)
      words.emplace_back();
    words.back().push_back(c);
    isWithin = true;
  }
  return words;
}

//===----------------------------------------------------------------------===//
// mteval-v13a
//===----------------------------------------------------------------------===//

void fovea::metrics::replaceAll(std::u32string &text, std::u32string_view from,
                                std::u32string_view to) {
  for (size_t at = text.find(from); at != std::u32string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

static bool isDigit(char32_t c) { return c >= U'0' && c <= U'9'; }
static bool isPoint(char32_t c) { return c == U'.' || c == U','; }

/// ASCII that is neither letter, digit, apostrophe, comma, dash nor full stop.
static bool isPunctuation(char32_t c) {
  return (c >= U'{' && c <= U'~') || (c >= U'[' && c <= U'`') ||
         (c >= U' ' && c <= U'&') || (c >= U'(' && c <= U'+') ||
         (c >= U':' && c <= U'@') || c == U'/';
}

/// Puts spaces into each pair of neighbours for which `holds`, from the left,
/// pairs that do not overlap: `before`, between, `after`.
static std::u32string splitPairs(const std::u32string &text,
                                 bool (*holds)(char32_t, char32_t), bool before,
                                 bool after) {
  std::u32string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !holds(text[i], text[i + 1])) {
      result.push_back(text[i]);
      continue;
    }
    if (before)
      result.push_back(U' ');
    result.push_back(text[i]);
    result.push_back(U' ');
    result.push_back(text[++i]);
    if (after)
      result.push_back(U' ');
  }
  return result;
}

static Tokens tokenise13a(std::u32string text) {
  replaceAll(text, U"<skipped>", U"");
  replaceAll(text, U"&quot;", U"\"");
  replaceAll(text, U"&amp;", U"&");
  replaceAll(text, U"&lt;", U"<");
  replaceAll(text, U"&gt;", U">");
  std::u32string spaced = U" ";
  for (char32_t c : text)
    if (isPunctuation(c))
      spaced.append({U' ', c, U' '});
    else
      spaced.push_back(c);
  spaced.push_back(U' ');
  spaced = splitPairs(
      spaced, [](char32_t a, char32_t b) { return !isDigit(a) && isPoint(b); },
      false, true);
  spaced = splitPairs(
      spaced, [](char32_t a, char32_t b) { return isPoint(a) && !isDigit(b); },
      true, false);
  spaced = splitPairs(
      spaced, [](char32_t a, char32_t b) { return isDigit(a) && b == U'-'; },
      false, true);
  return splitWords(spaced);
}

//===----------------------------------------------------------------------===//
// mteval-v14, international
//===----------------------------------------------------------------------===//

static bool isNumber(char32_t c) {
  GUnicodeType type = g_unichar_type(c);
  return type == G_UNICODE_DECIMAL_NUMBER || type == G_UNICODE_LETTER_NUMBER ||
         type == G_UNICODE_OTHER_NUMBER;
}

static bool isSymbol(char32_t c) {
  GUnicodeType type = g_unichar_type(c);
  return type == G_UNICODE_CURRENCY_SYMBOL ||
         type == G_UNICODE_MODIFIER_SYMBOL || type == G_UNICODE_MATH_SYMBOL ||
         type == G_UNICODE_OTHER_SYMBOL;
}

/// Unicode's `P`; glib's counts symbols too.
static bool isAnyPunctuation(char32_t c) {
  return g_unichar_ispunct(c) && !isSymbol(c);
}

static Tokens tokeniseInternational(std::u32string text) {
  while (!text.empty() && isSpace(text.back()))
    text.pop_back();
  text = splitPairs(
      text,
      [](char32_t a, char32_t b) {
        return !isNumber(a) && isAnyPunctuation(b);
      },
      false, true);
  text = splitPairs(
      text,
      [](char32_t a, char32_t b) {
        return isAnyPunctuation(a) && !isNumber(b);
      },
      true, false);
  std::u32string spaced;
  for (char32_t c : text)
    if (isSymbol(c))
      spaced.append({U' ', c, U' '});
    else
      spaced.push_back(c);
  return splitWords(spaced);
}

Tokens fovea::metrics::tokenise(std::string_view line, Tokeniser tokeniser) {
  std::u32string text = decode(line);
  if (tokeniser == Tokeniser::V13a)
    return tokenise13a(std::move(text));
  if (tokeniser == Tokeniser::International)
    return tokeniseInternational(std::move(text));
  if (tokeniser == Tokeniser::Meteor)
    return splitWords(normaliseForMeteor(text));
  if (tokeniser == Tokeniser::None)
    return splitWords(text);
  Tokens characters;
  bool isAfterBlank = false;
  for (char32_t c : text) {
    bool isBlank = isSpace(c);
    if (!isBlank && isAfterBlank && !characters.empty() &&
        tokeniser == Tokeniser::CharsAndBlanks)
      characters.emplace_back(1, U' ');
    if (!isBlank)
      characters.emplace_back(1, c);
    isAfterBlank = isBlank;
  }
  return characters;
}
