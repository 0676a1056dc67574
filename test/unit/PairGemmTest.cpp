//===- PairGemmTest.cpp - products of factors in bf16 ---------------------===//
//
// Compares products that round their factors with the definition, bit for bit:
// with instructions of AVX512_BF16 where this CPU has them, and without.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/Gemm.h"
#include "test/unit/ForTarget.h"
#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace fovea::codegen;
using namespace mlir;

namespace {

using Numbers = std::vector<float>;
using Pack = void (*)(const float *, int64_t, int64_t, int64_t, int64_t, void *,
                      int64_t, int64_t);
using PackParts = void (*)(const float *, int64_t, int64_t, int64_t, int64_t,
                           void *, int64_t, int64_t, int64_t);
using Multiply = void (*)(const float *, int64_t, int64_t, const void *,
                          float *, int64_t, int64_t, int64_t, int64_t, int64_t,
                          int64_t, bool);
using MultiplyRows = void (*)(const float *, const int64_t *, const void *,
                              float *, int64_t, int64_t, int64_t, int64_t,
                              int64_t, int64_t, bool);
using Product = void (*)(const float *, int64_t, int64_t, const float *,
                         int64_t, int64_t, float *, int64_t, int64_t, int64_t,
                         int64_t, int64_t, int64_t, int64_t, int64_t);
using MultiplyRuns = void (*)(const float *, const int64_t *, int64_t, int64_t,
                              const void *, float *, int64_t, int64_t, int64_t,
                              int64_t, int64_t, int64_t, bool);
using MultiplyColumns = void (*)(const float *, const int64_t *, int64_t,
                                 int64_t, const float *, int64_t, int64_t,
                                 float *, int64_t, int64_t, int64_t, int64_t,
                                 int64_t);

/// The functions of a target.
struct Products : ForTarget {
  /// False where this CPU lacks the target.
  bool compile(llvm::StringRef name) {
    GemmElement element = GemmElement::inPairs(Float32Type::get(&context));
    bool isHere = compileFor(name, [&](ModuleOp module, const Target &target) {
      emitGemm(module, element, target);
      emitGatheredGemm(module, element, target);
      tile = gemmTile(element.type, target);
    });
    if (!isHere)
      return false;
    find(pack, packName(element));
    find(packParts, packPartsName(element));
    find(multiply, gemmName(element));
    find(multiplyRows, gemmRowsName(element));
    find(product, productName(element));
    find(multiplyRuns, gemmRunsName(element));
    find(multiplyColumns, gemmColumnsName(element));
    return true;
  }

  GemmTile tile;
  Pack pack;
  PackParts packParts;
  Multiply multiply;
  MultiplyRows multiplyRows;
  Product product;
  MultiplyRuns multiplyRuns;
  MultiplyColumns multiplyColumns;
};

constexpr float least = std::numeric_limits<float>::min();

/// The nearest number of bf16.
float rounded(float value) {
  if (std::fabs(value) < least)
    return 0;
  auto bits = std::bit_cast<uint32_t>(value);
  bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000;
  return std::bit_cast<float>(bits);
}

/// The sum with a product, to 24 digits and without limits of the exponent,
/// then zero below 2^-126. All products of bf16 are whole multiples of 2^-266.
float add(float a, float b, float sum) {
  __extension__ using Wide = __float128;
  Wide exact = Wide(a) * b + sum;
  auto result = static_cast<float>(exact);
  Wide border = Wide(least) - Wide(0x1p-151);
  bool isBelow = exact < border && -exact < border;
  return isBelow ? 0 : result;
}

class PairGemm : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    products = compiledOnce<Products>(std::string(GetParam()));
    if (!products)
      GTEST_SKIP() << "this CPU lacks " << GetParam();
  }

  Numbers values(int64_t count) {
    Numbers result(count);
    std::uniform_real_distribution<float> numbers(-1, 1);
    for (float &value : result)
      value = numbers(engine);
    return result;
  }

  /// Some so small that products of them are near 2^-126, and some below it.
  Numbers smallValues(int64_t count) {
    Numbers result = values(count);
    for (float &value : result)
      switch (engine() % 8) {
      case 0:
        value = std::ldexp(value, -125);
        break;
      case 1:
        value = std::ldexp(1.0F, -static_cast<int>(engine() % 20) - 53);
        break;
      case 2:
        value = 0;
        break;
      default:
        value = std::ldexp(value, -static_cast<int>(engine() % 12) - 58);
      }
    return result;
  }

  std::vector<uint32_t> packed(const Numbers &b, int64_t rs, int64_t cs,
                               int64_t k, int64_t n) {
    int64_t panels = products->tile.panels(n);
    std::vector<uint32_t> result(products->tile.packedSize((k + 1) / 2, n),
                                 0x7FC07FC0);
    products->pack(b.data(), rs, cs, k, n, result.data(), 0, panels);
    return result;
  }

  Products *products = nullptr;
  std::mt19937 engine{7};
};

/// A[m, k] at m * ars + k * acs, and so on; C[m, n] goes on from `c`.
void define(const Numbers &a, int64_t ars, int64_t acs, const Numbers &b,
            int64_t rs, int64_t cs, Numbers &c, int64_t m, int64_t n, int64_t k,
            bool accumulates) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = accumulates ? c[i * n + j] : 0;
      for (int64_t l = 0; l < k; ++l)
        sum = add(rounded(a[i * ars + l * acs]), rounded(b[l * rs + j * cs]),
                  sum);
      c[i * n + j] = sum;
    }
}

/// Zeros of different signs are different.
testing::AssertionResult haveSameBits(const Numbers &a, const Numbers &b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i]))
      return testing::AssertionFailure()
             << "number " << i << ": " << a[i] << " is not " << b[i];
  return testing::AssertionSuccess();
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, PairGemm,
                         testing::Values("native", "x86-64-v4", "x86-64-v3"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           std::string name = info.param;
                           llvm::erase(name, '-');
                           return name;
                         });

TEST_P(PairGemm, HasTheBitsOfTheDefinition) {
  for (int64_t m : {0, 1, 2, 3, 4, 9, 13, 50})
    for (int64_t n : {1, 16, 33, 48, 97})
      for (int64_t k : {0, 1, 2, 37, 64, 131})
        for (bool isTransposed : {false, true})
          for (bool isColumns : {false, true}) {
            Numbers a = values(m * k), b = values(k * n), c = values(m * n);
            if (n == 33)
              a = smallValues(m * k), b = smallValues(k * n),
              c = Numbers(m * n);
            Numbers expected = c;
            int64_t rs = isTransposed ? 1 : n, cs = isTransposed ? k : 1;
            int64_t ars = isColumns ? 1 : k, acs = isColumns ? m : 1;
            std::vector<uint32_t> inB = packed(b, rs, cs, k, n);
            int64_t panels = products->tile.panels(n);
            bool accumulates = n >= 33 && k > 1;
            products->multiply(a.data(), ars, acs, inB.data(), c.data(), n, m,
                               n, k, 0, panels, accumulates);
            define(a, ars, acs, b, rs, cs, expected, m, n, k, accumulates);
            ASSERT_TRUE(haveSameBits(c, expected))
                << m << "x" << k << "x" << n << isTransposed << isColumns;
          }
}

TEST_P(PairGemm, GoesOnFromBlockToBlock) {
  for (auto [m, n, k] : {std::tuple(7, 17, 1200), std::tuple(110, 50, 1025),
                         std::tuple(2, 200, 2049)}) {
    Numbers a = values(m * k), b = values(k * n), c(m * n), expected(m * n);
    std::vector<uint32_t> inB = packed(b, n, 1, k, n);
    products->multiply(a.data(), k, 1, inB.data(), c.data(), n, m, n, k, 0,
                       products->tile.panels(n), false);
    define(a, k, 1, b, n, 1, expected, m, n, k, false);
    ASSERT_TRUE(haveSameBits(c, expected)) << m << "x" << k << "x" << n;
    Numbers whole(m * n);
    products->product(a.data(), k, 1, b.data(), n, 1, whole.data(), n, m, n, k,
                      unbounded, unbounded, unbounded, unbounded);
    ASSERT_TRUE(haveSameBits(whole, expected)) << "unpacked " << k;
  }
}

TEST_P(PairGemm, TakesElementsAtAnyDistance) {
  int64_t m = 5, n = 20, k = 9;
  Numbers a = values(2 * m * k), b = values(3 * k * n), c(m * n), expected = c;
  std::vector<uint32_t> inB = packed(b, 3 * n, 3, k, n);
  products->multiply(a.data(), 2 * k, 2, inB.data(), c.data(), n, m, n, k, 0,
                     products->tile.panels(n), false);
  define(a, 2 * k, 2, b, 3 * n, 3, expected, m, n, k, false);
  EXPECT_TRUE(haveSameBits(c, expected));
}

TEST_P(PairGemm, MultipliesRowsOfAList) {
  for (int64_t m : {1, 3, 40})
    for (int64_t k : {1, 31, 600}) {
      int64_t n = 50;
      Numbers a = values(m * k), b = values(k * n), c(m * n), expected(m * n);
      std::vector<int64_t> rows(m);
      Numbers inOrder;
      for (int64_t i = 0; i < m; ++i) {
        rows[i] = i * 29 % m * k;
        inOrder.insert(inOrder.end(), a.begin() + rows[i],
                       a.begin() + rows[i] + k);
      }
      std::vector<uint32_t> inB = packed(b, n, 1, k, n);
      products->multiplyRows(a.data(), rows.data(), inB.data(), c.data(), n, m,
                             n, k, 0, products->tile.panels(n), false);
      define(inOrder, k, 1, b, n, 1, expected, m, n, k, false);
      ASSERT_TRUE(haveSameBits(c, expected)) << m << "x" << k;
    }
}

TEST_P(PairGemm, PacksPartsSideBySide) {
  int64_t lanes = products->tile.lanes, k = 2 * lanes + 3, n = 12 * lanes;
  int64_t panels = products->tile.panels(n), vectors = n / lanes;
  for (bool isTransposed : {false, true})
    for (int64_t parts : {1, 2, 4}) {
      Numbers b = values(k * n), turned(k * n);
      int64_t rs = isTransposed ? 1 : n, cs = isTransposed ? k : 1;
      for (int64_t v = 0; v < vectors; ++v)
        for (int64_t lane = 0; lane < lanes; ++lane) {
          int64_t from = (v % parts * (vectors / parts) + v / parts) * lanes;
          for (int64_t l = 0; l < k; ++l)
            turned[l * rs + (v * lanes + lane) * cs] =
                b[l * rs + (from + lane) * cs];
        }
      std::vector<uint32_t> expected = packed(turned, rs, cs, k, n);
      std::vector<uint32_t> found(expected.size());
      products->packParts(b.data(), rs, cs, k, n, found.data(), 0, 1, parts);
      products->packParts(b.data(), rs, cs, k, n, found.data(), 1, panels,
                          parts);
      EXPECT_EQ(found, expected) << parts << isTransposed;
    }
}

TEST_P(PairGemm, GathersRuns) {
  for (auto [m, runs, run] :
       {std::tuple(5, 3, 7), std::tuple(100, 1, 33), std::tuple(4, 70, 10)}) {
    int64_t n = 40, k = runs * run - 2;
    Numbers a = values(4096), b = values(k * n);
    std::vector<int64_t> list(m * runs);
    Numbers rows(m * runs * run);
    for (int64_t i = 0; i < m * runs; ++i) {
      list[i] = i % 5 == 1 ? nowhere : engine() % (4096 - run);
      for (int64_t j = 0; j < run && list[i] != nowhere; ++j)
        rows[i * run + j] = a[list[i] + j];
    }
    std::vector<uint32_t> inB = packed(b, n, 1, k, n);
    Numbers c(m * n), expected(m * n);
    products->multiplyRuns(a.data(), list.data(), runs, run, inB.data(),
                           c.data(), n, m, n, k, 0, products->tile.panels(n),
                           false);
    define(rows, runs * run, 1, b, n, 1, expected, m, n, k, false);
    ASSERT_TRUE(haveSameBits(c, expected)) << m << "x" << k;
  }
}

TEST_P(PairGemm, GathersColumns) {
  for (auto [k, runs, run] : {std::tuple(9, 3, 7), std::tuple(700, 1, 33)}) {
    int64_t n = 200, m = runs * run;
    Numbers a = values(4096), b = values(k * n), columns(k * m);
    std::vector<int64_t> list(k * runs);
    for (int64_t i = 0; i < k * runs; ++i) {
      list[i] = i % 5 == 1 ? nowhere : engine() % (4096 - run);
      for (int64_t j = 0; j < run && list[i] != nowhere; ++j)
        columns[i * run + j] = a[list[i] + j];
    }
    Numbers c(m * n), expected(m * n);
    for (auto [first, last] :
         {std::pair(int64_t(0), m / 2), std::pair(m / 2, m)})
      products->multiplyColumns(a.data(), list.data(), runs, run, b.data(), n,
                                1, c.data(), n, n, k, first, last);
    define(columns, 1, m, b, n, 1, expected, m, n, k, false);
    ASSERT_TRUE(haveSameBits(c, expected)) << m << "x" << k;
  }
}

// A sum at the border: 2^-126 - 2^-151 is rounded to 2^-126, a smaller one is
// zero, though the nearest of f32 is 2^-126 as well.
TEST_P(PairGemm, DecidesWhatIsZeroAfterRounding) {
  struct Case {
    float a, b, sum, expected;
  };
  float half = 0x1p-75F, tiny = 0x1p-76F;
  for (auto [a, b, sum, expected] :
       {Case{-half, tiny, least, least}, Case{-half, half, least, 0},
        Case{half, -0x1.02p-76F, least, 0}, Case{half, tiny, -least, -least},
        Case{0x1p-63F, 0x1p-64F, 0, 0}, Case{-0x1p-63F, 0x1p-64F, 0, 0},
        Case{0x1p-63F, 0x1p-63F, 0, least},
        Case{-0x1p-63F, 0x1p-63F, 0, -least}, Case{0, -1, 0, 0},
        Case{0x1.FFFFp-127F, 1, 0, 0}, Case{0x1.FF8p-1F, 1, 0, 1},
        Case{0x1.01p0F, 1, 0, 1}, Case{0x1.03p0F, 1, 0, 0x1.04p0F}}) {
    std::vector<uint32_t> inB = packed({b}, 1, 1, 1, 1);
    Numbers c = {sum};
    products->multiply(&a, 1, 1, inB.data(), c.data(), 1, 1, 1, 1, 0, 1, true);
    EXPECT_TRUE(haveSameBits(c, {expected})) << a << " " << b << " " << sum;
  }
}

TEST_P(PairGemm, KeepsInfinitiesAndNaN) {
  float infinity = std::numeric_limits<float>::infinity();
  for (auto [a, b, expected] :
       {std::tuple(infinity, 2.0F, infinity),
        std::tuple(infinity, -0x1p-100F, -infinity),
        std::tuple(std::numeric_limits<float>::max(), 1.0F, infinity),
        std::tuple(0x1p127F, 2.0F, infinity)}) {
    std::vector<uint32_t> inB = packed({b}, 1, 1, 1, 1);
    Numbers c = {1};
    products->multiply(&a, 1, 1, inB.data(), c.data(), 1, 1, 1, 1, 0, 1, true);
    EXPECT_EQ(c[0], expected);
  }
  for (float a : {std::numeric_limits<float>::quiet_NaN(), infinity}) {
    std::vector<uint32_t> inB = packed({0}, 1, 1, 1, 1);
    Numbers c = {1};
    products->multiply(&a, 1, 1, inB.data(), c.data(), 1, 1, 1, 1, 0, 1, true);
    EXPECT_TRUE(std::isnan(c[0]));
  }
}
