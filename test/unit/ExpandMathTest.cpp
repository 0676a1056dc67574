//===- ExpandMathTest.cpp - functions are as exact as they promise --------===//
//
// Compiles each op for a scalar and for a vector. Compares both with libm in
// long double, over the whole range of arguments and at the edges.
//
//===----------------------------------------------------------------------===//

#include "codegen/math/ExpandMath.h"
#include "codegen/native/Jit.h"
#include "codegen/native/Lower.h"
#include "dialect/reference/Single.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace fovea;
using namespace fovea::codegen;
using namespace mlir;

namespace {

using Long = long double;

/// An op, what it means, and where its arguments come from.
struct Function {
  const char *name;
  Long (*reference)(Long, Long);
  /// Arguments of both signs if `low` < 0; their logarithm is uniform down to
  /// the smallest number, or the argument itself.
  double low, high;
  /// Units in the last place of f32.
  double single;
  int operands = 1;
  /// How much larger arguments are in f64.
  double widening = 1;
};

#define UNARY(name) [](Long x, Long) { return std::name(x); }
const Function functions[] = {
    {"exp", UNARY(exp), -86.9, 88.7, 2, 1, 8},
    {"exp2", UNARY(exp2), -125.4, 127.9, 2, 1, 8},
    {"expm1", UNARY(expm1), -100, 88.7, 2, 1, 8},
    {"log", UNARY(log), 0, 3e38, 2},
    {"log2", UNARY(log2), 0, 3e38, 2},
    {"log10", UNARY(log10), 0, 3e38, 2},
    {"log1p", UNARY(log1p), -0.9999, 1e30, 2},
    {"tanh", UNARY(tanh), -30, 30, 4},
    {"erf", UNARY(erf), -7, 7, 4},
    {"erfc", UNARY(erfc), -7, 9, 1, 1, 2.8},
    {"sinh", UNARY(sinh), -88, 88, 1, 1, 8},
    {"cosh", UNARY(cosh), -88, 88, 1, 1, 8},
    {"sin", UNARY(sin), -1e5, 1e5, 1},
    {"cos", UNARY(cos), -1e5, 1e5, 1},
    {"tan", UNARY(tan), -1e5, 1e5, 1},
    {"asin", UNARY(asin), -1, 1, 1},
    {"acos", UNARY(acos), -1, 1, 1},
    {"atan", UNARY(atan), -1e6, 1e6, 1},
    {"cbrt", UNARY(cbrt), -1e30, 1e30, 1},
    {"rsqrt", [](Long x, Long) { return 1 / std::sqrt(x); }, 0, 3e38, 2},
    {"atan2", [](Long y, Long x) { return std::atan2(y, x); }, -1e6, 1e6, 1, 2},
    {"powf", [](Long x, Long y) { return std::pow(x, y); }, 0, 1e4, 1, 2, 8},
};

/// `@scalar` and `@vector`: out[i] = op(x[i], y[i]) for i in 0..n, the latter
/// for whole vectors.
constexpr const char *kernels = R"(
func.func @{0}(%x: !llvm.ptr, %y: !llvm.ptr, %out: !llvm.ptr, %n: i64) {{
  %zero = arith.constant 0 : i64
  %step = arith.constant {1} : i64
  scf.for %i = %zero to %n step %step : i64 {{
    %px = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {2}
    %py = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {2}
    %po = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {2}
    %vx = llvm.load %px {{alignment = {4} : i64} : !llvm.ptr -> {3}
    %vy = llvm.load %py {{alignment = {4} : i64} : !llvm.ptr -> {3}
    %r = math.{5} %vx{6} : {3}
    llvm.store %r, %po {{alignment = {4} : i64} : {3}, !llvm.ptr
  }
  return
}
)";

template <typename T> class Compiled {
public:
  Compiled(const Function &function, llvm::StringRef targetName) {
    Target target = llvm::cantFail(Target::parse(targetName));
    loadKernelDialects(context);
    std::string element = sizeof(T) == 4 ? "f32" : "f64";
    int64_t lanes = target.vectorBits / 8 / sizeof(T);
    auto kernel = [&](const char *name, int64_t step, std::string type) {
      return llvm::formatv(kernels, name, step, element, type, sizeof(T),
                           function.name, function.operands == 2 ? ", %vy" : "")
          .str();
    };
    std::string text =
        kernel("scalar", 1, element) +
        kernel("vector", lanes,
               llvm::formatv("vector<{0}x{1}>", lanes, element).str());
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, ParserConfig(&context));
    expandMath(*module);
    jit = llvm::cantFail(Jit::create(target));
    llvm::cantFail(jit->add(std::move(module)));
  }

  /// Both forms of x (and y), which must agree in every bit.
  std::vector<T> operator()(std::vector<T> x, std::vector<T> y) {
    size_t count = x.size();
    x.resize(llvm::alignTo(count, 16));
    y.resize(x.size());
    std::vector<T> scalars(x.size()), vectors(x.size());
    call("scalar", x, y, scalars);
    call("vector", x, y, vectors);
    for (size_t i = 0; i < count; ++i)
      if (std::memcmp(&scalars[i], &vectors[i], sizeof(T)) != 0 &&
          !(std::isnan(scalars[i]) && std::isnan(vectors[i])))
        ADD_FAILURE() << "op(" << x[i] << ", " << y[i] << ") is " << scalars[i]
                      << " as a scalar, " << vectors[i] << " in a vector";
    vectors.resize(count);
    return vectors;
  }

private:
  void call(const char *name, const std::vector<T> &x, const std::vector<T> &y,
            std::vector<T> &out) {
    auto kernel =
        reinterpret_cast<void (*)(const T *, const T *, T *, int64_t)>(
            llvm::cantFail(jit->lookup(name)));
    kernel(x.data(), y.data(), out.data(), x.size());
  }

  MLIRContext context;
  std::unique_ptr<Jit> jit;
};

/// Half of the arguments are uniform in the range; the logarithms of the other
/// half are.
template <typename T>
std::vector<T> arguments(const Function &function, size_t count, int seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  double widening = sizeof(T) == 4 ? 1 : function.widening;
  double low = function.low * widening, high = function.high * widening;
  std::vector<T> result(count);
  for (size_t i = 0; i < count; ++i) {
    double u = unit(engine);
    if (i % 2 == 0) {
      result[i] = T(low + (high - low) * u);
      continue;
    }
    bool isNegative = low < 0 && unit(engine) < 0.5;
    double most = isNegative ? -low : high;
    result[i] = T(most * std::exp2(-u * (i % 4 == 1 ? 140 : 12)));
    if (isNegative)
      result[i] = -result[i];
  }
  return result;
}

template <typename T> double unitInLastPlace(Long value) {
  int exponent;
  std::frexp(value, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  return std::ldexp(1.0, exponent - std::numeric_limits<T>::digits);
}

template <typename T> void sweep(const Function &function) {
  constexpr size_t count = 20'000;
  std::vector<T> x = arguments<T>(function, count, 1);
  std::vector<T> y = arguments<T>(function, count, 2);
  // Powers over the whole range of results.
  double widening = sizeof(T) == 4 ? 1 : function.widening;
  if (llvm::StringRef(function.name) == "powf")
    for (size_t i = 0; i < count; ++i)
      y[i] = T((double(i % 2001) / 1000 - 1) * 80 * widening /
               std::max(0.1, std::abs(std::log(double(x[i])))));
  std::vector<T> results = Compiled<T>(function, "native")(x, y);
  std::vector<T> narrow = Compiled<T>(function, "x86-64-v3")(x, y);
  EXPECT_EQ(std::memcmp(results.data(), narrow.data(), count * sizeof(T)), 0)
      << "the target shows in the result";

  double worst = 0, worstX = 0, worstY = 0;
  for (size_t i = 0; i < count; ++i) {
    Long expected = function.reference(x[i], y[i]);
    // Results that are denormal or overflow are the edges' business.
    if (std::abs(expected) > std::numeric_limits<T>::max() ||
        std::abs(expected) < std::numeric_limits<T>::min())
      continue;
    double unit = sizeof(T) == 4 ? unitInLastPlace<T>(expected)
                                 : double(std::abs(expected));
    double error = double(std::abs(expected - Long(results[i]))) / unit;
    if (!(error <= worst)) {
      worst = error;
      worstX = x[i];
      worstY = y[i];
    }
  }
  double limit = sizeof(T) == 4           ? function.single
                 : function.operands == 2 ? 5e-15
                                          : 1e-15;
  EXPECT_LE(worst, limit) << function.name << " of " << worstX << ", "
                          << worstY;
  testing::Test::RecordProperty(sizeof(T) == 4 ? "ulps" : "relative",
                                llvm::formatv("{0:e}", worst).str());
}

class ExpandMath : public testing::TestWithParam<Function> {};

std::string nameOf(const testing::TestParamInfo<Function> &info) {
  return info.param.name;
}

void PrintTo(const Function &function, std::ostream *stream) {
  *stream << function.name;
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Functions, ExpandMath, testing::ValuesIn(functions),
                         nameOf);

TEST_P(ExpandMath, IsExactInF32) { sweep<float>(GetParam()); }
TEST_P(ExpandMath, IsExactInF64) { sweep<double>(GetParam()); }

/// What IEEE 754 and C say of zeros, infinities and NaNs is what libm does.
template <typename T> static void edges(const Function &function) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  constexpr T tiny = std::numeric_limits<T>::min();
  constexpr T most = std::numeric_limits<T>::max();
  std::vector<T> special = {0,    T(-0.0), inf,  -inf,  nan,  1,    -1,   2,
                            -2,   3,       -3,   0.5,   -0.5, -2.5, tiny, -tiny,
                            most, -most,   1000, -1000, 800,  -800};
  std::vector<T> x, y;
  for (T a : special)
    for (T b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  Compiled<T> compiled(function, "native");
  std::vector<T> results = compiled(x, y);
  llvm::StringRef name = function.name;
  bool isCircular = name == "sin" || name == "cos" || name == "tan";
  for (size_t i = 0; i < x.size(); ++i) {
    T expected = T(function.reference(x[i], y[i]));
    if (isCircular && std::abs(x[i]) > T(0x1p48))
      expected = nan;
    std::string where =
        llvm::formatv("{0}({1}, {2}) = ", name, double(x[i]), double(y[i]));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(results[i])) << where << results[i];
      continue;
    }
    if (expected == 0 || std::isinf(expected)) {
      EXPECT_EQ(results[i], expected) << where;
      EXPECT_EQ(std::signbit(results[i]), std::signbit(expected)) << where;
      continue;
    }
    T error = std::abs(results[i] - expected);
    EXPECT_LE(error, std::abs(expected) * T(sizeof(T) == 4 ? 3e-7 : 1e-14))
        << where << results[i];
  }
}

TEST_P(ExpandMath, IsRightAtTheEdges) {
  edges<float>(GetParam());
  edges<double>(GetParam());
}

/// The interpreter's functions of f32 are written a second time, and have the
/// same bits.
TEST_P(ExpandMath, HasTheBitsOfTheInterpreter) {
  const Function &function = GetParam();
  std::vector<float> x = arguments<float>(function, 100'000, 3);
  std::vector<float> y = arguments<float>(function, x.size(), 4);
  constexpr float inf = std::numeric_limits<float>::infinity();
  for (float special : {0.0F, -0.0F, inf, -inf, std::nanf(""), 1e-42F, 3e38F})
    for (float sign : {-1.0F, 1.0F}) {
      x.push_back(special);
      y.push_back(sign);
    }
  std::vector<float> results = Compiled<float>(function, "native")(x, y);

  MLIRContext context;
  loadKernelDialects(context);
  bool isBinary = function.operands == 2;
  std::string text =
      llvm::formatv("func.func @f(%x: f64, %y: f64) {{ %r = math.{0} %x{1} : "
                    "f64\n return }",
                    function.name, isBinary ? ", %y" : "");
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  auto kernel = *module->getOps<func::FuncOp>().begin();
  Operation *op = &kernel.getBody().front().front();
  reference::ScalarFunction own = reference::findSingle(op);
  if (!own)
    own = reference::findScalar(op);
  ASSERT_TRUE(own);
  int64_t differing = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const char *fault = nullptr;
    auto expected = static_cast<float>(
        own({.real = x[i]}, {.real = y[i]}, {.real = 0}, fault).real);
    bool isSame = std::memcmp(&expected, &results[i], sizeof expected) == 0 ||
                  (std::isnan(expected) && std::isnan(results[i]));
    if (!isSame && ++differing < 4)
      ADD_FAILURE() << function.name << "(" << x[i] << ", " << y[i] << ") is "
                    << results[i] << ", interpreted " << expected;
  }
  EXPECT_EQ(differing, 0);
}

/// The reduction by three parts of pi/2 promises precision up to 2^48, also
/// next to a multiple of pi/2.
TEST(ExpandMathReduction, KeepsItsPrecisionForLargeArguments) {
  std::vector<double> x;
  for (int power = 0; power < 30; ++power)
    for (int sign : {-1, 1}) {
      double scale = std::pow(3.0, power); // below 2^47
      x.push_back(sign * scale * 1.234567);
      x.push_back(sign * std::round(scale) * 1.57079632679489662);
    }
  for (const Function &function : functions) {
    llvm::StringRef name = function.name;
    if (name != "sin" && name != "cos" && name != "tan")
      continue;
    std::vector<double> results = Compiled<double>(function, "native")(x, x);
    for (size_t i = 0; i < x.size(); ++i) {
      Long expected = function.reference(x[i], 0);
      EXPECT_LE(std::abs(results[i] - expected), 1e-15L * std::abs(expected))
          << function.name << " of " << x[i];
    }
  }
}
