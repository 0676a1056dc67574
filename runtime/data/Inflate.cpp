//===- Inflate.cpp - what zlib has compressed -----------------------------===//

#include "runtime/data/Inflate.h"

#include <algorithm>
#include <array>

using namespace fovea::runtime;

namespace {

/// A code of at most 15 bits per symbol, from the lengths of its words.
class HuffmanCode {
public:
  /// Returns false if more words are claimed than there are.
  bool build(const uint8_t *lengths, size_t count) {
    counts.fill(0);
    for (size_t symbol = 0; symbol < count; ++symbol)
      ++counts[lengths[symbol]];
    counts[0] = 0;
    std::array<size_t, 16> offsets = {};
    int64_t left = 1;
    for (size_t length = 1; length < 16; ++length) {
      left = 2 * left - static_cast<int64_t>(counts[length]);
      if (left < 0)
        return false;
      if (length < 15)
        offsets[length + 1] = offsets[length] + counts[length];
    }
    symbols.assign(count, 0);
    for (size_t symbol = 0; symbol < count; ++symbol)
      if (lengths[symbol] != 0)
        symbols[offsets[lengths[symbol]]++] = static_cast<uint16_t>(symbol);
    return true;
  }

  /// Returns the next symbol, or -1 if no word is next.
  template <typename Bit> int next(Bit bit) const {
    size_t code = 0, first = 0, index = 0;
    for (size_t length = 1; length < 16; ++length) {
      code |= bit();
      if (code < first + counts[length])
        return symbols[index + code - first];
      index += counts[length];
      first = 2 * (first + counts[length]);
      code *= 2;
    }
    return -1;
  }

private:
  std::array<size_t, 16> counts = {};
  std::vector<uint16_t> symbols;
};

/// The blocks of a stream. After the end of the stream all bits are 0, and the
/// stream is damaged.
class Inflater {
public:
  Inflater(std::string_view stream, size_t size, std::vector<uint8_t> &bytes)
      : stream(stream), size(size), bytes(bytes) {}
  bool run();

private:
  uint32_t bits(unsigned count);
  bool copyStored();
  bool readCodes();
  bool readBlock();
  bool copy(size_t length, size_t distance);
  bool isWhole() const { return place <= stream.size(); }

  std::string_view stream;
  size_t size, place = 2; // after the header
  std::vector<uint8_t> &bytes;
  uint32_t buffer = 0;
  unsigned available = 0; // bits of the buffer
  HuffmanCode literals, distances;
};

} // namespace

uint32_t Inflater::bits(unsigned count) {
  while (available < count) {
    uint32_t byte =
        place < stream.size() ? static_cast<uint8_t>(stream[place]) : 0;
    ++place;
    buffer |= byte << available;
    available += 8;
  }
  uint32_t result = buffer & ((1U << count) - 1);
  buffer >>= count;
  available -= count;
  return result;
}

bool Inflater::copyStored() {
  bits(available % 8);
  size_t length = bits(16);
  if (bits(16) != (length ^ 0xffff) || length > size - bytes.size())
    return false;
  for (; length > 0 && isWhole(); --length)
    bytes.push_back(static_cast<uint8_t>(bits(8)));
  return isWhole();
}

/// The codes of a block, themselves coded.
bool Inflater::readCodes() {
  constexpr uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                 11, 4,  12, 3, 13, 2, 14, 1, 15};
  size_t numLiterals = bits(5) + 257, numDistances = bits(5) + 1;
  size_t count = bits(4) + 4;
  std::array<uint8_t, 19> own = {};
  for (size_t i = 0; i < count; ++i)
    own[order[i]] = static_cast<uint8_t>(bits(3));
  HuffmanCode code;
  if (!code.build(own.data(), own.size()))
    return false;
  std::vector<uint8_t> lengths;
  while (lengths.size() < numLiterals + numDistances && isWhole()) {
    int symbol = code.next([&] { return bits(1); });
    if (symbol < 0 || (symbol == 16 && lengths.empty()))
      return false;
    if (symbol < 16)
      lengths.push_back(static_cast<uint8_t>(symbol));
    else if (symbol == 16)
      lengths.insert(lengths.end(), bits(2) + 3, lengths.back());
    else
      lengths.insert(lengths.end(), symbol == 17 ? bits(3) + 3 : bits(7) + 11,
                     0);
  }
  return lengths.size() == numLiterals + numDistances &&
         literals.build(lengths.data(), numLiterals) &&
         distances.build(lengths.data() + numLiterals, numDistances);
}

bool Inflater::copy(size_t length, size_t distance) {
  if (distance > bytes.size() || length > size - bytes.size())
    return false;
  for (size_t from = bytes.size() - distance; length > 0; --length)
    bytes.push_back(bytes[from++]);
  return true;
}

bool Inflater::readBlock() {
  auto bit = [&] { return bits(1); };
  while (isWhole()) {
    int symbol = literals.next(bit);
    if (symbol == 256)
      return isWhole();
    if (symbol < 0 || symbol > 285)
      return false;
    if (symbol < 256) {
      if (bytes.size() == size)
        return false;
      bytes.push_back(static_cast<uint8_t>(symbol));
      continue;
    }
    // Lengths and distances come in groups with 2^k extra bits each.
    size_t group = symbol - 257, length = 258;
    if (group < 8) {
      length = group + 3;
    } else if (group < 28) {
      unsigned extra = static_cast<unsigned>(group / 4 - 1);
      length = ((4 + group % 4) << extra) + 3 + bits(extra);
    }
    int code = distances.next(bit);
    if (code < 0 || code > 29)
      return false;
    size_t distance = code + 1;
    if (code >= 4) {
      auto extra = static_cast<unsigned>(code / 2 - 1);
      distance = (size_t(2 + code % 2) << extra) + 1 + bits(extra);
    }
    if (!copy(length, distance))
      return false;
  }
  return false;
}

bool Inflater::run() {
  if (stream.size() < 6)
    return false;
  auto head = [&](size_t at) { return static_cast<uint8_t>(stream[at]); };
  // Deflate, no dictionary, and a check of both bytes.
  if (head(0) % 16 != 8 || (head(1) & 32) != 0 ||
      (head(0) * 256 + head(1)) % 31 != 0)
    return false;
  for (bool isLast = false; !isLast;) {
    isLast = bits(1) != 0;
    uint32_t kind = bits(2);
    if (kind == 1) {
      std::array<uint8_t, 288> lengths;
      for (size_t i = 0; i < lengths.size(); ++i)
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
      std::array<uint8_t, 30> same;
      same.fill(5);
      literals.build(lengths.data(), lengths.size());
      distances.build(same.data(), same.size());
    }
    bool isGood = kind == 0   ? copyStored()
                  : kind == 1 ? readBlock()
                              : kind == 2 && readCodes() && readBlock();
    if (!isGood)
      return false;
  }
  bits(available % 8);
  uint32_t low = 1, high = 0, sum = 0;
  for (uint8_t byte : bytes) {
    low = (low + byte) % 65521;
    high = (high + low) % 65521;
  }
  for (int i = 0; i < 4; ++i)
    sum = sum << 8 | bits(8);
  return bytes.size() == size && isWhole() && sum == (high << 16 | low);
}

bool fovea::runtime::inflate(std::string_view stream, size_t size,
                             std::vector<uint8_t> &bytes) {
  bytes.clear();
  bytes.reserve(std::min(size, stream.size() * 1032));
  return Inflater(stream, size, bytes).run();
}
