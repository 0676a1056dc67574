//===- TarFile.cpp - the files of a tar archive ----------------*- C++ -*-===//

#include "runtime/data/TarFile.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

using namespace fovea::runtime;

namespace {
constexpr const char *damagedTar = "it is damaged";
constexpr size_t blockSize = 512;
/// A name takes less, and so does a header of pax.
constexpr uint64_t longestHeader = 1 << 16;

/// A block that describes a file.
struct Header {
  char name[100], mode[8], user[8], group[8], size[12], time[12], checksum[8],
      kind, link[100], magic[8], userName[32], groupName[32], major[8],
      minor[8], prefix[155], unused[12];
};
static_assert(sizeof(Header) == blockSize);
} // namespace

template <size_t N> static std::string_view textOf(const char (&field)[N]) {
  return {field, strnlen(field, N)};
}

/// Octal digits; or, in GNU's archives, bytes after one that is 128.
template <size_t N>
static std::optional<uint64_t> numberOf(const char (&field)[N]) {
  uint64_t number = 0;
  if (uint8_t(field[0]) == 128) {
    for (size_t i = 1; i < N; ++i) {
      if (number >> 55 != 0)
        return std::nullopt;
      number = number << 8 | uint8_t(field[i]);
    }
    return number;
  }
  std::string_view text = textOf(field);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  while (text.ends_with(' '))
    text.remove_suffix(1);
  const char *end = text.data() + text.size();
  if (text.empty() || std::from_chars(text.data(), end, number, 8).ptr != end)
    return std::nullopt;
  return number;
}

/// The sum of all bytes, where those of the sum count as spaces.
static bool isWhole(const Header &header) {
  const auto *bytes = reinterpret_cast<const unsigned char *>(&header);
  uint64_t sum = 0;
  for (size_t i = 0; i < blockSize; ++i)
    sum += bytes[i];
  for (char byte : header.checksum)
    sum += uint64_t(' ') - static_cast<unsigned char>(byte);
  return numberOf(header.checksum) == sum;
}

static bool isZero(const Header &header) {
  const auto *bytes = reinterpret_cast<const char *>(&header);
  return std::all_of(bytes, bytes + blockSize,
                     [](char byte) { return byte == 0; });
}

/// Takes `path` and `size` from the records of a pax header: `LENGTH KEY=VALUE`
/// and a line end, where the length counts all of it.
static bool readPax(std::string_view text, std::string &name,
                    std::optional<uint64_t> &size) {
  while (!text.empty()) {
    size_t length = 0;
    auto [after, fault] =
        std::from_chars(text.data(), text.data() + text.size(), length);
    size_t begin = size_t(after - text.data()) + 1;
    if (fault != std::errc() || length > text.size() || length <= begin)
      return false;
    std::string_view record = text.substr(begin, length - begin - 1);
    text.remove_prefix(length);
    size_t equals = record.find('=');
    if (equals == record.npos)
      return false;
    std::string_view key = record.substr(0, equals),
                     value = record.substr(equals + 1);
    if (key == "path")
      name = value;
    if (key != "size")
      continue;
    uint64_t number = 0;
    const char *end = value.data() + value.size();
    if (std::from_chars(value.data(), end, number).ptr != end)
      return false;
    size = number;
  }
  return true;
}

std::unique_ptr<TarFile> TarFile::open(const std::string &path,
                                       std::string &why) {
  auto file = PackedFile::open(path, why);
  return file ? std::make_unique<TarFile>(std::move(file)) : nullptr;
}

bool TarFile::fail(const std::string &text) {
  why = !file->problem().empty() ? file->problem() : text;
  return false;
}

bool TarFile::take(char *bytes, size_t count) {
  while (count > 0) {
    ptrdiff_t part = file->read(bytes, count);
    if (part <= 0)
      return fail("it ends too early");
    bytes += part;
    count -= size_t(part);
  }
  return true;
}

/// What a header claims allocates no memory.
bool TarFile::take(std::string &bytes, uint64_t count) {
  bytes.clear();
  while (count > 0) {
    size_t before = bytes.size(),
           part = size_t(std::min<uint64_t>(count, 1 << 16));
    bytes.resize(before + part);
    if (!take(bytes.data() + before, part))
      return false;
    count -= part;
  }
  return true;
}

bool TarFile::skip(uint64_t count) {
  for (char part[1 << 14]; count > 0;) {
    auto now = size_t(std::min<uint64_t>(count, sizeof(part)));
    if (!take(part, now))
      return false;
    count -= now;
  }
  return true;
}

bool TarFile::read(std::string &bytes) {
  return take(bytes, std::exchange(rest, 0)) && skip(std::exchange(padding, 0));
}

/// Reads what follows the last file: a packed archive may be damaged there.
bool TarFile::isOver() {
  ptrdiff_t count;
  for (char part[1 << 14]; (count = file->read(part, sizeof(part))) > 0;) {
  }
  return count == 0 || fail("");
}

TarFile::Found TarFile::next(std::string &name) {
  name.clear();
  std::optional<uint64_t> paxSize;
  for (;;) {
    Header header;
    if (!skip(std::exchange(rest, 0)) || !skip(std::exchange(padding, 0)) ||
        !take(reinterpret_cast<char *>(&header), blockSize))
      return Failed;
    if (isZero(header) && isAnyRead)
      return isOver() ? End : Failed;
    std::optional<uint64_t> size = numberOf(header.size);
    if (!isWhole(header) || !size || *size > uint64_t(INT64_MAX)) {
      fail(isAnyRead ? damagedTar : "it is not a tar archive");
      return Failed;
    }
    isAnyRead = true;
    bool isFile = header.kind == '0' || header.kind == '\0';
    rest = isFile && paxSize ? *paxSize : *size;
    padding = (blockSize - rest % blockSize) % blockSize;
    if (header.kind == 'x' || header.kind == 'L') {
      std::string text;
      if (rest > longestHeader) {
        fail(damagedTar);
        return Failed;
      }
      if (!read(text))
        return Failed;
      if (header.kind == 'L')
        name = text.c_str();
      else if (!readPax(text, name, paxSize)) {
        fail(damagedTar);
        return Failed;
      }
      continue;
    }
    if (!isFile) {
      // A name that was given belongs to this entry.
      if (header.kind != 'g') {
        name.clear();
        paxSize.reset();
      }
      continue;
    }
    if (name.empty()) {
      // Only POSIX's archives have the field.
      if (std::string_view(header.magic, 6) == std::string_view("ustar\0", 6) &&
          header.prefix[0])
        name = std::string(textOf(header.prefix)) + "/";
      name += textOf(header.name);
    }
    return File;
  }
}
