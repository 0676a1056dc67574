//===- SentencePieces.cpp - a model of SentencePiece ----------------------===//
//
// Segments and joins text. The output must equal the SentencePiece library's,
// to the last bit of a score. So orders of operations and floating-point types
// follow that library; the test compares both.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/SentencePieces.h"
#include "runtime/data/Text.h"

#include <algorithm>
#include <map>
#include <queue>

using namespace fovea::runtime;

static constexpr std::string_view space = "\xE2\x96\x81"; // of pieces, U+2581

/// Returns the length of the character that begins with `first`, as the library
/// counts it.
static size_t charBytes(char first) {
  return "\1\1\1\1\1\1\1\1\1\1\1\1\2\2\3\4"[static_cast<uint8_t>(first) >> 4];
}

//===----------------------------------------------------------------------===//
// Prefixes
//===----------------------------------------------------------------------===//

size_t SentencePieces::firstBytes(std::string_view line, bool &isSymbol) const {
  size_t length = userDefined.longest(line);
  isSymbol = length > 0;
  return isSymbol ? length : std::min(charBytes(line[0]), line.size());
}

int SentencePieces::find(std::string_view text) const {
  int id = reserved.find(text);
  if (id < 0)
    id = plain.find(text);
  return id < 0 ? unknownId : id;
}

//===----------------------------------------------------------------------===//
// Normalising
//===----------------------------------------------------------------------===//

std::pair<std::string_view, size_t>
SentencePieces::Normaliser::first(std::string_view text,
                                  const Texts &kept) const {
  if (size_t length = kept.longest(text))
    return {text.substr(0, length), length};
  if (auto found = table.longest(text); found.second > 0)
    return found;
  if (size_t length = std::min(charBytes(text[0]), text.size());
      validUtf8(text.substr(0, length)) == length)
    return {text.substr(0, length), length};
  return {"\xEF\xBF\xBD", 1};
}

std::string SentencePieces::Normaliser::apply(std::string_view line,
                                              const Texts &kept) const {
  std::string result;
  while (removesSpaces && !line.empty()) {
    auto [text, length] = first(line, kept);
    if (text != " ")
      break;
    line.remove_prefix(length);
  }
  if (line.empty())
    return result;
  std::string_view own = escapesSpaces ? space : " ";
  if (addsSpace && !isSuffix)
    result += own;
  bool isAfterSpace = removesSpaces;
  while (!line.empty()) {
    auto [text, length] = first(line, kept);
    while (isAfterSpace && text.starts_with(' '))
      text.remove_prefix(1);
    for (char byte : text)
      byte == ' ' ? result += own : result += byte;
    if (!text.empty())
      isAfterSpace = text.back() == ' ';
    line.remove_prefix(length);
    isAfterSpace &= removesSpaces;
  }
  while (removesSpaces && result.ends_with(own))
    result.resize(result.size() - own.size());
  if (addsSpace && isSuffix)
    result += own;
  return result;
}

//===----------------------------------------------------------------------===//
// Cutting
//===----------------------------------------------------------------------===//

SentencePieces::Cut SentencePieces::cutByUnigrams(std::string_view line) const {
  /// The best path to a place: its score, and its last piece.
  struct Path {
    float score = 0;
    int id = -1, begin = -1;
  };
  std::vector<Path> paths(line.size() + 1);
  const float ofUnknown = lowest - 10.0f;
  for (size_t begin = 0; begin < line.size();) {
    float here = paths[begin].score;
    auto offer = [&](size_t end, auto score, int id) {
      Path &path = paths[end];
      if (path.begin >= 0 && !(score > path.score))
        return;
      path = {static_cast<float>(score), id, static_cast<int>(begin)};
    };
    size_t character = std::min(charBytes(line[begin]), line.size() - begin);
    bool hasCharacter = false;
    plain.forPrefixes(line.substr(begin), [&](size_t length, int id) {
      if (useOf(id) == Use::Unused)
        return;
      // User-defined symbols always match.
      double score = useOf(id) == Use::UserDefined
                         ? static_cast<float>(length) * highest - 0.1
                         : entries[id].score;
      offer(begin + length, score + here, id);
      hasCharacter |= length == character;
    });
    if (!hasCharacter)
      offer(begin + character, ofUnknown + here, unknownId);
    begin += character;
  }
  Cut result;
  for (size_t end = line.size(); end > 0;) {
    const Path &path = paths[end];
    size_t begin = path.begin;
    result.push_back({line.substr(begin, end - begin), path.id});
    end = begin;
  }
  std::reverse(result.begin(), result.end());
  return result;
}

namespace {
/// A span of a line, and its neighbours; -1: none.
struct Stretch {
  std::string_view text;
  int before, after;
  bool isFixed;
};

/// Two adjacent spans that form a piece.
struct Pair {
  float score;
  int left, right;
  size_t size;

  /// The highest score wins; among equals, the first in the line.
  bool operator<(const Pair &other) const {
    return score < other.score || (score == other.score && left > other.left);
  }
};
} // namespace

SentencePieces::Cut SentencePieces::cutByPairs(std::string_view line) const {
  std::vector<Stretch> stretches;
  for (std::string_view rest = line; !rest.empty();) {
    int place = static_cast<int>(stretches.size());
    bool isSymbol;
    size_t size = firstBytes(rest, isSymbol);
    stretches.push_back({rest.substr(0, size), place - 1, place + 1, isSymbol});
    rest.remove_prefix(size);
  }
  if (stretches.empty())
    return {};
  stretches.back().after = -1;
  std::priority_queue<Pair> pairs;
  // The parts of unused pieces.
  std::map<std::string_view, std::pair<std::string_view, std::string_view>>
      parts;
  auto join = [&](const Stretch &left, const Stretch &right) {
    return std::string_view(left.text.data(),
                            left.text.size() + right.text.size());
  };
  auto offer = [&](int left, int right) {
    if (left < 0 || right < 0 || stretches[left].isFixed ||
        stretches[right].isFixed)
      return;
    std::string_view text = join(stretches[left], stretches[right]);
    int id = plain.find(text);
    if (id < 0)
      return;
    pairs.push({entries[id].score, left, right, text.size()});
    if (useOf(id) == Use::Unused)
      parts[text] = {stretches[left].text, stretches[right].text};
  };
  for (int right = 1; right < static_cast<int>(stretches.size()); ++right)
    offer(right - 1, right);
  while (!pairs.empty()) {
    Pair best = pairs.top();
    pairs.pop();
    Stretch &left = stretches[best.left], &right = stretches[best.right];
    if (left.text.empty() || right.text.empty() ||
        left.text.size() + right.text.size() != best.size)
      continue;
    left.text = join(left, right);
    left.after = right.after;
    if (right.after >= 0)
      stretches[right.after].before = best.left;
    right.text = {};
    offer(left.before, best.left);
    offer(best.left, left.after);
  }
  Cut result;
  for (int place = 0; place >= 0; place = stretches[place].after) {
    std::vector<std::string_view> waiting = {stretches[place].text};
    while (!waiting.empty()) {
      std::string_view text = waiting.back();
      waiting.pop_back();
      int id = find(text);
      auto made = parts.find(text);
      if (useOf(id) == Use::Unused && made != parts.end()) {
        waiting.push_back(made->second.second);
        waiting.push_back(made->second.first);
      } else {
        result.push_back({text, id});
      }
    }
  }
  return result;
}

SentencePieces::Cut SentencePieces::cutByWords(std::string_view line) const {
  Cut result;
  while (!line.empty()) {
    size_t end = std::min(line.find(space, 1), line.size());
    result.push_back({line.substr(0, end), find(line.substr(0, end))});
    line.remove_prefix(end);
  }
  return result;
}

SentencePieces::Cut
SentencePieces::cutByCharacters(std::string_view line) const {
  Cut result;
  while (!line.empty()) {
    bool isSymbol;
    size_t size = firstBytes(line, isSymbol);
    result.push_back({line.substr(0, size), find(line.substr(0, size))});
    line.remove_prefix(size);
  }
  return result;
}

std::vector<SentencePieces::Piece>
SentencePieces::cut(std::string_view line) const {
  std::string text = before.apply(line, userDefined);
  Cut found;
  switch (kind) {
  case Kind::Unigram:
    found = cutByUnigrams(text);
    break;
  case Kind::Pairs:
    found = cutByPairs(text);
    break;
  case Kind::Words:
    found = cutByWords(text);
    break;
  case Kind::Characters:
    found = cutByCharacters(text);
    break;
  }
  std::vector<Piece> pieces;
  bool isAfterUnknown = false;
  for (const auto &[own, id] : found) {
    bool isUnknown = useOf(id) == Use::Unknown;
    if (isUnknown && hasBytes) {
      for (char byte : own) {
        std::string name = pieceOf(static_cast<uint8_t>(byte));
        pieces.push_back({name, ours[find(name)]});
      }
    } else if (isUnknown && isAfterUnknown) {
      pieces.back().text += own;
    } else {
      pieces.push_back({std::string(own), ours[id], isUnknown});
    }
    isAfterUnknown = isUnknown;
  }
  return pieces;
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

/// Bytes as text: invalid bytes become U+FFFD, one by one.
static std::string textOfBytes(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    size_t valid = validUtf8(bytes);
    text += bytes.substr(0, valid);
    bytes.remove_prefix(valid);
    if (bytes.empty())
      break;
    text += "\xEF\xBF\xBD";
    bytes.remove_prefix(1);
  }
  return text;
}

std::string SentencePieces::join(const std::vector<std::string> &pieces) const {
  std::string line, bytes;
  bool isFirst = true, hasSpace = false;
  auto endBytes = [&] {
    line += textOfBytes(bytes);
    bytes.clear();
  };
  for (const std::string &piece : pieces) {
    int id = find(piece);
    if (useOf(id) == Use::Byte) {
      bytes += static_cast<char>(byteOf(piece));
      continue;
    }
    endBytes();
    isFirst &= !hasSpace && line.empty();
    hasSpace = false;
    if (useOf(id) == Use::Control)
      continue;
    if (useOf(id) == Use::Unknown) {
      line += piece == entries[id].text ? unknownText : piece;
      continue;
    }
    std::string_view text = piece;
    if (isFirst && (before.addsSpace || before.removesSpaces) &&
        text.starts_with(space)) {
      text.remove_prefix(space.size());
      // If spaces are removed, all leading ones are.
      hasSpace = !before.removesSpaces;
    }
    while (!text.empty()) {
      size_t end = std::min(text.find(space), text.size());
      line += text.substr(0, end);
      text.remove_prefix(end);
      if (text.empty())
        break;
      line += ' ';
      text.remove_prefix(space.size());
    }
  }
  endBytes();
  return after.table.empty() ? line : after.apply(line, {});
}

std::vector<std::string> SentencePieces::symbols() const {
  std::vector<std::string> result = {"<s>", "</s>", "<unk>"};
  for (size_t id = result.size(); id < theirs.size(); ++id)
    result.push_back(entries[theirs[id]].text);
  return result;
}
