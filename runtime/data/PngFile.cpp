//===- PngFile.cpp - the pixels of a PNG file -----------------------------===//

#include "runtime/data/PngFile.h"
#include "runtime/data/Inflate.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <span>
#include <string_view>

using namespace fovea::runtime;

namespace {

enum Color : uint8_t {
  Grey = 0,
  Rgb = 2,
  Palette = 3,
  GreyAlpha = 4,
  Rgba = 6
};

uint32_t numberAt(std::string_view bytes, size_t place) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i)
    number = number << 8 | uint8_t(bytes[place + i]);
  return number;
}

/// The check of a chunk: CRC-32.
uint32_t checkOf(std::string_view bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> result;
    for (uint32_t i = 0; i < 256; ++i) {
      result[i] = i;
      for (int bit = 0; bit < 8; ++bit)
        result[i] =
            (result[i] & 1) != 0 ? 0xedb88320 ^ result[i] >> 1 : result[i] >> 1;
    }
    return result;
  }();
  uint32_t check = 0xffffffff;
  for (char byte : bytes)
    check = table[(check ^ uint8_t(byte)) & 255] ^ check >> 8;
  return ~check;
}

/// The rows of one pass: all pixels, or every few of them.
struct Pass {
  int64_t row, column, rowStep, columnStep;
};
constexpr Pass whole[] = {{0, 0, 1, 1}};
constexpr Pass interlaced[] = {{0, 0, 8, 8}, {0, 4, 8, 8}, {4, 0, 8, 4},
                               {0, 2, 4, 4}, {2, 0, 4, 2}, {0, 1, 2, 2},
                               {1, 0, 2, 1}};

class Png {
public:
  Png(std::string_view bytes, Picture &picture)
      : bytes(bytes), picture(picture) {}

  /// Each returns what is wrong; empty: nothing.
  std::string readChunks();
  std::string readPixels();

private:
  std::string readHeader(std::string_view chunk);
  std::string readChunk(std::string_view name, std::string_view chunk);
  bool unfilter(uint8_t kind, uint8_t *row, const uint8_t *above,
                size_t size) const;
  bool put(const uint8_t *row, int64_t column, uint8_t *pixel) const;
  unsigned sample(const uint8_t *row, int64_t index) const;

  std::span<const Pass> passes() const {
    return isInterlaced ? std::span<const Pass>(interlaced)
                        : std::span<const Pass>(whole);
  }
  /// The pixels along an axis that a pass has.
  static int64_t countOf(int64_t extent, int64_t first, int64_t step) {
    return extent <= first ? 0 : (extent - first + step - 1) / step;
  }
  /// The bytes of a row of so many pixels.
  size_t sizeOf(int64_t pixels) const {
    return (size_t(pixels) * channels * depth + 7) / 8;
  }

  std::string_view bytes;
  Picture &picture;
  unsigned depth = 0, channels = 0;
  uint8_t color = 0;
  bool isInterlaced = false, isStandard = false;
  uint32_t gamma = 0;
  std::string palette, transparent, data;
};

} // namespace

std::string Png::readHeader(std::string_view chunk) {
  if (chunk.size() != 13 || chunk[10] != 0 || chunk[11] != 0)
    return "its header is damaged";
  picture.columns = numberAt(chunk, 0);
  picture.rows = numberAt(chunk, 4);
  depth = uint8_t(chunk[8]);
  color = uint8_t(chunk[9]);
  isInterlaced = chunk[12] == 1;
  channels = color == Grey || color == Palette ? 1
             : color == GreyAlpha              ? 2
             : color == Rgb                    ? 3
             : color == Rgba                   ? 4
                                               : 0;
  bool isSmall = (depth == 1 || depth == 2 || depth == 4) &&
                 (color == Grey || color == Palette);
  if (depth == 16)
    return "it has 16 bits per channel; help: convert it to 8";
  if (channels == 0 || uint8_t(chunk[12]) > 1 || (depth != 8 && !isSmall))
    return "its header is damaged";
  return "";
}

std::string Png::readChunk(std::string_view name, std::string_view chunk) {
  if (name == "PLTE") {
    palette = chunk;
    return palette.empty() || palette.size() % 3 != 0 || palette.size() > 768
               ? "its palette is damaged"
               : "";
  }
  if (name == "tRNS")
    transparent = chunk;
  else if (name == "IDAT")
    data += chunk;
  else if (name == "sRGB" || name == "iCCP")
    isStandard = true;
  else if (name == "gAMA" && chunk.size() == 4)
    gamma = numberAt(chunk, 0);
  else if ((name[0] & 32) == 0 && name != "IEND")
    return "it has an unknown chunk";
  return "";
}

std::string Png::readChunks() {
  constexpr std::string_view signature = "\x89PNG\r\n\x1a\n";
  if (!bytes.starts_with(signature))
    return "it is not a PNG file; help: programs read only PNG";
  bool isFirst = true;
  for (size_t place = signature.size(); place + 12 <= bytes.size();) {
    size_t size = numberAt(bytes, place);
    if (size > bytes.size() - place - 12)
      break;
    std::string_view name = bytes.substr(place + 4, 4),
                     chunk = bytes.substr(place + 8, size);
    if (numberAt(bytes, place + 8 + size) !=
        checkOf(bytes.substr(place + 4, 4 + size)))
      return "its bytes are damaged";
    if (isFirst != (name == "IHDR"))
      return "its header is damaged";
    std::string mistake = isFirst ? readHeader(chunk) : readChunk(name, chunk);
    if (!mistake.empty())
      return mistake;
    isFirst = false;
    place += 12 + size;
    if (name != "IEND")
      continue;
    if (color == Palette && palette.empty())
      return "it has no palette";
    // libpng ignores what is about as much as 1 / 2.2.
    bool isUsual =
        gamma == 0 || std::abs(int64_t(gamma) * 11 / 5 - 100000) < 5000;
    return isStandard || isUsual
               ? ""
               : "its colours are not sRGB; help: convert them";
  }
  return "it ends too early";
}

/// Undoes what a row was compressed by. `above` is the row before it.
bool Png::unfilter(uint8_t kind, uint8_t *row, const uint8_t *above,
                   size_t size) const {
  size_t step = std::max<size_t>(1, channels * depth / 8);
  for (size_t i = 0; i < size; ++i) {
    int left = i < step ? 0 : row[i - step], up = above[i];
    int corner = i < step ? 0 : above[i - step];
    int added = 0;
    if (kind == 1)
      added = left;
    else if (kind == 2)
      added = up;
    else if (kind == 3)
      added = (left + up) / 2;
    else if (kind == 4) {
      int ofLeft = std::abs(up - corner), ofUp = std::abs(left - corner),
          ofCorner = std::abs(left + up - 2 * corner);
      added = ofLeft <= ofUp && ofLeft <= ofCorner ? left
              : ofUp <= ofCorner                   ? up
                                                   : corner;
    }
    row[i] = uint8_t(row[i] + added);
  }
  return kind <= 4;
}

/// Number `index` of a row, unscaled.
unsigned Png::sample(const uint8_t *row, int64_t index) const {
  size_t bit = size_t(index) * depth;
  return row[bit / 8] >> (8 - depth - bit % 8) & ((1U << depth) - 1);
}

/// Stores a pixel of a row as red, green, blue and opacity. Returns false if
/// its palette has no such color.
bool Png::put(const uint8_t *row, int64_t column, uint8_t *pixel) const {
  unsigned values[4] = {};
  for (unsigned channel = 0; channel < channels; ++channel)
    values[channel] = sample(row, column * channels + channel);
  pixel[3] = 255;
  if (color == Palette) {
    if (3 * values[0] >= palette.size())
      return false;
    for (int i = 0; i < 3; ++i)
      pixel[i] = uint8_t(palette[3 * values[0] + i]);
    if (values[0] < transparent.size())
      pixel[3] = uint8_t(transparent[values[0]]);
    return true;
  }
  bool isColored = color == Rgb || color == Rgba;
  for (unsigned i = 0; i < 3; ++i)
    pixel[i] = uint8_t(values[isColored ? i : 0] * 255 / ((1U << depth) - 1));
  if (color == GreyAlpha || color == Rgba) {
    pixel[3] = uint8_t(values[channels - 1]);
    return true;
  }
  // One color may be transparent as a whole.
  bool isClear = transparent.size() == 2 * channels;
  for (unsigned channel = 0; channel < channels && isClear; ++channel)
    isClear = values[channel] ==
              (uint8_t(transparent[2 * channel + 1]) & ((1U << depth) - 1));
  if (isClear)
    pixel[3] = 0;
  return true;
}

std::string Png::readPixels() {
  size_t size = 0;
  for (const Pass &pass : passes()) {
    int64_t width = countOf(picture.columns, pass.column, pass.columnStep);
    if (width > 0)
      size +=
          countOf(picture.rows, pass.row, pass.rowStep) * (sizeOf(width) + 1);
  }
  std::vector<uint8_t> rows;
  if (!inflate(data, size, rows))
    return "its pixels are damaged";
  picture.channels = 4;
  picture.bytes.resize(picture.rows * picture.columns * 4);
  uint8_t *next = rows.data();
  for (const Pass &pass : passes()) {
    int64_t width = countOf(picture.columns, pass.column, pass.columnStep);
    size_t length = sizeOf(width);
    std::vector<uint8_t> none(length);
    const uint8_t *above = none.data();
    for (int64_t y = pass.row; y < picture.rows && width > 0;
         y += pass.rowStep, next += length) {
      uint8_t kind = *next++;
      if (!unfilter(kind, next, above, length))
        return "its pixels are damaged";
      above = next;
      for (int64_t i = 0; i < width; ++i) {
        int64_t x = pass.column + i * pass.columnStep;
        if (!put(next, i, &picture.bytes[(y * picture.columns + x) * 4]))
          return "a pixel has no color in its palette";
      }
    }
  }
  return "";
}

Status fovea::runtime::readPng(const std::string &bytes,
                               const std::string &path, const TakeSize &take,
                               Picture &picture) {
  Png png(bytes, picture);
  if (std::string mistake = png.readChunks(); !mistake.empty())
    return unreadablePicture(path, mistake);
  // Deflate expands by a factor of at most 1032; a pixel has at least one bit.
  double most = double(bytes.size()) * 1032 * 8;
  if (Status status =
          checkSize(path, picture.rows, picture.columns, most, take);
      status.failed())
    return status;
  if (std::string mistake = png.readPixels(); !mistake.empty())
    return unreadablePicture(path, mistake);
  return Status::success();
}
