//===- Bf16GemmTest.cpp - right sides in bf16 have the bits of f32 --------===//
//
// Compares products with a right side that is packed in bf16 with those of the
// same numbers packed in f32, bit for bit.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/Gemm.h"
#include "codegen/native/Jit.h"
#include "codegen/native/Lower.h"
#include "runtime/data/Half.h"
#include "gtest/gtest.h"

#include <map>
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

struct Functions {
  Pack pack, packFar;
  PackParts packParts;
  Multiply multiply;
  MultiplyRows multiplyRows;
};

/// The products of a target.
struct Products {
  /// False where this CPU lacks the target.
  bool compile(llvm::StringRef name) {
    llvm::Expected<Target> target = Target::parse(name);
    if (!target || target->checkRunsHere()) {
      llvm::consumeError(target.takeError());
      return false;
    }
    loadKernelDialects(context);
    Type real = Float32Type::get(&context);
    GemmElement element(real, BFloat16Type::get(&context));
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    emitGemm(*module, real, *target);
    emitGemm(*module, element, *target);
    tile = gemmTile(real, *target);
    jit = llvm::cantFail(Jit::create(*target));
    llvm::cantFail(jit->add(std::move(module)));
    inReals = functionsFor(real);
    inBf16 = functionsFor(element);
    return true;
  }

  Functions functionsFor(GemmElement element) {
    auto find = [&](const std::string &name) {
      return llvm::cantFail(jit->lookup(name));
    };
    return {.pack = reinterpret_cast<Pack>(find(packName(element))),
            .packFar = reinterpret_cast<Pack>(find(packFarName(element))),
            .packParts =
                reinterpret_cast<PackParts>(find(packPartsName(element))),
            .multiply = reinterpret_cast<Multiply>(find(gemmName(element))),
            .multiplyRows =
                reinterpret_cast<MultiplyRows>(find(gemmRowsName(element)))};
  }

  MLIRContext context;
  std::unique_ptr<Jit> jit;
  GemmTile tile;
  Functions inReals, inBf16;
};

class Bf16Gemm : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    // Compiled once per target.
    static std::map<std::string, std::unique_ptr<Products>> all;
    std::unique_ptr<Products> &own = all[GetParam()];
    if (!own) {
      own = std::make_unique<Products>();
      if (!own->compile(GetParam()))
        own.reset();
    }
    if (!own)
      GTEST_SKIP() << "this CPU lacks " << GetParam();
    inReals = own->inReals;
    inBf16 = own->inBf16;
    tile = own->tile;
  }

  /// Numbers of bf16.
  Numbers rounded(int64_t count) {
    Numbers result = values(count);
    for (float &value : result)
      value = fovea::runtime::brainOf(fovea::runtime::brainBits(value));
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
                         testing::Values("native", "x86-64-v3"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           std::string name = info.param;
                           llvm::erase(name, '-');
                           return name;
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
          std::vector<uint16_t> halves(tile.packedSize(k, n), 99);
          int64_t panels = tile.panels(n);
          inReals.pack(b.data(), rs, cs, k, n, reals.data(), 0, panels);
          inBf16.pack(b.data(), rs, cs, k, n, halves.data(), 0, panels);
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

// In the upper half of their bits, numbers of bf16 are themselves.
TEST_P(Bf16Gemm, PacksTheSameNumbersInEveryWay) {
  int64_t k = 2 * tile.lanes + 3, n = 12 * tile.lanes, panels = tile.panels(n);
  auto widened = [](const uint16_t *halves, int64_t count) {
    Numbers result(count);
    for (int64_t i = 0; i < count; ++i)
      result[i] = fovea::runtime::brainOf(halves[i]);
    return result;
  };
  int64_t size = tile.packedSize(k, n);
  for (bool isTransposed : {false, true}) {
    Numbers b = rounded(k * n), reals(size);
    int64_t rs = isTransposed ? 1 : n, cs = isTransposed ? k : 1;
    std::vector<uint16_t> halves(size + 32);
    uint16_t *out = halves.data();
    while (reinterpret_cast<uintptr_t>(out) % 64 != 0)
      ++out;
    inReals.pack(b.data(), rs, cs, k, n, reals.data(), 0, panels);
    inBf16.packFar(b.data(), rs, cs, k, n, out, 0, 1);
    inBf16.packFar(b.data(), rs, cs, k, n, out, 1, panels);
    EXPECT_EQ(widened(out, size), reals) << isTransposed;
    for (int64_t parts : {1, 2, 4}) {
      inReals.packParts(b.data(), rs, cs, k, n, reals.data(), 0, panels, parts);
      inBf16.packParts(b.data(), rs, cs, k, n, out, 0, panels, parts);
      EXPECT_EQ(widened(out, size), reals) << parts << isTransposed;
    }
  }
}
