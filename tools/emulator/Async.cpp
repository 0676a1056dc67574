//===- Async.cpp - what is on its way in a block --------------------------===//

#include "tools/emulator/Async.h"

#include <bit>
#include <cmath>
#include <cstring>

using namespace fovea::emulator;

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void Barrier::arrive(int64_t expected) {
  bytes += expected;
  --missing;
  endPhase();
}
void Barrier::come(int64_t count) {
  bytes -= count;
  endPhase();
}
void Barrier::endPhase() {
  if (missing != 0 || bytes != 0)
    return;
  ++phase;
  missing = arrivals;
}

std::vector<CopiesOfThread::Piece> CopiesOfThread::wait(uint64_t allBut) {
  std::vector<Piece> come;
  std::vector<std::pair<Piece, uint64_t>> others;
  for (const auto &[piece, own] : pieces)
    if (own + allBut < group)
      come.push_back(piece);
    else
      others.push_back({piece, own});
  pieces = std::move(others);
  return come;
}

//===----------------------------------------------------------------------===//
// Products of groups
//===----------------------------------------------------------------------===//

static constexpr uint32_t rowBytes = 128, numTerms = 16;

/// The content of a register whose sum is pending: a NaN with a pattern of its
/// own.
static float markOf(size_t number) {
  return std::bit_cast<float>(0xFFFA0000U | static_cast<uint32_t>(number));
}
static bool isMark(float value, size_t number) {
  return std::bit_cast<uint32_t>(value) ==
         std::bit_cast<uint32_t>(markOf(number));
}

/// A group of sixteen bytes is at the address with bits 7 to 9 added to bits 4
/// to 6.
float GroupSide::element(uint32_t row, uint32_t term) const {
  constexpr uint32_t columns = rowBytes / 2;
  size_t offset =
      isTurned ? row / columns * further + term * rowBytes + 2 * (row % columns)
               : row * rowBytes + 2 * term;
  uintptr_t address = reinterpret_cast<uintptr_t>(first) + offset;
  address ^= (address >> 7 & 7) << 4;
  uint16_t half;
  std::memcpy(&half, reinterpret_cast<const char *>(address), sizeof(half));
  return std::bit_cast<float>(uint32_t(half) << 16);
}

std::vector<std::pair<const char *, size_t>>
GroupSide::parts(size_t rows) const {
  // The terms of a step begin in the middle of a row.
  const char *begin = first - reinterpret_cast<uintptr_t>(first) % rowBytes;
  if (!isTurned)
    return {{begin, rows * rowBytes}};
  std::vector<std::pair<const char *, size_t>> all;
  for (size_t column = 0; column < rows; column += rowBytes / 2)
    all.push_back(
        {begin + column / (rowBytes / 2) * further, numTerms * rowBytes});
  return all;
}

/// As mma.sync: the PTX manual defines the threads' elements; terms are added
/// in ascending order, and each multiply-add rounds once.
void GroupProduct::compute(Piece &piece) {
  uint32_t row = thread / 32 * 16 + thread % 32 / 4;
  for (uint32_t below = 0; piece.leftSide.first && below < 2; ++below)
    for (uint32_t term = 0; term < numTerms; ++term)
      piece.left[below][term] = piece.leftSide.element(row + 8 * below, term);
  for (size_t pair = 0; pair < sums.size() / 4; ++pair)
    for (uint32_t i = 0; i < 2; ++i) {
      auto column = static_cast<uint32_t>(8 * pair + thread % 4 * 2 + i);
      float right[numTerms];
      for (uint32_t term = 0; term < numTerms; ++term)
        right[term] = piece.right.element(column, term);
      for (uint32_t below = 0; below < 2; ++below) {
        float &sum = sums[4 * pair + 2 * below + i];
        for (uint32_t term = 0; term < numTerms; ++term)
          sum = std::fma(piece.left[below][term], right[term], sum);
      }
    }
}

GroupProduct::Failure GroupProduct::multiply(const Piece &piece,
                                             uint32_t number,
                                             const float *given, size_t count,
                                             bool isEager, float *result) {
  if (!hasBegun)
    return "multiplies without 'wgmma.fence' ahead of it";
  thread = number;
  if (!isOnItsWay())
    sums.assign(given, given + count);
  else
    for (size_t i = 0; i < count; ++i)
      if (!isMark(given[i], i))
        return "changes sums that are on their way";
  isCommitted = false;
  pieces.push_back(piece);
  while (isEager && numComputed < pieces.size())
    compute(pieces[numComputed++]);
  for (size_t i = 0; i < count; ++i)
    result[i] = markOf(i);
  return "";
}

GroupProduct::Failure GroupProduct::finish(const float *given, size_t count,
                                           float *result) {
  if (!isCommitted || !isOnItsWay())
    return "waits for products that are not committed";
  for (size_t i = 0; i < count; ++i)
    if (!isMark(given[i], i))
      return "changes sums that are on their way";
  while (numComputed < pieces.size())
    compute(pieces[numComputed++]);
  std::memcpy(result, sums.data(), count * sizeof(float));
  *this = GroupProduct();
  return "";
}

bool GroupProduct::reads(const char *from, size_t bytes) const {
  auto overlaps = [&](const GroupSide &side, size_t rows) {
    for (auto [first, size] : side.parts(rows))
      if (first < from + bytes && from < first + size)
        return true;
    return false;
  };
  for (const Piece &piece : pieces)
    if ((piece.leftSide.first && overlaps(piece.leftSide, 64)) ||
        overlaps(piece.right, 2 * sums.size()))
      return true;
  return false;
}
