//===- Distance.cpp - how far one sequence is from another ----------------===//
//
// 64 rows of the table of a dynamic program are one word each of differences
// between neighbours. A column of them takes a few instructions. The table is
// computed in bands of 64 rows, from left to right. A band leaves one small
// number for each column at its lower edge.
//
//===----------------------------------------------------------------------===//

#include "metrics/Distance.h"

#include <algorithm>
#include <bit>
#include <span>
#include <unordered_map>

using namespace fovea::metrics;

namespace {

using Ids = std::span<const uint32_t>;
using Word = uint64_t;
constexpr int64_t bits = 64;

/// Two sequences as numbers, without what both begin and end with.
class Pair {
public:
  Pair(const Tokens &first, const Tokens &second) {
    std::unordered_map<std::u32string_view, uint32_t> ids;
    auto number = [&](const Tokens &tokens, std::vector<uint32_t> &to) {
      to.reserve(tokens.size());
      for (const std::u32string &token : tokens)
        to.push_back(ids.try_emplace(token, static_cast<uint32_t>(ids.size()))
                         .first->second);
    };
    number(first, ownA);
    number(second, ownB);
    numSymbols = ids.size();
    a = ownA;
    b = ownB;
    auto begin = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    common = begin.first - a.begin();
    a = a.subspan(common);
    b = b.subspan(common);
    auto end = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
    size_t tail = end.first - a.rbegin();
    a = a.first(a.size() - tail);
    b = b.first(b.size() - tail);
    common += tail;
  }

  Ids a, b;
  int64_t common = 0; // tokens that are left out
  size_t numSymbols = 0;

private:
  std::vector<uint32_t> ownA, ownB;
};

/// The places of each symbol among the rows of one band.
class Places {
public:
  explicit Places(size_t numSymbols) : words(numSymbols) {}
  void set(Ids rows) {
    for (uint32_t symbol : last)
      words[symbol] = 0;
    last = rows;
    for (size_t i = 0; i < rows.size(); ++i)
      words[rows[i]] |= Word(1) << i;
  }
  Word of(uint32_t symbol) const { return words[symbol]; }

private:
  std::vector<Word> words;
  Ids last;
};

} // namespace

/// The distance if it is at most `width`; otherwise more than it, but never
/// less than the distance. Only cells with |i - j| <= width, and some around
/// them, are computed: each of the others counts as one more than its neighbour
/// (Ukkonen, 1985).
static int64_t distanceWithin(const Pair &pair, int64_t width) {
  Ids a = pair.a, b = pair.b;
  auto rows = static_cast<int64_t>(a.size());
  auto columns = static_cast<int64_t>(b.size());
  Places places(pair.numSymbols);
  // d[i,j] - d[i,j-1] at the lower edge of the band above.
  std::vector<int8_t> edge(columns, 1);
  // d at the lower edge of the band above, left of where this one begins.
  int64_t left = 0, begin = 0;
  for (int64_t top = 0; top < rows; top += bits) {
    int64_t height = std::min(bits, rows - top);
    int64_t next = std::clamp<int64_t>(top - width, 0, columns);
    for (; begin < next; ++begin)
      left += edge[begin];
    int64_t end = std::min(columns, top + height + width);
    places.set(a.subspan(top, height));
    // Differences downwards, +1 or -1 (Hyyro, 2003).
    Word plus = ~Word(0), minus = 0, last = Word(1) << (height - 1);
    for (int64_t j = begin; j < end; ++j) {
      Word equal = places.of(b[j]);
      Word in = edge[j] < 0 ? 1 : 0, inPlus = edge[j] > 0 ? 1 : 0;
      Word down = equal | minus;
      equal |= in;
      Word along = (((equal & plus) + plus) ^ plus) | equal;
      Word more = minus | ~(along | plus), less = plus & along;
      edge[j] = static_cast<int8_t>(((more & last) != 0 ? 1 : 0) -
                                    ((less & last) != 0 ? 1 : 0));
      more = more << 1 | inPlus;
      less = less << 1 | in;
      plus = less | ~(down | more);
      minus = more & down;
    }
    left += height;
  }
  for (; begin < columns; ++begin)
    left += edge[begin];
  return left;
}

int64_t fovea::metrics::editDistance(const Tokens &a, const Tokens &b) {
  Pair pair(a, b);
  int64_t width = bits;
  while (true) {
    int64_t distance = distanceWithin(pair, width);
    if (distance <= width)
      return distance;
    // It is no more than that, so a band of this width certainly has it.
    width = distance <= 8 * width ? distance : 4 * width;
  }
}

int64_t fovea::metrics::commonSubsequence(const Tokens &a, const Tokens &b) {
  Pair pair(a, b);
  Places places(pair.numSymbols);
  // Whether the length grows from column to column, at the lower edge of the
  // band above.
  std::vector<uint8_t> edge(pair.b.size());
  int64_t length = 0;
  for (size_t top = 0; top < pair.a.size(); top += bits) {
    size_t height = std::min<size_t>(bits, pair.a.size() - top);
    places.set(pair.a.subspan(top, height));
    // Rows at which the length does not grow (Hyyro, 2004).
    Word same = ~Word(0);
    for (size_t j = 0; j < pair.b.size(); ++j) {
      Word both = same & places.of(pair.b[j]);
      Word sum = same + both, whole = sum + edge[j];
      edge[j] = sum < same || whole < sum ? 1 : 0;
      same = whole | (same - both);
    }
    length += std::popcount(~same << (bits - height));
  }
  return pair.common + length;
}

int64_t fovea::metrics::equalPlaces(const Tokens &a, const Tokens &b) {
  int64_t count = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    count += a[i] == b[i] ? 1 : 0;
  return count;
}
