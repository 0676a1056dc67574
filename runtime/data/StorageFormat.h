//===- StorageFormat.h - how programs store parameters ----------*- C++ -*-===//
//
// The table of formats that have fewer bits than real numbers. Everything else
// asks it: the options of commands and passes, the types of parameters, the
// names of parameters in files, what quantises weights, and code that reads
// them. A new format of rounded numbers is one more row of StorageFormat.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_STORAGEFORMAT_H
#define FOVEA_RUNTIME_DATA_STORAGEFORMAT_H

#include "runtime/data/SafeTensors.h"

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

namespace fovea::runtime {

struct StorageFormat {
  /// Rounded: each number has a sign, an exponent and a fraction as IEEE 754
  /// defines them. Whole: whole numbers. Groups: whole numbers, and a scale for
  /// each block along the last axis.
  enum Kind { Rounded, Whole, Groups };

  /// The value of `--precision`, and the ending of names: `w:bf16`.
  std::string_view name;
  Kind kind = Rounded;
  int exponentBits = 0, fractionBits = 0; // of Rounded
  /// The largest number: Rounded, its bits.
  uint32_t largest = 0;
  /// So many weights take so many bytes.
  int64_t weights = 1, bytes = 1;
  DType type = DType::U8; // of its tensors in files
  /// The type of a number in the IR, as MLIR prints it.
  std::string_view element;
  /// The ending of the names of scales, `w:scale.1`: one f32 for each column of
  /// a product. Empty: columns have none.
  std::string_view columnScale = {};
  /// The rounded format of the scale that each of the Groups begins with.
  std::string_view groupScale = {};
  /// Whether training reads weights so.
  bool isTrained = false;
  std::string_view help; // of the option

  bool hasColumns() const { return !columnScale.empty(); }
  /// Whether its numbers are the upper bits of an f32: then infinity and NaN
  /// are stored, too.
  bool hasInfinity() const { return exponentBits == 8; }
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  /// What the bits of a number, moved into their places in an f32, have to be
  /// multiplied with: a power of two.
  float factor() const {
    return std::bit_cast<float>(static_cast<uint32_t>(254 - bias()) << 23);
  }
};

/// All rows.
std::span<const StorageFormat> storageFormats();
/// Null: there is no such format.
const StorageFormat *findStorageFormat(std::string_view name);
/// The format of the rounded numbers of a tensor; null: they are others.
const StorageFormat *roundedFormat(DType type);

/// The number of a rounded format that has these bits. Above those of the
/// largest number are infinity, if the fraction is 0, and NaN.
float numberOf(const StorageFormat &format, uint32_t bits);
/// The bits of the nearest number, of two the even one. Beyond the largest
/// number are the bits after it.
uint32_t bitsOf(const StorageFormat &format, float number);
bool isFinite(const StorageFormat &format, uint32_t bits);
/// The largest number of a format.
float largestOf(const StorageFormat &format);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_STORAGEFORMAT_H
