//===- FlacFile.cpp - the samples of a FLAC file --------------------------===//
//
// RFC 9639. A frame has a block of samples of each channel: predictions from
// the samples before them, and how much those are wrong.
//
//===----------------------------------------------------------------------===//

#include "runtime/data/FlacFile.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

using namespace fovea::runtime;

/// An hour at the highest rate: no example has more.
static constexpr size_t mostSamples = size_t(1) << 28;

namespace {

/// Bits of a text, the highest of a byte first; 0 after its end.
class Bits {
public:
  explicit Bits(std::string_view bytes) : bytes(bytes) {}

  uint64_t next(unsigned count) {
    uint64_t result = 0;
    for (; count > 0; --count, ++place) {
      unsigned byte = place / 8 < bytes.size() ? uint8_t(bytes[place / 8]) : 0;
      result = result << 1 | (byte >> (7 - place % 8) & 1);
    }
    return result;
  }
  int64_t nextSigned(unsigned count) {
    if (count == 0)
      return 0;
    auto value = static_cast<int64_t>(next(count));
    return value >> (count - 1) != 0 ? value - (int64_t(1) << count) : value;
  }
  /// The number of zeros before the next one.
  uint64_t nextUnary() {
    uint64_t count = 0;
    while (isWhole() && next(1) == 0)
      ++count;
    return count;
  }
  void align() { place = (place + 7) / 8 * 8; }
  size_t byte() const { return place / 8; }
  bool isWhole() const { return place <= 8 * bytes.size(); }
  bool isAtEnd() const { return place >= 8 * bytes.size(); }
  std::string_view since(size_t first) const {
    return bytes.substr(first, byte() - first);
  }

private:
  std::string_view bytes;
  size_t place = 0;
};

/// A check of `width` bits, the highest first.
uint32_t checkOf(std::string_view bytes, uint32_t divisor, unsigned width) {
  uint32_t check = 0, high = 1U << (width - 1), mask = (high << 1) - 1;
  for (char byte : bytes) {
    check ^= uint32_t(uint8_t(byte)) << (width - 8);
    for (int bit = 0; bit < 8; ++bit)
      check = ((check & high) != 0 ? check << 1 ^ divisor : check << 1) & mask;
  }
  return check;
}

class Flac {
public:
  explicit Flac(std::string_view bytes) : bits(bytes) {}

  /// Reads what precedes the frames. Each returns false if it is damaged.
  bool readHeader();
  bool readFrame();
  bool isAtEnd() const { return bits.isAtEnd(); }

  uint64_t rate = 0, channels = 0, depth = 0, total = 0;
  /// The samples so far: their sums over the channels.
  std::vector<int64_t> sums;

private:
  size_t blockSize(unsigned code);
  bool readSubframe(unsigned depth, std::vector<int64_t> &samples);
  bool readResidual(size_t order, std::vector<int64_t> &samples);
  bool predict(unsigned kind, unsigned depth, std::vector<int64_t> &samples);

  Bits bits;
};

} // namespace

bool Flac::readHeader() {
  bits.next(32);
  for (bool isLast = false, isFirst = true; !isLast; isFirst = false) {
    isLast = bits.next(1) != 0;
    uint64_t kind = bits.next(7), size = bits.next(24);
    if (isFirst && (kind != 0 || size != 34))
      return false;
    size_t end = bits.byte() + size;
    if (isFirst) {
      bits.next(32), bits.next(48);
      rate = bits.next(20);
      channels = bits.next(3) + 1;
      depth = bits.next(5) + 1;
      total = bits.next(36);
    }
    for (size_t left = end - bits.byte(); left > 0 && bits.isWhole(); --left)
      bits.next(8);
    if (!bits.isWhole())
      return false;
  }
  return true;
}

size_t Flac::blockSize(unsigned code) {
  if (code == 1)
    return 192;
  if (code >= 2 && code <= 5)
    return size_t(576) << (code - 2);
  if (code == 6 || code == 7)
    return bits.next(code == 6 ? 8 : 16) + 1;
  return code >= 8 ? size_t(256) << (code - 8) : 0;
}

/// The errors of a prediction, in partitions with a Rice code each.
bool Flac::readResidual(size_t order, std::vector<int64_t> &samples) {
  unsigned method = bits.next(2), partitions = 1U << bits.next(4);
  if (method > 1 || samples.size() % partitions != 0 ||
      samples.size() / partitions < order)
    return false;
  unsigned width = method == 0 ? 4 : 5, escape = (1U << width) - 1;
  for (unsigned partition = 0, next = order; partition < partitions;
       ++partition) {
    size_t end = (partition + 1) * (samples.size() / partitions);
    unsigned parameter = bits.next(width);
    unsigned raw = parameter == escape ? bits.next(5) : 0;
    for (; next < end && bits.isWhole(); ++next) {
      if (parameter == escape) {
        samples[next] = bits.nextSigned(raw);
        continue;
      }
      uint64_t high = bits.nextUnary();
      uint64_t folded = high << parameter | bits.next(parameter);
      samples[next] =
          static_cast<int64_t>(folded >> 1) ^ -static_cast<int64_t>(folded & 1);
    }
  }
  return bits.isWhole();
}

/// A block that is predicted from its first samples: by a fixed polynomial, or
/// with coefficients of its own.
bool Flac::predict(unsigned kind, unsigned depth,
                   std::vector<int64_t> &samples) {
  bool isFixed = kind < 32;
  size_t order = isFixed ? kind - 8 : kind - 31;
  if (order > samples.size() || (isFixed && order > 4))
    return false;
  for (size_t i = 0; i < order; ++i)
    samples[i] = bits.nextSigned(depth);
  constexpr int64_t fixed[5][4] = {
      {}, {1}, {2, -1}, {3, -3, 1}, {4, -6, 4, -1}};
  std::array<int64_t, 32> factors = {};
  int64_t shift = 0;
  if (isFixed) {
    std::copy(fixed[order], fixed[order] + order, factors.begin());
  } else {
    unsigned precision = bits.next(4) + 1;
    shift = bits.nextSigned(5);
    if (precision == 16 || shift < 0)
      return false;
    for (size_t i = 0; i < order; ++i)
      factors[i] = bits.nextSigned(precision);
  }
  if (!readResidual(order, samples))
    return false;
  // A damaged file may leave the range: that wraps, and its check fails.
  for (size_t i = order; i < samples.size(); ++i) {
    uint64_t sum = 0;
    for (size_t k = 0; k < order; ++k)
      sum += uint64_t(factors[k]) * uint64_t(samples[i - 1 - k]);
    samples[i] = int64_t(uint64_t(samples[i]) +
                         uint64_t(static_cast<int64_t>(sum) >> shift));
  }
  return true;
}

bool Flac::readSubframe(unsigned depth, std::vector<int64_t> &samples) {
  if (bits.next(1) != 0)
    return false;
  unsigned kind = bits.next(6);
  unsigned wasted = bits.next(1) != 0 ? bits.nextUnary() + 1 : 0;
  if (wasted >= depth)
    return false;
  depth -= wasted;
  if (kind == 0) {
    std::fill(samples.begin(), samples.end(), bits.nextSigned(depth));
  } else if (kind == 1) {
    for (int64_t &sample : samples)
      sample = bits.nextSigned(depth);
  } else if ((kind < 8 || kind > 12) && kind < 32) {
    return false;
  } else if (!predict(kind, depth, samples)) {
    return false;
  }
  for (int64_t &sample : samples)
    sample = int64_t(uint64_t(sample) << wasted);
  return bits.isWhole();
}

bool Flac::readFrame() {
  size_t begin = bits.byte();
  if (bits.next(15) != 0x7ffc)
    return false;
  bits.next(1);
  unsigned ofBlock = bits.next(4), ofRate = bits.next(4);
  unsigned assignment = bits.next(4);
  bits.next(4); // the depth, which the header has, and a reserved bit
  // The number of the frame, as a character of UTF-8.
  unsigned first = bits.next(8);
  for (unsigned bit = 0x40; first >= 0xc0 && (first & bit) != 0; bit >>= 1)
    bits.next(8);
  std::vector<int64_t> left(blockSize(ofBlock)), right;
  bits.next(ofRate == 12 ? 8 : ofRate == 13 || ofRate == 14 ? 16 : 0);
  uint32_t check = checkOf(bits.since(begin), 0x07, 8);
  bool isPair = assignment >= 8 && assignment <= 10;
  if (left.empty() || bits.next(8) != check || !bits.isWhole() ||
      (isPair ? channels != 2 : assignment + 1 != channels))
    return false;
  size_t start = sums.size();
  sums.resize(start + left.size());
  for (uint64_t channel = 0; channel < channels; ++channel) {
    bool isSide = assignment == 9 ? channel == 0 : isPair && channel == 1;
    right.swap(left);
    left.resize(right.size());
    if (!readSubframe(depth + isSide, left))
      return false;
    if (!isPair)
      for (size_t i = 0; i < left.size(); ++i)
        sums[start + i] += left[i];
  }
  // Of a pair, `right` is the first: one of them may be the difference.
  for (size_t i = 0; i < left.size() && isPair; ++i) {
    int64_t a = right[i], b = left[i];
    sums[start + i] = assignment == 8   ? 2 * a - b
                      : assignment == 9 ? a + 2 * b
                                        : 2 * a + (b & 1);
  }
  bits.align();
  check = checkOf(bits.since(begin), 0x8005, 16);
  return bits.next(16) == check && bits.isWhole();
}

Status fovea::runtime::readFlac(const std::string &bytes,
                                const std::string &path, int64_t &rate,
                                std::vector<double> &samples) {
  auto fail = [&](const std::string &why) {
    return Status::error(
        fmt::format("cannot read the sound '{}': {}", path, why));
  };
  Flac flac(bytes);
  if (!flac.readHeader())
    return fail("its header is damaged");
  rate = int64_t(flac.rate);
  if (flac.depth != 8 && flac.depth != 16 && flac.depth != 24)
    return fail(
        fmt::format("its samples have {} bits, not 8, 16 or 24", flac.depth));
  while (!flac.isAtEnd() && (flac.total == 0 || flac.sums.size() < flac.total))
    if (!flac.readFrame() || flac.sums.size() > mostSamples)
      return fail("its samples are damaged");
  if (flac.sums.size() < flac.total)
    return fail(fmt::format("it claims {} samples but ends after {}",
                            flac.total, flac.sums.size()));
  double scale = double(int64_t(1) << (flac.depth - 1));
  for (int64_t sum : flac.sums)
    samples.push_back(double(sum) / scale / double(flac.channels));
  return Status::success();
}
