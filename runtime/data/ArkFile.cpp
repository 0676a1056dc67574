//===- ArkFile.cpp - archives of Kaldi's features --------------*- C++ -*-===//

#include "runtime/data/ArkFile.h"
#include "runtime/data/OpenFile.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

using namespace fovea::runtime;

static constexpr const char *damagedArk = "it is damaged";
static constexpr size_t bytesAtOnce = 1 << 16;
/// A longer key is not one, and neither is a longer number.
static constexpr size_t longestWord = 1024;

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

ArkFile::ArkFile(int descriptor, std::string name)
    : descriptor(descriptor), name(std::move(name)) {}

ArkFile::~ArkFile() { close(descriptor); }

Status ArkFile::fail(const std::string &why) const {
  return Status::error(
      fmt::format("cannot read the features '{}': {}", name, why));
}

Status ArkFile::tooEarly() const {
  return fail(error != 0 ? std::strerror(error) : "it ends too early");
}

Status ArkFile::open(const std::string &path, std::unique_ptr<ArkFile> &file) {
  std::string why;
  int descriptor = openToRead(path, why);
  if (descriptor < 0)
    return Status::error(fmt::format("cannot read '{}': {}", path, why));
  file = std::make_unique<ArkFile>(descriptor, path);
  return Status::success();
}

Status ArkFile::seek(uint64_t target) {
  input.clear();
  place = 0;
  isAtEnd = false;
  if (target > uint64_t(INT64_MAX) ||
      lseek(descriptor, off_t(target), SEEK_SET) < 0)
    return fail(fmt::format("it has no byte {}", target));
  return Status::success();
}

bool ArkFile::refill() {
  input.resize(bytesAtOnce);
  place = 0;
  ssize_t count = throughSignals(
      [&] { return ::read(descriptor, input.data(), bytesAtOnce); });
  error = count < 0 ? errno : 0;
  input.resize(size_t(std::max<ssize_t>(count, 0)));
  isAtEnd = input.empty();
  return !isAtEnd;
}

int ArkFile::peek() {
  if (place == input.size() && (isAtEnd || !refill()))
    return -1;
  return uint8_t(input[place]);
}

int ArkFile::take() {
  int byte = peek();
  place += byte >= 0;
  return byte;
}

bool ArkFile::take(void *bytes, size_t count) {
  for (auto *to = static_cast<char *>(bytes); count > 0;) {
    if (peek() < 0)
      return false;
    size_t part = std::min(count, input.size() - place);
    std::memcpy(to, input.data() + place, part);
    place += part;
    to += part;
    count -= part;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static bool isSpace(int byte) {
  return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

Status ArkFile::nextKey(std::string &key) {
  key.clear();
  while (isSpace(peek()))
    take();
  while (peek() >= 0 && !isSpace(peek())) {
    key += char(take());
    if (key.size() > longestWord || key.back() == '\0')
      return fail("it is not an archive of Kaldi: no key begins it");
  }
  // One space ends a key; what follows is the matrix.
  if (error != 0 || (!key.empty() && take() < 0))
    return tooEarly();
  return Status::success();
}

/// A number of rows or columns: the byte 4, and four bytes.
bool ArkFile::takeCount(int64_t &count) {
  int32_t number = 0;
  if (take() != sizeof(number) || !take(number) || number < 0)
    return false;
  count = number;
  return true;
}

/// Values from the file, each times `factor` plus `offset`. What a header
/// claims allocates no memory.
template <typename T>
Status ArkFile::readNumbers(int64_t count, double factor, double offset,
                            Values &values) {
  for (std::array<T, 1024> part; count > 0;) {
    auto now = size_t(std::min<int64_t>(count, part.size()));
    if (!take(part.data(), now * sizeof(T)))
      return tooEarly();
    for (size_t i = 0; i < now; ++i)
      values.push_back(offset + factor * double(part[i]));
    count -= int64_t(now);
  }
  return Status::success();
}

/// The compressed kinds of Kaldi: bytes between four percentiles of each
/// column (1), 16 bits (2) or 8 bits (3) between the ends of the matrix.
Status ArkFile::readCompressed(int kind, Shape &shape, Values &values) {
  float least = 0, range = 0;
  int32_t rows = 0, columns = 0;
  if (!take(least) || !take(range) || !take(rows) || !take(columns))
    return tooEarly();
  if (rows < 0 || columns < 0)
    return fail(damagedArk);
  shape = {rows, columns};
  int64_t count = int64_t(rows) * columns;
  constexpr double most16 = 65535, most8 = 255;
  if (kind == 2)
    return readNumbers<uint16_t>(count, range / most16, least, values);
  if (kind == 3)
    return readNumbers<uint8_t>(count, range / most8, least, values);
  std::vector<std::array<double, 4>> percentiles;
  for (int32_t column = 0; column < columns; ++column) {
    std::array<uint16_t, 4> points;
    if (!take(points))
      return tooEarly();
    auto &each = percentiles.emplace_back();
    for (size_t i = 0; i < each.size(); ++i)
      each[i] = least + range * (points[i] / most16);
  }
  Values bytes;
  if (Status status = readNumbers<uint8_t>(count, 1, 0, bytes); status.failed())
    return status;
  values.resize(size_t(count));
  for (int64_t i = 0; i < count; ++i) {
    const auto &[p0, p25, p75, p100] = percentiles[size_t(i / rows)];
    double byte = bytes[size_t(i)];
    values[size_t(i % rows * columns + i / rows)] =
        byte <= 64    ? p0 + (p25 - p0) * byte / 64
        : byte <= 192 ? p25 + (p75 - p25) * (byte - 64) / 128
                      : p75 + (p100 - p75) * (byte - 192) / 63;
  }
  return Status::success();
}

Status ArkFile::readBinary(Shape &shape, Values &values) {
  std::string kind;
  while (kind.size() < 4 && peek() > ' ')
    kind += char(take());
  if (take() != ' ')
    return fail(damagedArk);
  if (kind == "CM" || kind == "CM2" || kind == "CM3")
    return readCompressed(kind == "CM" ? 1 : kind[2] - '0', shape, values);
  bool isMatrix = kind == "FM" || kind == "DM";
  if (!isMatrix && kind != "FV" && kind != "DV")
    return fail(fmt::format("an entry is of kind '{}'; help: features are "
                            "vectors or matrices of numbers",
                            kind));
  shape.resize(isMatrix ? 2 : 1);
  int64_t count = 1;
  for (int64_t &extent : shape) {
    if (!takeCount(extent))
      return fail(damagedArk);
    count *= extent;
  }
  return kind[0] == 'F' ? readNumbers<float>(count, 1, 0, values)
                        : readNumbers<double>(count, 1, 0, values);
}

/// `[ 1 2 3 ]`, or a row per line.
Status ArkFile::readText(Shape &shape, Values &values) {
  std::string word;
  bool isOpen = false;
  int64_t columns = -1, inRow = 0, rows = 0;
  // Line ends after the bracket separate rows.
  bool isMatrix = false;
  for (;;) {
    int byte = take();
    if (byte < 0 || word.size() > longestWord)
      return byte < 0 ? tooEarly() : fail(damagedArk);
    if (!isSpace(byte) && byte != '[' && byte != ']') {
      word += char(byte);
      continue;
    }
    if (!word.empty()) {
      double value = 0;
      const char *end = word.data() + word.size();
      if (!isOpen || std::from_chars(word.data(), end, value).ptr != end)
        return fail(fmt::format("'{}' is not a number", word));
      values.push_back(value);
      ++inRow;
      word.clear();
    }
    if (byte == '[' && std::exchange(isOpen, true))
      return fail(damagedArk);
    isMatrix |= byte == '\n';
    if ((byte == '\n' || byte == ']') && inRow > 0) {
      if (columns >= 0 && inRow != columns)
        return fail(fmt::format("a row has {} numbers, and another {}", inRow,
                                columns));
      columns = std::exchange(inRow, 0);
      ++rows;
    }
    if (byte == ']')
      break;
  }
  columns = std::max<int64_t>(columns, 0);
  shape = isMatrix ? Shape{rows, columns} : Shape{columns};
  return Status::success();
}

Status ArkFile::read(Shape &shape, Values &values) {
  values.clear();
  Status status;
  if (peek() == '\0') {
    take();
    status = take() == 'B' ? readBinary(shape, values) : fail(damagedArk);
  } else {
    status = readText(shape, values);
  }
  for (double value : values)
    if (status.succeeded() && !std::isfinite(value))
      status = fail(fmt::format("it has the value {}", value));
  return status;
}
