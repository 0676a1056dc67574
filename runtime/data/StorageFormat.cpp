//===- StorageFormat.cpp - how programs store parameters ------------------===//

#include "runtime/data/StorageFormat.h"
#include "runtime/data/Half.h"
#include "runtime/data/Quantise.h"

#include <algorithm>
#include <limits>

using namespace fovea::runtime;

static constexpr StorageFormat table[] = {
    {.name = "int8",
     .kind = StorageFormat::Whole,
     .largest = 127,
     .type = DType::I8,
     .element = "i8",
     .columnScale = "scale",
     .help = "products with weights in whole numbers of 8 bits, exactly (not "
             "for training)"},
    {.name = "bf16",
     .exponentBits = 8,
     .fractionBits = 7,
     .largest = 0x7F7F,
     .bytes = 2,
     .type = DType::BF16,
     .element = "bf16",
     .isTrained = true,
     .help = "on a CPU, weights are rounded to bf16 and stored in it, and all "
             "else is f32, as are the weights that training changes; on a GPU, "
             "tensor cores multiply large matrices in bf16, with sums in f32"},
    {.name = "int4",
     .kind = StorageFormat::Groups,
     .weights = weightsOfGroup,
     .bytes = bytesOfGroup,
     .element = "i4",
     .groupScale = "bf16",
     .help = "weights are multiples of a scale for each 32, in 4 bits, and all "
             "else is f32 (not for training)"},
    {.name = "f16",
     .exponentBits = 5,
     .fractionBits = 10,
     .largest = 0x7BFF,
     .bytes = 2,
     .type = DType::F16,
     .element = "f16",
     .help = "weights are rounded to IEEE halves, and all else is f32 (not for "
             "training)"},
    {.name = "e4m3",
     .exponentBits = 4,
     .fractionBits = 3,
     .largest = 0x7E, // 448; the next one is NaN
     .type = DType::F8E4M3,
     .element = "f8E4M3FN",
     .columnScale = "e4m3_scale",
     .help = "weights of products are numbers of 8 bits with a scale for each "
             "column, and all else is f32 (not for training)"},
};

std::span<const StorageFormat> fovea::runtime::storageFormats() {
  return table;
}

const StorageFormat *fovea::runtime::findStorageFormat(std::string_view name) {
  const StorageFormat *found =
      std::find_if(std::begin(table), std::end(table),
                   [&](const auto &format) { return format.name == name; });
  return found == std::end(table) ? nullptr : found;
}

const StorageFormat *fovea::runtime::roundedFormat(DType type) {
  const StorageFormat *found =
      std::find_if(std::begin(table), std::end(table), [&](const auto &format) {
        return format.kind == StorageFormat::Rounded && format.type == type;
      });
  return found == std::end(table) ? nullptr : found;
}

static uint32_t signOf(const StorageFormat &format) {
  return 1U << (format.exponentBits + format.fractionBits);
}

float fovea::runtime::numberOf(const StorageFormat &format, uint32_t bits) {
  uint32_t sign = (bits & signOf(format)) != 0 ? 1U << 31 : 0;
  uint32_t size = bits & (signOf(format) - 1);
  if (size > format.largest && !format.hasInfinity()) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    bool isNan = (size & ((1U << format.fractionBits) - 1)) != 0;
    float number = isNan ? std::numeric_limits<float>::quiet_NaN() : infinity;
    return sign != 0 ? -number : number;
  }
  auto number = std::bit_cast<float>(sign | size << (23 - format.fractionBits));
  return format.hasInfinity() ? number : number * format.factor();
}

uint32_t fovea::runtime::bitsOf(const StorageFormat &format, float number) {
  if (format.hasInfinity() && format.fractionBits == 7)
    return brainBits(number);
  auto bits = std::bit_cast<uint32_t>(number);
  uint32_t sign = (bits >> 31) != 0 ? signOf(format) : 0;
  int64_t beyond = format.largest + 1;
  int exponent =
      std::max(static_cast<int>(bits >> 23 & 255) - 127, 1 - format.bias());
  // In f64 the quotient is exact. Between 2^52 and 2^53 are the whole numbers,
  // so the sum rounds to one: to the nearest, ties to even, and without libm.
  auto unit = std::bit_cast<double>(
      static_cast<uint64_t>(1023 + exponent - format.fractionBits) << 52);
  double units = std::bit_cast<float>(bits & ~(1U << 31)) / unit;
  constexpr double whole = 0x1p52;
  if (!(units < whole))
    return sign | static_cast<uint32_t>(beyond);
  auto size = static_cast<int64_t>(units + whole - whole) +
              (static_cast<int64_t>(exponent + format.bias() - 1)
               << format.fractionBits);
  return sign | static_cast<uint32_t>(std::min(size, beyond));
}

bool fovea::runtime::isFinite(const StorageFormat &format, uint32_t bits) {
  return (bits & (signOf(format) - 1)) <= format.largest;
}

float fovea::runtime::largestOf(const StorageFormat &format) {
  return format.kind == StorageFormat::Rounded
             ? numberOf(format, format.largest)
             : static_cast<float>(format.largest);
}
