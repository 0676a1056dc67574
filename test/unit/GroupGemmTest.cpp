//===- GroupGemmTest.cpp - right sides in 4 bits have the bits of f32 -----===//
//
// Compares products, bit for bit: the right side is packed in groups of 4 bits,
// or the same numbers are packed in f32.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/products/GroupGemm.h"
#include "runtime/data/Quantise.h"
#include "test/unit/ForTarget.h"
#include "gtest/gtest.h"

#include <random>

using namespace fovea;
using namespace fovea::codegen;
using namespace mlir;
using runtime::DType;
using runtime::Tensor;

namespace {

using Numbers = std::vector<float>;
using Pack = void (*)(const void *, int64_t, int64_t, int64_t, int64_t, void *,
                      int64_t, int64_t, int64_t);
using Multiply = void (*)(const float *, int64_t, int64_t, const void *,
                          float *, int64_t, int64_t, int64_t, int64_t, int64_t,
                          int64_t, bool);
using MultiplyRows = void (*)(const float *, const int64_t *, const void *,
                              float *, int64_t, int64_t, int64_t, int64_t,
                              int64_t, int64_t, bool);

struct Functions {
  Pack pack;
  Multiply multiply;
  MultiplyRows multiplyRows;
};

/// The products of a target.
struct Products : ForTarget {
  /// False where this CPU lacks the target.
  bool compile(llvm::StringRef name) {
    Type real = Float32Type::get(&context);
    bool isHere = compileFor(name, [&](ModuleOp module, const Target &target) {
      emitGemm(module, real, target);
      emitGroupGemm(module, target);
      tile = gemmTile(real, target);
    });
    if (!isHere)
      return false;
    inReals =
        functions(packPartsName(real), gemmName(real), gemmRowsName(real));
    inGroups = functions(packGroupsName, gemmGroupsName, gemmGroupRowsName);
    return true;
  }

  Functions functions(const std::string &pack, const std::string &multiply,
                      const std::string &multiplyRows) {
    Functions result;
    find(result.pack, pack);
    find(result.multiply, multiply);
    find(result.multiplyRows, multiplyRows);
    return result;
  }

  GemmTile tile;
  Functions inReals, inGroups;
};

class GroupGemm : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    auto *own = compiledOnce<Products>(std::string(GetParam()));
    if (!own)
      GTEST_SKIP() << "this CPU lacks " << GetParam();
    inReals = own->inReals;
    inGroups = own->inGroups;
    tile = own->tile;
  }

  Numbers values(int64_t count) {
    Numbers result(count);
    std::normal_distribution<float> numbers;
    for (float &value : result)
      value = numbers(engine);
    return result;
  }

  static std::string nameOf(int64_t extent) {
    return runtime::narrowName("w", *runtime::findStorageFormat("int4"),
                               extent);
  }

  /// Rows of multiples of scales; one scale is 0.
  Tensor stored(int64_t rows, int64_t extent) {
    Numbers all = values(rows * extent);
    std::fill_n(all.begin(), std::min<int64_t>(extent, 32), 0.0F);
    runtime::QuantisedName name;
    EXPECT_TRUE(runtime::readQuantisedName(nameOf(extent), name));
    std::map<std::string, Tensor> parts;
    Tensor weights =
        Tensor::of(DType::F32, {rows, extent}, {all.begin(), all.end()});
    EXPECT_TRUE(runtime::quantise(name, weights, parts).succeeded());
    return parts.begin()->second;
  }

  static Numbers widened(const Tensor &groups, int64_t extent) {
    std::vector<double> wide =
        runtime::widened(nameOf(extent), groups, DType::F32).toDoubles();
    return {wide.begin(), wide.end()};
  }

  Functions inReals, inGroups;
  GemmTile tile;

private:
  std::mt19937 engine{7};
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Targets, GroupGemm,
                         testing::Values("native", "x86-64-v3"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           std::string name = info.param;
                           llvm::erase(name, '-');
                           return name;
                         });

TEST_P(GroupGemm, HasTheBitsOfReals) {
  for (int64_t m : {0, 1, 3, 4, 13, 50})
    for (int64_t n : {1, 33, 161})
      for (int64_t k : {1, 31, 32, 37, 600}) {
        Tensor inB = stored(n, k);
        Numbers a = values(m * k), b = widened(inB, k), c = values(m * n);
        Numbers expected = c, reals(tile.packedSize(k, n));
        std::vector<uint8_t> groups(runtime::groupsIn(k) *
                                    runtime::bytesOfGroup * tile.panels(n) *
                                    tile.columns());
        int64_t panels = tile.panels(n);
        inReals.pack(b.data(), 1, k, k, n, reals.data(), 0, panels, 1);
        inGroups.pack(inB.bytes.data(), 1,
                      runtime::groupsIn(k) * runtime::bytesOfGroup, k, n,
                      groups.data(), 0, panels, 1);
        bool accumulates = n == 33;
        inReals.multiply(a.data(), k, 1, reals.data(), expected.data(), n, m, n,
                         k, 0, panels, accumulates);
        // By two threads.
        for (auto [first, last] :
             {std::pair<int64_t, int64_t>(0, panels / 2), {panels / 2, panels}})
          inGroups.multiply(a.data(), k, 1, groups.data(), c.data(), n, m, n, k,
                            first, last, accumulates);
        ASSERT_EQ(c, expected) << m << "x" << k << "x" << n;
        std::vector<int64_t> rows(m);
        for (int64_t i = 0; i < m; ++i)
          rows[i] = i * 29 % m * k;
        inReals.multiplyRows(a.data(), rows.data(), reals.data(),
                             expected.data(), n, m, n, k, 0, panels, false);
        inGroups.multiplyRows(a.data(), rows.data(), groups.data(), c.data(), n,
                              m, n, k, 0, panels, false);
        ASSERT_EQ(c, expected) << "rows " << m << "x" << k << "x" << n;
      }
}

TEST_P(GroupGemm, PacksVectorsOfPartsInTurns) {
  int64_t k = 37, panels = 2, n = panels * tile.columns() * 2;
  for (int64_t parts : {1, 2, 4}) {
    Tensor inB = stored(n, k);
    Numbers a = values(k), b = widened(inB, k), c(n), expected(n);
    Numbers reals(tile.packedSize(k, n));
    std::vector<uint8_t> groups(runtime::groupsIn(k) * runtime::bytesOfGroup *
                                n);
    inReals.pack(b.data(), 1, k, k, n, reals.data(), 0, tile.panels(n), parts);
    inGroups.pack(inB.bytes.data(), 1,
                  runtime::groupsIn(k) * runtime::bytesOfGroup, k, n,
                  groups.data(), 0, tile.panels(n), parts);
    inReals.multiply(a.data(), k, 1, reals.data(), expected.data(), n, 1, n, k,
                     0, tile.panels(n), false);
    inGroups.multiply(a.data(), k, 1, groups.data(), c.data(), n, 1, n, k, 0,
                      tile.panels(n), false);
    EXPECT_EQ(c, expected) << parts;
  }
}
