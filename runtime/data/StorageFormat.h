//===- StorageFormat.h - how programs store parameters ----------*- C++ -*-===//
//
// The table of formats that have fewer bits than real numbers. Everything else
// asks it: the options of commands, the names of parameters in files, what
// quantises weights, and code that reads them. A new format of rounded numbers
// is one more row.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DATA_STORAGEFORMAT_H
#define FOVEA_RUNTIME_DATA_STORAGEFORMAT_H

#include "runtime/data/SafeTensors.h"

#include <bit>
#include <cstdint>
#include <string_view>

namespace fovea::runtime {

struct StorageFormat {
  /// Rounded: each number has a sign, an exponent and a fraction as IEEE 754
  /// defines them. Columns: whole numbers, and a scale for each column of a
  /// product (passes/derive/QuantiseProducts.cpp). Groups: whole numbers, and a
  /// scale for each block along the last axis.
  enum Kind { Rounded, Columns, Groups };

  /// The value of `--precision`, and the ending of names: `w:bf16`.
  std::string_view name;
  Kind kind;
  int exponentBits, fractionBits; // of Rounded
  /// So many weights take so many bytes.
  int64_t weights, bytes;
  DType type; // of its tensors in files
  /// Whether training reads weights so.
  bool isTrained;

  /// Whether infinity and NaN are numbers of the format.
  bool hasInfinity() const { return exponentBits == 8; }
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  /// What the bits of a number, moved into their places in an f32, have to be
  /// multiplied with: a power of two.
  float factor() const {
    return std::bit_cast<float>(static_cast<uint32_t>(254 - bias()) << 23);
  }
};

inline constexpr StorageFormat storageFormats[] = {
    {"int8", StorageFormat::Columns, 0, 0, 1, 1, DType::I8, false},
    {"bf16", StorageFormat::Rounded, 8, 7, 1, 2, DType::BF16, true},
    {"int4", StorageFormat::Groups, 0, 0, 32, 18, DType::U8, false},
};

/// Null: there is no such format.
constexpr const StorageFormat *findStorageFormat(std::string_view name) {
  for (const StorageFormat &format : storageFormats)
    if (format.name == name)
      return &format;
  return nullptr;
}

/// The number of a rounded format that has these bits.
float numberOf(const StorageFormat &format, uint32_t bits);
/// The bits of the nearest number, of two the even one. Beyond the largest
/// number are those of infinity.
uint32_t bitsOf(const StorageFormat &format, float number);
bool isInfinite(const StorageFormat &format, uint32_t bits);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DATA_STORAGEFORMAT_H
