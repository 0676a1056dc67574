//===- Unicode.h - properties of characters -------------------------------===//
//
// What tokenisers ask of characters: categories, lower case, and the
// normalisation forms of Unicode (Annex 15). The tables are our own, for every
// machine that programs run on.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_UNICODE_H
#define FOVEA_RUNTIME_DATA_UNICODE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace fovea::runtime {

/// The order is the same as in UnicodeTables.inc.
enum class Category : uint8_t {
  Lu,
  Ll,
  Lt,
  Lm,
  Lo,
  Mn,
  Mc,
  Me,
  Nd,
  Nl,
  No,
  Pc,
  Pd,
  Ps,
  Pe,
  Pi,
  Pf,
  Po,
  Sm,
  Sc,
  Sk,
  So,
  Zs,
  Zl,
  Zp,
  Cc,
  Cf,
  Cs,
  Co,
  Cn
};

/// A set of categories.
using Categories = uint32_t;
constexpr Categories setOf(Category category) {
  return 1u << static_cast<unsigned>(category);
}
/// The categories whose names, as `Lu`, begin with `name`; 0: none.
Categories categoriesOf(std::string_view name);

Category categoryOf(char32_t c);
bool isIn(char32_t c, Categories categories);
bool isLetter(char32_t c);
bool isNumber(char32_t c);
bool isMark(char32_t c);
/// A symbol of ASCII counts as punctuation.
bool isPunctuation(char32_t c);
/// White_Space.
bool isSpace(char32_t c);
/// A letter, mark, digit or connector: \w of regular expressions.
bool isWordChar(char32_t c);

/// Removes the first character of a text that is not empty. A byte that begins
/// no character of UTF-8 counts as one.
char32_t takeChar(std::string_view &text);
void addChar(std::string &text, char32_t c);
std::u32string charsOf(std::string_view text);
std::string textOf(std::u32string_view chars);

/// Adds the lower case of a character, which may be several.
void addLower(std::u32string &chars, char32_t c);
/// NFD, or NFKD if `isCompatible`.
std::u32string decompose(std::u32string_view chars, bool isCompatible);
/// NFC of NFD, NFKC of NFKD.
std::u32string compose(std::u32string_view chars);

/// Bytes as text: the longest part that begins like a character of UTF-8, but
/// does not end as one, becomes one U+FFFD.
std::string textOfBytes(std::string_view bytes);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_UNICODE_H
