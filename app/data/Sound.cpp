//===- Sound.cpp - samples of sound files ---------------------------------===//
//
// Uses libsndfile.
//
//===----------------------------------------------------------------------===//

#include "app/data/Sound.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <memory>

#include <sndfile.h>

using namespace fovea;
using namespace fovea::cli;
using fovea::runtime::Status;

/// Returns whether the file ends with the last page of an Ogg stream, which has
/// a mark. libsndfile takes a file that was cut for a shorter sound.
static bool hasLastPage(std::string_view bytes) {
  constexpr size_t head = 27, largest = head + 255 + 255 * 255;
  std::string_view end =
      bytes.substr(bytes.size() - std::min(bytes.size(), largest));
  for (size_t page = end.rfind("OggS"); page != end.npos;
       page = page == 0 ? end.npos : end.rfind("OggS", page - 1)) {
    if (page + head > end.size())
      continue;
    // The sizes of its parts follow their number.
    size_t next = page + head + uint8_t(end[page + head - 1]);
    if (next > end.size())
      continue;
    for (size_t i = page + head, last = next; i < last; ++i)
      next += uint8_t(end[i]);
    if (next == end.size())
      return (end[page + 5] & 4) != 0;
  }
  return false;
}

namespace {
/// The content of a file, as libsndfile reads it.
struct SoundBytes {
  std::string_view bytes;
  sf_count_t place = 0;

  static SoundBytes &of(void *data) { return *static_cast<SoundBytes *>(data); }
  static sf_count_t size(void *data) {
    return sf_count_t(of(data).bytes.size());
  }
  static sf_count_t tell(void *data) { return of(data).place; }
  static sf_count_t seek(sf_count_t offset, int from, void *data) {
    sf_count_t start = from == SEEK_SET   ? 0
                       : from == SEEK_CUR ? of(data).place
                                          : size(data);
    if (offset < -start)
      return -1;
    return of(data).place = start + offset;
  }
  static sf_count_t read(void *to, sf_count_t count, void *data) {
    SoundBytes &own = of(data);
    count = std::clamp<sf_count_t>(size(data) - own.place, 0, count);
    std::memcpy(to, own.bytes.data() + own.place, size_t(count));
    own.place += count;
    return count;
  }
};
} // namespace

/// An hour at the highest rate: no example has more.
static constexpr int64_t mostSamples = int64_t(1) << 28;

Status fovea::cli::readSound(const std::string &bytes, const std::string &path,
                             int64_t &rate, std::vector<double> &samples) {
  auto fail = [&](const std::string &why) {
    return Status::error(
        fmt::format("cannot read the sound '{}': {}", path, why));
  };
  SF_INFO info = {};
  SoundBytes content = {bytes};
  SF_VIRTUAL_IO reading = {SoundBytes::size, SoundBytes::seek, SoundBytes::read,
                           /*write=*/nullptr, SoundBytes::tell};
  std::unique_ptr<SNDFILE, int (*)(SNDFILE *)> file(
      sf_open_virtual(&reading, SFM_READ, &info, &content), sf_close);
  if (!file)
    return fail(sf_strerror(nullptr));
  rate = info.samplerate;
  if ((info.format & SF_FORMAT_TYPEMASK) == SF_FORMAT_OGG &&
      !hasLastPage(bytes))
    return fail("its last page is damaged or missing");
  if (info.frames == SF_COUNT_MAX)
    return fail("it is damaged");
  if (info.frames < 1 || info.frames > mostSamples / info.channels)
    return fail(fmt::format("it has {} samples", info.frames));
  // The header may claim any number of samples: allocate memory only for those
  // in the file.
  constexpr sf_count_t atOnce = 1 << 14;
  std::vector<double> part(atOnce * info.channels);
  samples.clear();
  while (sf_count_t count = sf_readf_double(file.get(), part.data(), atOnce))
    for (sf_count_t i = 0; i < count; ++i) {
      double sum = 0;
      for (int channel = 0; channel < info.channels; ++channel)
        sum += part[i * info.channels + channel];
      samples.push_back(sum / info.channels);
      if (!std::isfinite(samples.back()))
        return fail(fmt::format("sample {} is not finite", samples.size() - 1));
    }
  if (auto count = int64_t(samples.size()); count != info.frames)
    return fail(fmt::format("it claims {} samples but ends after {}",
                            info.frames, count));
  return Status::success();
}
