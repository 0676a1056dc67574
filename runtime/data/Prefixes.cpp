//===- Prefixes.cpp - texts by what a line begins with --------------------===//

#include "runtime/data/Prefixes.h"

#include <cstring>

using namespace fovea::runtime;

//===----------------------------------------------------------------------===//
// Numbered texts
//===----------------------------------------------------------------------===//

std::optional<std::string_view> Texts::finish() {
  std::sort(sorted.begin(), sorted.end());
  auto twice = std::adjacent_find(
      sorted.begin(), sorted.end(),
      [](const auto &a, const auto &b) { return a.first == b.first; });
  return twice == sorted.end() ? std::nullopt : std::optional(twice->first);
}

size_t Texts::longest(std::string_view text) const {
  size_t result = 0;
  forPrefixes(text, [&](size_t length, int) { result = length; });
  return result;
}

int Texts::find(std::string_view text) const {
  auto found = std::lower_bound(sorted.begin(), sorted.end(), text,
                                [](const auto &one, std::string_view other) {
                                  return one.first < other;
                                });
  return found != sorted.end() && found->first == text ? found->second : -1;
}

//===----------------------------------------------------------------------===//
// Tables of characters
//===----------------------------------------------------------------------===//

static uint32_t wordAt(std::string_view bytes, size_t place) {
  uint32_t word;
  std::memcpy(&word, bytes.data() + place, sizeof(word));
  return word;
}

static uint32_t childOf(uint32_t unit) {
  return (unit >> 10) << ((unit & (1u << 9)) >> 6);
}

/// Returns whether the table stays within its bounds. Each node has its
/// children in one block of 256.
bool CharTable::isTable() const {
  uint64_t count = units.size();
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t unit = units[i];
    uint64_t child = i ^ uint64_t(unit >> 10) << ((unit & (1u << 9)) >> 6);
    // The first unit is the root, whatever its content.
    bool isLeaf = i > 0 && unit >> 31, hasLeaf = unit & (1u << 8);
    if (isLeaf)
      continue;
    if ((child | 255) >= count ||
        (hasLeaf && (units[child] & 0x7fffffff) >= texts.size()))
      return false;
  }
  return true;
}

bool CharTable::read(std::string_view table) {
  units.clear();
  texts.clear();
  if (table.empty())
    return true;
  if (table.size() < 4)
    return false;
  uint32_t size = wordAt(table, 0);
  if (size > table.size() - 4 || size % 1024 != 0 || size == 0)
    return false;
  for (uint32_t place = 0; place < size; place += 4)
    units.push_back(wordAt(table, 4 + place));
  texts = table.substr(4 + size);
  return (texts.empty() || texts.back() == '\0') && isTable();
}

std::pair<std::string_view, size_t> CharTable::find(std::string_view text,
                                                    bool isShortest) const {
  if (units.empty())
    return {{}, 0};
  size_t length = 0;
  uint32_t value = 0;
  uint32_t place = childOf(units[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<uint8_t>(text[i]);
    place ^= byte;
    if ((units[place] & 0x800000ffu) != byte)
      break;
    bool hasLeaf = units[place] & (1u << 8);
    place ^= childOf(units[place]);
    if (!hasLeaf)
      continue;
    length = i + 1;
    value = units[place] & 0x7fffffffu;
    if (isShortest)
      break;
  }
  if (length == 0)
    return {{}, 0};
  return {texts.data() + value, length};
}
