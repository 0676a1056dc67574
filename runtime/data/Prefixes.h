//===- Prefixes.h - texts by what a line begins with ----------------------===//
//
// Two sets of texts in which the prefixes of a line are found: numbered texts,
// and the table of a SentencePiece model that normalises characters.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_PREFIXES_H
#define FOVEA_RUNTIME_DATA_PREFIXES_H

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea::runtime {

/// Numbered texts, searched by prefix. The texts live elsewhere.
class Texts {
public:
  void add(std::string_view text, int id) { sorted.push_back({text, id}); }
  /// Call this before lookups. Returns the first duplicate text, or nothing.
  std::optional<std::string_view> finish();
  bool empty() const { return sorted.empty(); }
  /// Calls `take(length, id)` for each text that is a prefix of `text`, the
  /// shortest first.
  template <typename Take>
  void forPrefixes(std::string_view text, Take take) const;
  /// The length of the longest text; 0: there is none.
  size_t longest(std::string_view text) const;
  /// Returns the number of a text, or -1.
  int find(std::string_view text) const;

private:
  std::vector<std::pair<std::string_view, int>> sorted;
};

/// A Darts double array; its leaves point at zero-terminated texts.
class CharTable {
public:
  /// Takes the bytes of a table; false: they are damaged. No bytes are an empty
  /// table.
  bool read(std::string_view table);
  bool empty() const { return units.empty(); }
  /// Returns the replacement of the shortest or longest prefix that has one,
  /// and the length of the prefix; 0: there is none.
  std::pair<std::string_view, size_t> shortest(std::string_view text) const {
    return find(text, true);
  }
  std::pair<std::string_view, size_t> longest(std::string_view text) const {
    return find(text, false);
  }

private:
  bool isTable() const;
  std::pair<std::string_view, size_t> find(std::string_view text,
                                           bool isShortest) const;

  std::vector<uint32_t> units;
  std::string texts;
};

template <typename Take>
void Texts::forPrefixes(std::string_view text, Take take) const {
  auto begin = sorted.begin(), end = sorted.end();
  for (size_t length = 0;; ++length) {
    // All texts with this prefix are between them.
    if (begin != end && length > 0 && begin->first.size() == length) {
      take(length, begin->second);
      ++begin;
    }
    if (begin == end || length == text.size())
      return;
    auto byte = static_cast<uint8_t>(text[length]);
    auto at = [&](const auto &one) {
      return static_cast<uint8_t>(one.first[length]);
    };
    begin = std::partition_point(
        begin, end, [&](const auto &one) { return at(one) < byte; });
    end = std::partition_point(
        begin, end, [&](const auto &one) { return at(one) == byte; });
  }
}

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_PREFIXES_H
