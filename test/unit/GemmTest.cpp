//===- GemmTest.cpp - products are the same chain for every split ---------===//
//
// Compares emitted products, bit for bit, with chains of std::fma, for every
// orientation, tail, split and start that takes another path.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/Gemm.h"
#include "test/unit/ForTarget.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace fovea::codegen;
using namespace mlir;

namespace {

template <typename T> class Products : public ForTarget {
public:
  using Pack = void (*)(const T *, int64_t, int64_t, int64_t, int64_t, T *,
                        int64_t, int64_t);
  using PackParts = void (*)(const T *, int64_t, int64_t, int64_t, int64_t, T *,
                             int64_t, int64_t, int64_t);
  using Gemm = void (*)(const T *, int64_t, int64_t, const T *, T *, int64_t,
                        int64_t, int64_t, int64_t, int64_t, int64_t, bool);
  using Rows = void (*)(const T *, const int64_t *, const T *, T *, int64_t,
                        int64_t, int64_t, int64_t, int64_t, int64_t, bool);
  using Runs = void (*)(const T *, const int64_t *, int64_t, int64_t, const T *,
                        T *, int64_t, int64_t, int64_t, int64_t, int64_t,
                        int64_t, bool);
  using Columns = void (*)(const T *, const int64_t *, int64_t, int64_t,
                           const T *, int64_t, int64_t, T *, int64_t, int64_t,
                           int64_t, int64_t, int64_t);

  using Product = void (*)(const T *, int64_t, int64_t, const T *, int64_t,
                           int64_t, T *, int64_t, int64_t, int64_t, int64_t,
                           int64_t, int64_t, int64_t, int64_t);

  /// False where this CPU lacks the target.
  bool compile(llvm::StringRef targetName) {
    Type element = sizeof(T) == 4 ? Type(Float32Type::get(&context))
                                  : Type(Float64Type::get(&context));
    auto emit = [&](ModuleOp module, const Target &target) {
      emitGemm(module, element, target);
      emitGemm(module, element, target); // adds nothing
      emitGatheredGemm(module, element, target);
      tile = gemmTile(element, target);
    };
    if (!compileFor(targetName, emit))
      return false;
    find(pack, packName(element));
    find(packFar, packFarName(element));
    find(packParts, packPartsName(element));
    find(gemm, gemmName(element));
    find(gemmRows, gemmRowsName(element));
    find(gemmRuns, gemmRunsName(element));
    find(gemmColumns, gemmColumnsName(element));
    find(product, productName(element));
    return true;
  }

  /// Numbers whose sums depend on the order of the terms.
  std::vector<T> values(int64_t count) {
    std::vector<T> result(count);
    std::uniform_real_distribution<T> numbers(-1, 1);
    for (T &value : result)
      value = numbers(engine);
    return result;
  }

  std::vector<T> packed(const std::vector<T> &b, int64_t rs, int64_t cs,
                        int64_t k, int64_t n) {
    std::vector<T> result(tile.packedSize(k, n), T(99));
    pack(b.data(), rs, cs, k, n, result.data(), 0, tile.panels(n));
    return result;
  }

  GemmTile tile;
  Pack pack, packFar;
  PackParts packParts;
  Gemm gemm;
  Rows gemmRows;
  Runs gemmRuns;
  Columns gemmColumns;
  Product product;

private:
  std::mt19937 engine{7};
};

template <typename T>
bool same(const std::vector<T> &lhs, const std::vector<T> &rhs) {
  return lhs.size() == rhs.size() &&
         (lhs.empty() ||
          std::memcmp(lhs.data(), rhs.data(), lhs.size() * sizeof(T)) == 0);
}

/// The chain of every element, as Gemm.h states it.
template <typename T>
void chains(const T *a, int64_t ars, int64_t acs, const T *b, int64_t brs,
            int64_t bcs, T *c, int64_t ldc, int64_t m, int64_t n, int64_t k,
            bool accumulate) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      T sum = accumulate ? c[i * ldc + j] : T(0);
      for (int64_t l = 0; l < k; ++l)
        sum = std::fma(a[i * ars + l * acs], b[l * brs + j * bcs], sum);
      c[i * ldc + j] = sum;
    }
}

using Case = std::tuple<const char *, bool>;
class Gemm : public testing::TestWithParam<Case> {
protected:
  /// Runs `check` with the products of the parameter's target and type.
  template <typename Check> void with(Check check) {
    auto [target, isDouble] = GetParam();
    if (isDouble)
      run<double>(target, check);
    else
      run<float>(target, check);
  }

private:
  template <typename T, typename Check>
  void run(const char *target, Check check) {
    auto *products = compiledOnce<Products<T>>(std::string(target));
    if (!products)
      GTEST_SKIP() << "this CPU lacks " << target;
    check(*products);
  }
};

std::string nameOf(const testing::TestParamInfo<Case> &info) {
  std::string name = std::get<0>(info.param);
  llvm::erase(name, '-');
  return name + (std::get<1>(info.param) ? "_f64" : "_f32");
}

} // namespace

INSTANTIATE_TEST_SUITE_P(
    Targets, Gemm,
    testing::Combine(testing::Values("native", "x86-64-v3"), testing::Bool()),
    nameOf);

TEST_P(Gemm, IsTheChainForEverySizeAndOrientation) {
  with([]<typename T>(Products<T> &p) {
    for (int64_t m : {0, 1, 2, 3, 4, 5, 8, 9, 12, 13, 16, 23, 50, 100})
      for (int64_t n : {1, 7, 16, 33, 100, 161})
        for (int64_t k : {0, 1, 5, 16, 37, 600}) {
          if (m * n * k > 100'000 && m % 5 != 0)
            continue;
          std::vector<T> a = p.values(m * k), b = p.values(k * n);
          // Gaps between the rows of C do not change.
          int64_t ldc = n + 3;
          for (bool transposedA : {false, true})
            for (bool transposedB : {false, true})
              for (bool accumulate : {false, true}) {
                int64_t ars = transposedA ? 1 : k, acs = transposedA ? m : 1;
                int64_t brs = transposedB ? 1 : n, bcs = transposedB ? k : 1;
                std::vector<T> c = p.values(m * ldc), expected = c;
                std::vector<T> bp = p.packed(b, brs, bcs, k, n);
                p.gemm(a.data(), ars, acs, bp.data(), c.data(), ldc, m, n, k, 0,
                       p.tile.panels(n), accumulate);
                chains(a.data(), ars, acs, b.data(), brs, bcs, expected.data(),
                       ldc, m, n, k, accumulate);
                ASSERT_TRUE(same(c, expected))
                    << m << "x" << k << "x" << n << (transposedA ? " A^T" : "")
                    << (transposedB ? " B^T" : "")
                    << (accumulate ? " accumulate" : "");
              }
        }
  });
}

TEST_P(Gemm, TakesAnyStrides) {
  with([]<typename T>(Products<T> &p) {
    for (int64_t m : {1, 3, 20}) {
      int64_t n = 45, k = 21;
      std::vector<T> a = p.values(m * k * 6), b = p.values(n * k * 6);
      std::vector<T> bp = p.packed(b, 2 * n, 2, k, n);
      std::vector<T> c(m * n), expected(m * n);
      p.gemm(a.data(), 3 * k, 3, bp.data(), c.data(), n, m, n, k, 0,
             p.tile.panels(n), false);
      chains(a.data(), 3 * k, 3, b.data(), 2 * n, 2, expected.data(), n, m, n,
             k, false);
      EXPECT_TRUE(same(c, expected)) << m;
    }
  });
}

TEST_P(Gemm, PacksVectorsOfPartsInTurns) {
  with([]<typename T>(Products<T> &p) {
    int64_t lanes = p.tile.lanes, width = 3 * lanes, k = 2 * lanes + 3;
    for (int64_t parts : {1, 2, 3, 4})
      for (bool transposed : {false, true}) {
        int64_t n = parts * width, panels = p.tile.panels(n);
        std::vector<T> b = p.values(k * n), turned(k * n);
        int64_t rs = transposed ? 1 : n, cs = transposed ? k : 1;
        // The same columns in their new order, packed as any others.
        for (int64_t row = 0; row < k; ++row)
          for (int64_t column = 0; column < n; ++column) {
            int64_t vector = column / lanes, part = vector % parts;
            int64_t from =
                part * width + vector / parts * lanes + column % lanes;
            turned[row * n + column] = b[row * rs + from * cs];
          }
        std::vector<T> found(p.tile.packedSize(k, n), T(99));
        p.packParts(b.data(), rs, cs, k, n, found.data(), 0, panels, parts);
        EXPECT_TRUE(same(found, p.packed(turned, n, 1, k, n)))
            << parts << transposed;
      }
  });
}

TEST_P(Gemm, PacksPanelsRowByRowWithZerosAfterTheLastColumn) {
  with([]<typename T>(Products<T> &p) {
    int64_t k = 19, n = p.tile.columns() * 2 + 5, width = p.tile.columns();
    std::vector<T> b = p.values(k * n);
    for (bool transposed : {false, true}) {
      std::vector<T> bp =
          p.packed(b, transposed ? 1 : n, transposed ? k : 1, k, n);
      for (int64_t column = 0; column < p.tile.panels(n) * width; ++column)
        for (int64_t row = 0; row < k; ++row) {
          T expected = column >= n  ? T(0)
                       : transposed ? b[column * k + row]
                                    : b[row * n + column];
          int64_t at = (column / width * k + row) * width + column % width;
          ASSERT_EQ(bp[at], expected) << row << " " << column << transposed;
        }
    }
  });
}

TEST_P(Gemm, PacksPastTheCachesAsOtherwise) {
  with([]<typename T>(Products<T> &p) {
    int64_t k = 37, n = 1000, panels = p.tile.panels(n);
    std::vector<T> b = p.values(k * n);
    // It writes to whole cache lines, and each range of panels alone.
    std::vector<T> room(p.tile.packedSize(k, n) + 64 / sizeof(T));
    T *out = room.data();
    while (reinterpret_cast<uintptr_t>(out) % 64 != 0)
      ++out;
    for (bool transposed : {false, true}) {
      int64_t rs = transposed ? 1 : n, cs = transposed ? k : 1;
      p.packFar(b.data(), rs, cs, k, n, out, 0, 9);
      p.packFar(b.data(), rs, cs, k, n, out, 9, panels);
      std::vector<T> far(out, out + p.tile.packedSize(k, n));
      EXPECT_TRUE(same(p.packed(b, rs, cs, k, n), far)) << transposed;
    }
  });
}

TEST_P(Gemm, IsTheSameForEverySplitOfRowsAndPanels) {
  with([]<typename T>(Products<T> &p) {
    int64_t m = 101, n = 203, k = 530, panels = p.tile.panels(n);
    std::vector<T> a = p.values(m * k), b = p.values(n * k);
    std::vector<T> bp(p.tile.packedSize(k, n)), whole(m * n), parts(m * n);
    for (int64_t panel = 0; panel < panels; ++panel)
      p.pack(b.data(), n, 1, k, n, bp.data(), panel, panel + 1);
    p.gemm(a.data(), k, 1, bp.data(), whole.data(), n, m, n, k, 0, panels,
           false);
    for (int64_t height : {1, 2, 5, 12, 64}) {
      parts.assign(m * n, T(5));
      for (int64_t row = 0; row < m; row += height)
        for (int64_t panel = 0; panel < panels; panel += 2)
          p.gemm(a.data() + row * k, k, 1, bp.data(), parts.data() + row * n, n,
                 std::min(height, m - row), n, k, panel,
                 std::min(panel + 2, panels), false);
      EXPECT_TRUE(same(whole, parts)) << height;
    }
  });
}

TEST_P(Gemm, ReadsTheRowsOfAList) {
  with([]<typename T>(Products<T> &p) {
    int64_t n = 70, k = 533, numRows = 40;
    std::vector<T> a = p.values(numRows * k), b = p.values(n * k);
    std::vector<T> bp = p.packed(b, n, 1, k, n);
    for (int64_t m : {0, 1, 3, 17, 110}) {
      std::vector<int64_t> rows(m);
      for (int64_t i = 0; i < m; ++i)
        rows[i] = i * 29 % numRows * k;
      for (bool accumulate : {false, true}) {
        std::vector<T> c = p.values(m * n), expected = c;
        p.gemmRows(a.data(), rows.data(), bp.data(), c.data(), n, m, n, k, 0,
                   p.tile.panels(n), accumulate);
        for (int64_t i = 0; i < m; ++i)
          chains(a.data() + rows[i], k, 1, b.data(), n, 1,
                 expected.data() + i * n, n, 1, n, k, accumulate);
        EXPECT_TRUE(same(c, expected)) << m;
      }
    }
  });
}

/// Rows of `runs` runs, and some of them are nowhere: the place of each, and
/// the same rows in sequence.
template <typename T>
static std::vector<int64_t> scatteredRuns(const std::vector<T> &source,
                                          int64_t rows, int64_t runs,
                                          int64_t run, std::vector<T> &whole) {
  std::vector<int64_t> list(rows * runs);
  whole.assign(rows * runs * run, T(0));
  for (int64_t i = 0; i < rows * runs; ++i) {
    list[i] =
        i % 5 == 2 ? nowhere : i * 37 % (int64_t(source.size()) - run + 1);
    for (int64_t j = 0; j < run && i % 5 != 2; ++j)
      whole[i * run + j] = source[list[i] + j];
  }
  return list;
}

// Runs shorter and longer than a vector, and cut by the end of a block; runs
// that are nowhere are 0.
TEST_P(Gemm, GathersRowsInRuns) {
  with([]<typename T>(Products<T> &p) {
    int64_t n = 70;
    for (auto [runs, run] : {std::pair(9, 3), {9, 64}, {27, 21}, {2, 300}})
      for (int64_t m : {1, 8, 110}) {
        int64_t k = runs * run;
        std::vector<T> image = p.values(1000), a, b = p.values(n * k);
        std::vector<int64_t> list = scatteredRuns(image, m, runs, run, a);
        std::vector<T> bp = p.packed(b, n, 1, k, n);
        std::vector<T> c = p.values(m * n), expected = c;
        p.gemmRuns(image.data(), list.data(), runs, run, bp.data(), c.data(), n,
                   m, n, k, 0, p.tile.panels(n), false);
        chains(a.data(), k, 1, b.data(), n, 1, expected.data(), n, m, n, k,
               false);
        EXPECT_TRUE(same(c, expected)) << runs << " " << run << " " << m;
      }
  });
}

TEST_P(Gemm, GathersColumnsInRuns) {
  with([]<typename T>(Products<T> &p) {
    for (auto [runs, run] : {std::pair(9, 3), {9, 64}, {5, 21}, {2, 600}})
      for (int64_t k : {0, 1, 600})
        for (int64_t n : {2, 30, 64, 210}) {
          int64_t m = runs * run;
          std::vector<T> image = p.values(1000), a, b = p.values(n * k);
          std::vector<int64_t> list = scatteredRuns(image, k, runs, run, a);
          std::vector<T> c = p.values(m * n), expected = c;
          // By two threads, which share a run.
          int64_t middle = m / 2 + 1;
          for (auto [first, last] :
               {std::pair<int64_t, int64_t>(0, middle), {middle, m}})
            p.gemmColumns(image.data(), list.data(), runs, run, b.data(), 1, k,
                          c.data(), n, n, k, first, last);
          chains(a.data(), 1, m, b.data(), 1, k, expected.data(), n, m, n, k,
                 false);
          EXPECT_TRUE(same(c, expected))
              << runs << " " << run << " " << k << " " << n;
        }
  });
}

TEST_P(Gemm, PacksBPieceByPiece) {
  with([]<typename T>(Products<T> &p) {
    constexpr int64_t sizes[][3] = {
        {0, 5, 9},    {3, 0, 9},      {4, 70, 0},     {1, 1, 1},
        {2, 50, 600}, {100, 230, 64}, {130, 40, 700}, {9, 1000, 20}};
    for (auto [m, n, k] : sizes)
      for (bool isTransposed : {false, true}) {
        int64_t ars = isTransposed ? 1 : k, acs = isTransposed ? m : 1;
        int64_t rs = isTransposed ? 1 : n, cs = isTransposed ? k : 1;
        std::vector<T> a = p.values(m * k), b = p.values(n * k);
        std::vector<T> c = p.values(m * (n + 3)), expected = c;
        p.product(a.data(), ars, acs, b.data(), rs, cs, c.data(), n + 3, m, n,
                  k, unbounded, unbounded, unbounded, unbounded);
        chains(a.data(), ars, acs, b.data(), rs, cs, expected.data(), n + 3, m,
               n, k, false);
        EXPECT_TRUE(same(c, expected)) << m << " " << n << " " << k;
      }
  });
}

TEST_P(Gemm, PassesOverWhatABandExcludes) {
  with([]<typename T>(Products<T> &p) {
    struct Bounds {
      int64_t below, above;
    };
    constexpr Bounds bands[] = {
        {unbounded, 0}, {0, unbounded}, {2, 1}, {unbounded, -200}, {-3, 300}};
    int64_t m = 310, n = 290, k = 270;
    for (Bounds band : bands) {
      auto isIn = [&](int64_t row, int64_t index) {
        return row <= index + band.below && index <= row + band.above;
      };
      // The terms outside of the band are zeros.
      std::vector<T> a = p.values(m * k), b = p.values(n * k);
      for (int64_t i = 0; i < m * k; ++i)
        if (!isIn(i / k, i % k))
          a[i] = T(0);
      std::vector<T> c(m * n, T(5)), expected(m * n, T(5));
      p.product(a.data(), k, 1, b.data(), n, 1, c.data(), n, m, n, k,
                band.below, band.above, unbounded, unbounded);
      chains(a.data(), k, 1, b.data(), n, 1, expected.data(), n, m, n, k,
             false);
      EXPECT_TRUE(same(c, expected)) << band.below << " " << band.above;
      // So are the results outside.
      p.product(a.data(), k, 1, b.data(), n, 1, c.data(), n, m, n, k, unbounded,
                unbounded, band.below, band.above);
      for (int64_t i = 0; i < m * n; ++i)
        if (!isIn(i / n, i % n))
          expected[i] = T(0);
      EXPECT_TRUE(same(c, expected)) << band.below << " " << band.above;
    }
  });
}

TEST_P(Gemm, CarriesNansAndInfinitiesIntoTheirRowAndColumnOnly) {
  with([]<typename T>(Products<T> &p) {
    constexpr T inf = std::numeric_limits<T>::infinity();
    int64_t m = 14, n = 35, k = 9;
    std::vector<T> a(m * k, T(1)), b(k * n, T(2)), c(m * n);
    a[3 * k + 4] = std::numeric_limits<T>::quiet_NaN();
    a[5 * k + 1] = inf;
    b[2 * n + 7] = -inf;
    std::vector<T> bp = p.packed(b, n, 1, k, n);
    p.gemm(a.data(), k, 1, bp.data(), c.data(), n, m, n, k, 0, p.tile.panels(n),
           false);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        T value = c[i * n + j];
        if (i == 3 || (i == 5 && j == 7))
          EXPECT_TRUE(std::isnan(value)) << i << " " << j;
        else
          EXPECT_EQ(value, j == 7   ? -inf
                           : i == 5 ? inf
                                    : T(2 * k))
              << i << " " << j;
      }
  });
}
