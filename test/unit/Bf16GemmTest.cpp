//===- Bf16GemmTest.cpp - rounded right sides have the bits of f32 --------===//
//
// Compares products with a right side in a rounded format with those of the
// same numbers in f32, bit for bit. The formats are rows of the table.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/Gemm.h"
#include "runtime/data/Half.h"
#include "runtime/data/Quantise.h"
#include "test/unit/ForTarget.h"
#include "gtest/gtest.h"

#include <cstring>
#include <limits>
#include <random>

using namespace fovea::codegen;
using namespace mlir;
using fovea::runtime::DType;
using fovea::runtime::StorageFormat;

namespace {

using Numbers = std::vector<float>;
using Pack = void (*)(const void *, int64_t, int64_t, int64_t, int64_t, void *,
                      int64_t, int64_t);
using PackParts = void (*)(const void *, int64_t, int64_t, int64_t, int64_t,
                           void *, int64_t, int64_t, int64_t);
using Multiply = void (*)(const float *, int64_t, int64_t, const void *,
                          float *, int64_t, int64_t, int64_t, int64_t, int64_t,
                          int64_t, bool);
using MultiplyRows = void (*)(const float *, const int64_t *, const void *,
                              float *, int64_t, int64_t, int64_t, int64_t,
                              int64_t, int64_t, bool);

const StorageFormat *const bf16 = fovea::runtime::findStorageFormat("bf16");
const StorageFormat *const f16 = fovea::runtime::findStorageFormat("f16");
const StorageFormat *const e4m3 = fovea::runtime::findStorageFormat("e4m3");

struct Functions {
  Pack pack, packFar;
  PackParts packParts;
  Multiply multiply;
  MultiplyRows multiplyRows;
};

/// The products of a target.
struct Products : ForTarget {
  /// False where this CPU lacks the target.
  bool compile(llvm::StringRef name, const StorageFormat *format) {
    Type real = Float32Type::get(&context);
    GemmElement element(real, format);
    bool isHere = compileFor(name, [&](ModuleOp module, const Target &target) {
      emitGemm(module, real, target);
      emitGemm(module, element, target);
      tile = gemmTile(real, target);
    });
    if (!isHere)
      return false;
    inReals = functionsFor(real);
    inBf16 = functionsFor(element);
    return true;
  }

  Functions functionsFor(GemmElement element) {
    Functions result;
    find(result.pack, packName(element));
    find(result.packFar, packFarName(element));
    find(result.packParts, packPartsName(element));
    find(result.multiply, gemmName(element));
    find(result.multiplyRows, gemmRowsName(element));
    return result;
  }

  GemmTile tile;
  Functions inReals, inBf16;
};

using Parameter = std::tuple<const char *, const StorageFormat *>;

class Bf16Gemm : public testing::TestWithParam<Parameter> {
protected:
  void SetUp() override {
    auto [name, format] = GetParam();
    auto *own = compiledOnce<Products>(std::string(name), format);
    if (!own)
      GTEST_SKIP() << "this CPU lacks " << name;
    inReals = own->inReals;
    inBf16 = own->inBf16;
    tile = own->tile;
  }

  /// Numbers of the format.
  Numbers rounded(int64_t count) {
    const StorageFormat &format = *std::get<1>(GetParam());
    Numbers result = values(count);
    for (float &value : result)
      value = numberOf(format, bitsOf(format, value));
    return result;
  }

  static int64_t size() { return std::get<1>(GetParam())->bytes; }

  /// The same as memory has them.
  static std::vector<uint8_t> stored(const Numbers &numbers) {
    std::vector<uint8_t> result(numbers.size() * size());
    for (size_t i = 0; i < numbers.size(); ++i) {
      uint32_t bits = bitsOf(*std::get<1>(GetParam()), numbers[i]);
      std::memcpy(result.data() + i * size(), &bits, size());
    }
    return result;
  }

  Numbers values(int64_t count) {
    Numbers result(count);
    std::uniform_real_distribution<float> numbers(-1, 1);
    for (float &value : result)
      value = numbers(engine);
    return result;
  }

  Functions inReals, inBf16;
  GemmTile tile;

private:
  std::mt19937 engine{7};
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, Bf16Gemm,
                         testing::Combine(testing::Values("native",
                                                          "x86-64-v3"),
                                          testing::Values(bf16, f16, e4m3)),
                         [](const testing::TestParamInfo<Parameter> &info) {
                           std::string name = std::get<0>(info.param);
                           llvm::erase(name, '-');
                           return name +
                                  std::string(std::get<1>(info.param)->name);
                         });

TEST_P(Bf16Gemm, HasTheBitsOfReals) {
  for (int64_t m : {0, 1, 2, 3, 4, 9, 13, 50})
    for (int64_t n : {1, 16, 33, 161})
      for (int64_t k : {0, 1, 37, 600})
        for (bool isTransposed : {false, true}) {
          Numbers a = values(m * k), b = rounded(k * n);
          int64_t rs = isTransposed ? 1 : n, cs = isTransposed ? k : 1;
          Numbers c = values(m * n), expected = c;
          Numbers reals(tile.packedSize(k, n));
          std::vector<uint8_t> halves(tile.packedSize(k, n) * size(), 99);
          int64_t panels = tile.panels(n);
          inReals.pack(b.data(), rs, cs, k, n, reals.data(), 0, panels);
          inBf16.pack(stored(b).data(), rs, cs, k, n, halves.data(), 0, panels);
          bool accumulates = n == 33;
          inReals.multiply(a.data(), k, 1, reals.data(), expected.data(), n, m,
                           n, k, 0, panels, accumulates);
          inBf16.multiply(a.data(), k, 1, halves.data(), c.data(), n, m, n, k,
                          0, panels, accumulates);
          ASSERT_EQ(c, expected) << m << "x" << k << "x" << n << isTransposed;
          std::vector<int64_t> rows(m);
          for (int64_t i = 0; i < m; ++i)
            rows[i] = i * 29 % m * k;
          inReals.multiplyRows(a.data(), rows.data(), reals.data(),
                               expected.data(), n, m, n, k, 0, panels, false);
          inBf16.multiplyRows(a.data(), rows.data(), halves.data(), c.data(), n,
                              m, n, k, 0, panels, false);
          ASSERT_EQ(c, expected) << "rows " << m << "x" << k << "x" << n;
        }
}

TEST_P(Bf16Gemm, PacksTheSameNumbersInEveryWay) {
  int64_t k = 2 * tile.lanes + 3, n = 12 * tile.lanes, panels = tile.panels(n);
  auto widened = [](const uint8_t *packed, int64_t count) {
    Numbers result(count);
    for (int64_t i = 0; i < count; ++i) {
      uint32_t bits = 0;
      std::memcpy(&bits, packed + i * size(), size());
      result[i] = numberOf(*std::get<1>(GetParam()), bits);
    }
    return result;
  };
  int64_t count = tile.packedSize(k, n);
  for (bool isTransposed : {false, true}) {
    Numbers b = rounded(k * n), reals(count);
    std::vector<uint8_t> inB = stored(b);
    int64_t rs = isTransposed ? 1 : n, cs = isTransposed ? k : 1;
    std::vector<uint8_t> halves(count * size() + 64);
    uint8_t *out = halves.data();
    while (reinterpret_cast<uintptr_t>(out) % 64 != 0)
      ++out;
    inReals.pack(b.data(), rs, cs, k, n, reals.data(), 0, panels);
    inBf16.packFar(inB.data(), rs, cs, k, n, out, 0, 1);
    inBf16.packFar(inB.data(), rs, cs, k, n, out, 1, panels);
    EXPECT_EQ(widened(out, count), reals) << isTransposed;
    for (int64_t parts : {1, 2, 4}) {
      inReals.packParts(b.data(), rs, cs, k, n, reals.data(), 0, panels, parts);
      inBf16.packParts(inB.data(), rs, cs, k, n, out, 0, panels, parts);
      EXPECT_EQ(widened(out, count), reals) << parts << isTransposed;
    }
  }
}

TEST(StorageFormat, HasTheNumbersOfHalves) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits)
    if (float number = fovea::runtime::halfOf(bits); std::isfinite(number)) {
      ASSERT_EQ(numberOf(*f16, bits), number) << bits;
      ASSERT_EQ(bitsOf(*f16, number), bits);
    }
  EXPECT_FALSE(isFinite(*f16, bitsOf(*f16, 65520)));
  EXPECT_TRUE(isFinite(*f16, bitsOf(*f16, 65519)));
  EXPECT_EQ(numberOf(*f16, 0xFC00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(numberOf(*f16, 0x7C01)));
}

// Two bytes of NaN and no infinity: the largest number has all exponent bits.
TEST(StorageFormat, HasTheNumbersOfE4M3) {
  EXPECT_EQ(numberOf(*e4m3, 0x7E), 448);
  EXPECT_EQ(numberOf(*e4m3, 0x38), 1);
  EXPECT_EQ(numberOf(*e4m3, 0x81), -0x1p-9F);
  EXPECT_TRUE(std::isnan(numberOf(*e4m3, 0x7F)));
  EXPECT_TRUE(std::isnan(numberOf(*e4m3, 0xFF)));
  EXPECT_EQ(bitsOf(*e4m3, 464), 0x7E);
  EXPECT_FALSE(isFinite(*e4m3, bitsOf(*e4m3, 465)));
  for (uint32_t bits = 0; bits < 0x100; ++bits)
    if (isFinite(*e4m3, bits)) {
      ASSERT_EQ(bitsOf(*e4m3, numberOf(*e4m3, bits)), bits);
    }
}

// Of two neighbours the nearest, and halfway the even one.
TEST(StorageFormat, RoundsToTheNearest) {
  for (const StorageFormat *format : {bf16, f16, e4m3})
    for (uint32_t bits = 0; isFinite(*format, bits + 1); ++bits) {
      float low = numberOf(*format, bits), high = numberOf(*format, bits + 1);
      if (float middle = low + (high - low) / 2;
          low < middle && middle < high) {
        uint32_t even = bits + (bits & 1);
        ASSERT_EQ(bitsOf(*format, middle), even) << format->name << bits;
        ASSERT_EQ(bitsOf(*format, std::nextafter(middle, low)), bits);
        ASSERT_EQ(bitsOf(*format, std::nextafter(middle, high)), bits + 1);
        uint32_t sign = 1U << (format->exponentBits + format->fractionBits);
        ASSERT_EQ(bitsOf(*format, -middle), even | sign);
      }
    }
}

TEST(StorageFormat, RefusesWhatNoProgramStores) {
  using namespace fovea::runtime;
  TensorFile file, narrow;
  file.tensors["w:bf16"] = Tensor::of(DType::F32, {2}, {1, 2});
  EXPECT_EQ(takeNarrow(file, narrow).text(),
            "'w:bf16' is F32 [2], which is not how a program stores it");
  file.tensors["w:bf16"] = Tensor::of(DType::BF16, {2}, {1, 2});
  EXPECT_TRUE(takeNarrow(file, narrow).succeeded());
  EXPECT_TRUE(file.tensors.empty());
  EXPECT_EQ(narrow.tensors["w:bf16"].toDoubles(), std::vector<double>({1, 2}));
}
