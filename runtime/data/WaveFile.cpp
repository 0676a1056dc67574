//===- WaveFile.cpp - the samples of a WAV file ---------------------------===//

#include "runtime/data/WaveFile.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <string_view>

using namespace fovea::runtime;

namespace {

/// Reads little-endian numbers of a text that may end anywhere.
uint64_t numberAt(std::string_view bytes, size_t place, size_t size) {
  uint64_t number = 0;
  for (size_t i = 0; i < size; ++i)
    number |= uint64_t(uint8_t(bytes[place + i])) << (8 * i);
  return number;
}

/// The sample format from the chunk `fmt `.
struct Format {
  uint64_t code = 0, channels = 0, rate = 0, block = 0, bits = 0;

  bool isInteger() const {
    return code == 1 && (bits == 8 || bits == 16 || bits == 24 || bits == 32);
  }
  bool isReal() const { return code == 3 && (bits == 32 || bits == 64); }
  bool isKnown() const {
    return channels > 0 && block == channels * bits / 8 &&
           (isInteger() || isReal());
  }
  double sampleAt(std::string_view bytes, size_t place) const {
    uint64_t number = numberAt(bytes, place, bits / 8);
    if (code == 3)
      return bits == 64 ? std::bit_cast<double>(number)
                        : double(std::bit_cast<float>(uint32_t(number)));
    if (bits == 8)
      return (double(number) - 128) / 128;
    auto whole = int32_t(uint32_t(number) << (32 - bits));
    return double(whole) / 0x1p31;
  }
};

} // namespace

Status fovea::runtime::readWave(const std::string &bytes,
                                const std::string &path, int64_t &rate,
                                std::vector<double> &samples) {
  auto fail = [&](const std::string &why) {
    return Status::error(
        fmt::format("cannot read the sound '{}': {}", path, why));
  };
  std::string_view text = bytes, data;
  if (text.size() < 12 || !text.starts_with("RIFF") ||
      text.substr(8, 4) != "WAVE")
    return fail("it is neither WAV nor FLAC; help: programs read only these");
  Format format;
  bool hasData = false;
  for (size_t place = 12; place + 8 <= text.size() && !hasData;) {
    std::string_view name = text.substr(place, 4);
    size_t size = numberAt(text, place + 4, 4);
    std::string_view chunk = text.substr(place + 8, size);
    if (name == "data" && chunk.size() < size)
      return fail(fmt::format("it claims {} bytes of samples but ends after {}",
                              size, chunk.size()));
    if (name == "data") {
      data = chunk;
      hasData = true;
    }
    if (name == "fmt " && chunk.size() >= 16) {
      format = {numberAt(chunk, 0, 2), numberAt(chunk, 2, 2),
                numberAt(chunk, 4, 4), numberAt(chunk, 12, 2),
                numberAt(chunk, 14, 2)};
      // An extensible format stores its code at the start of a GUID.
      if (format.code == 0xfffe && chunk.size() >= 26)
        format.code = numberAt(chunk, 24, 2);
    }
    place += 8 + size + size % 2;
  }
  if (!format.isKnown())
    return fail(
        "its samples are neither 8, 16, 24 or 32-bit PCM nor floating point");
  rate = int64_t(format.rate);
  size_t count = data.size() / format.block;
  samples.assign(count, 0);
  for (size_t i = 0; i < count; ++i) {
    for (size_t channel = 0; channel < format.channels; ++channel)
      samples[i] +=
          format.sampleAt(data, i * format.block + channel * format.bits / 8);
    samples[i] /= double(format.channels);
    if (!std::isfinite(samples[i]))
      return fail(fmt::format("sample {} is not finite", i));
  }
  return Status::success();
}
