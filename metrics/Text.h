//===- Text.h - lines as characters and as words --------------------------===//
//
// The texts that metrics compare. Spaces are Unicode's, as in Python's
// `str.split`, because the scorers that we agree with are written in Python.
// All texts are UTF-8; their readers have checked that.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_METRICS_TEXT_H
#define FOVEA_METRICS_TEXT_H

#include <string>
#include <string_view>
#include <vector>

namespace fovea::metrics {

using Tokens = std::vector<std::u32string>;

/// The code points of a text.
std::u32string decode(std::string_view utf8);
std::string encode(std::u32string_view text);
/// Returns lower case letters, one code point at a time.
std::u32string lower(std::u32string_view text);
/// Returns a line in lower case, as Python's `str.lower` does: a capital I with
/// a dot becomes two code points, and a sigma that ends a word is final.
std::string lowerLine(std::string_view utf8);

/// Puts `to` for each `from`, which does not overlap what was put before it.
void replaceAll(std::u32string &text, std::u32string_view from,
                std::u32string_view to);

/// How a line becomes tokens.
enum class Tokeniser {
  None,           // what stands between spaces
  V13a,           // mteval-v13a, the tokenisation of WMT
  International,  // mteval-v14 with signs of all scripts
  Meteor,         // that of METEOR 1.5 for English
  Chars,          // each code point that is no space
  CharsAndBlanks, // the same, and one blank where words meet
};

/// Splits a line. V13a is the tokenisation of `mteval-v13a.pl` as sacreBLEU has
/// it (Post, 2018): entities are undone; punctuation of ASCII becomes tokens,
/// but `.` and `,` within numbers and `-` after a letter do not. International
/// is the tokenisation of `mteval-v14.pl`: all of Unicode's symbols become
/// tokens, and its punctuation too unless digits are on both sides.
Tokens tokenise(std::string_view line, Tokeniser tokeniser);

/// A line with spaces between what METEOR 1.5 takes for tokens in English.
std::u32string normaliseForMeteor(const std::u32string &line);

} // namespace fovea::metrics

#endif // FOVEA_METRICS_TEXT_H
