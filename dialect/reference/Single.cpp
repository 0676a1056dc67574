//===- Single.cpp - functions of f32, rounded as written ------------------===//
//
// Each line is one formula of docs/CODEGEN.md. Every operator rounds to f32,
// and std::fma rounds once. What is rare is computed in f64 and rounded once.
//
//===----------------------------------------------------------------------===//

#include "dialect/reference/Single.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace fovea;
using namespace fovea::reference;

static constexpr float infinity = std::numeric_limits<float>::infinity();

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// c[0] + x (c[1] + x (c[2] + ..)), a multiply-add for each coefficient.
template <size_t N>
static float polynomial(const std::array<float, N> &c, float x) {
  float sum = c[N - 1];
  for (size_t i = N - 1; i-- > 0;)
    sum = std::fma(sum, x, c[i]);
  return sum;
}

/// A NaN stays.
static float atMost(float x, float limit) { return x > limit ? limit : x; }
static float atLeast(float x, float limit) { return x < limit ? limit : x; }

static float fromBits(uint32_t bits) { return std::bit_cast<float>(bits); }
static uint32_t bitsOf(float x) { return std::bit_cast<uint32_t>(x); }

float reference::maximumOf(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<float>::quiet_NaN();
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

float reference::minimumOf(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<float>::quiet_NaN();
  return a < b || (a == b && std::signbit(a)) ? a : b;
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

namespace {
/// x = n log(2) + r; the last 9 bits of `biased` are n + 126, so that shifted
/// to the exponent they are 2^(n - 1).
struct Reduced {
  float r;
  uint32_t biased;
  float halfPower() const { return fromBits(biased << 23); }
};
} // namespace

static constexpr float rounder = 12582912.0F + 126; // 1.5 * 2^23 + 126

static Reduced reduced(float x) {
  float shifted = std::fma(x, 1.44269504F, rounder);
  float n = shifted - rounder;
  float r = std::fma(n, -0.693147182F, x);
  return {std::fma(n, 1.90465430e-9F, r), bitsOf(shifted)};
}

/// (exp(r) - 1 - r) / r^2.
static constexpr std::array exponential = {0.5F, 0.166665733F, 0.0416665487F,
                                           0.00836377405F, 0.00139269268F};

/// 2 exp(r) 2^(n - 1).
static float scaled(Reduced part) {
  std::array<float, 7> twice = {2, 2};
  for (size_t i = 0; i < exponential.size(); ++i)
    twice[2 + i] = 2 * exponential[i];
  return polynomial(twice, part.r) * part.halfPower();
}

float reference::expOf(float x) {
  return scaled(reduced(atMost(atLeast(x, -87.34F), 89)));
}

static float exp2Of(float x) {
  x = atMost(atLeast(x, -126), 128.5F);
  float shifted = x + rounder;
  float r = (x - (shifted - rounder)) * 0.693147181F;
  return scaled({r, bitsOf(shifted)});
}

static float expm1Of(float x) {
  Reduced part = reduced(atMost(atLeast(x, -87), 89));
  float r = part.r, power = part.halfPower();
  float grown = std::fma(r * r, polynomial(exponential, r), r);
  float half = std::fma(power, grown, power - 0.5F);
  return std::copysign(half + half, x);
}

/// |x| p(x^2) / q(x^2), at most 1, with the sign of x.
template <size_t N, size_t M>
static float oddRational(float x, float bound, const std::array<float, N> &p,
                         const std::array<float, M> &q) {
  float a = atMost(std::abs(x), bound);
  float z = a * a;
  float y = a * polynomial(p, z) / polynomial(q, z);
  return std::copysign(atMost(y, 1), x);
}

static float tanhOf(float x) {
  constexpr std::array p = {1.736408F,       0.227207407F,     0.00539140962F,
                            1.93840588e-05F, -3.51713041e-08F, 9.18368229e-11F,
                            -1.47737237e-13F};
  constexpr std::array q = {1.736408F, 0.806010008F, 0.0425404832F,
                            0.000442347489F};
  return oddRational(x, 9.02F, p, q);
}

static float erfOf(float x) {
  constexpr std::array p = {1.66618347F,     0.205975637F,    0.0650985017F,
                            0.00224970817F,  0.000199327988F, -5.47814079e-06F,
                            1.21230144e-07F, -1.25246435e-09F};
  constexpr std::array q = {1.47661662F, 0.674746394F, 0.13494812F,
                            0.0146538243F, 0.000802496041F};
  return oddRational(x, 3.93F, p, q);
}

static float sigmoidOf(float x) { return 1 / (1 + expOf(-x)); }

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

namespace {
/// x = 2^exponent (1 + f), where 1 + f is between sqrt(1/2) and sqrt(2).
struct Parts {
  float exponent, f;
};
} // namespace

static Parts split(float x) {
  bool isTiny = x < 1.17549435e-38F;
  uint32_t bits = bitsOf(isTiny ? x * 16777216 : x);
  uint32_t biased = (bits - 0x3f3504f3 + (128U << 23)) >> 23;
  float m = fromBits(bits - (biased << 23) + (128U << 23));
  float exponent = static_cast<float>(static_cast<int32_t>(biased) - 128 -
                                      (isTiny ? 24 : 0));
  return {exponent, m - 1};
}

/// log(1 + f) - f.
static float logRest(float f) {
  constexpr std::array c = {0.333333313F,  -0.24999997F,  0.200007156F,
                            -0.166678026F, 0.142490581F,  -0.124256872F,
                            0.116854198F,  -0.114797339F, 0.0697161183F};
  float square = f * f;
  return std::fma(square, -0.5F, square * f * polynomial(c, f));
}

/// NaN below 0, -inf at 0; infinity and NaN stay.
static float atEdges(float x, float y) {
  if (x == 0)
    return -infinity;
  if (x < 0)
    return std::numeric_limits<float>::quiet_NaN();
  return x < infinity ? y : x;
}

float reference::logOf(float x) {
  auto [exponent, f] = split(x);
  float rest = std::fma(exponent, -2.12194440e-4F, logRest(f));
  return atEdges(x, std::fma(exponent, 0.693359375F, f + rest));
}

static float log2Of(float x) {
  auto [exponent, f] = split(x);
  float log = f + logRest(f);
  float low = log * 1.92596299e-8F;
  return atEdges(x, exponent + std::fma(log, 1.44269502F, low));
}

static float log1pOf(float x) {
  float u = 1 + x, added = u - 1;
  float error = (1 - (u - added)) + (x - added);
  float correction = u > 0 && u < infinity ? error / u : 0;
  return std::copysign(logOf(u) + correction, x);
}

static float softplusOf(float x) {
  return maximumOf(x, 0) + log1pOf(expOf(-std::abs(x)));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <auto F> static Slot lift(Slot a, Slot, Slot, const char *&) {
  return {.real = F(static_cast<float>(a.real))};
}

static Slot fmaOf(Slot a, Slot b, Slot c, const char *&) {
  return {.real =
              std::fma(static_cast<float>(a.real), static_cast<float>(b.real),
                       static_cast<float>(c.real))};
}

/// The three parts of pi / 2 that arguments are reduced by say nothing of large
/// ones.
template <auto F> static Slot circular(Slot a, Slot, Slot, const char *&) {
  return {.real = std::abs(a.real) <= 0x1p48
                      ? F(a.real)
                      : std::numeric_limits<double>::quiet_NaN()};
}

/// x^n as n - 1 products, and 1 over that.
template <int N> static Slot powerOf(Slot base, Slot, Slot, const char *&) {
  auto x = static_cast<float>(base.real);
  float result = N == 0 ? 1 : x;
  for (int i = 1; i < std::abs(N); ++i)
    result *= x;
  return {.real = N < 0 ? 1 / result : result};
}

/// A power with a small whole constant as its exponent.
static ScalarFunction findPower(Value exponent) {
  static constexpr ScalarFunction powers[] = {
      powerOf<-4>, powerOf<-3>, powerOf<-2>, powerOf<-1>, powerOf<0>,
      powerOf<1>,  powerOf<2>,  powerOf<3>,  powerOf<4>};
  FloatAttr real;
  IntegerAttr whole;
  double number;
  if (matchPattern(exponent, m_Constant(&real)))
    number = toSingle(real.getValueAsDouble());
  else if (matchPattern(exponent, m_Constant(&whole)))
    number = static_cast<double>(whole.getInt());
  else
    return nullptr;
  if (number != std::floor(number) || std::abs(number) > 4)
    return nullptr;
  return powers[static_cast<int>(number) + 4];
}

template <typename T>
static Slot wholeToReal(Slot a, Slot, Slot, const char *&) {
  return {.real = static_cast<float>(static_cast<T>(a.whole))};
}

ScalarFunction reference::findSingle(Operation *op) {
  static const llvm::StringMap<ScalarFunction> table = {
      {"attn.sigmoid", lift<sigmoidOf>},
      {"attn.softplus", lift<softplusOf>},
      {"math.cos", circular<[](double x) { return std::cos(x); }>},
      {"math.erf", lift<erfOf>},
      {"math.exp", lift<expOf>},
      {"math.exp2", lift<exp2Of>},
      {"math.expm1", lift<expm1Of>},
      {"math.fma", fmaOf},
      {"math.log", lift<logOf>},
      {"math.log1p", lift<log1pOf>},
      {"math.log2", lift<log2Of>},
      {"math.rsqrt", lift<[](float x) { return 1 / std::sqrt(x); }>},
      {"math.sin", circular<[](double x) { return std::sin(x); }>},
      {"math.tan", circular<[](double x) { return std::tan(x); }>},
      {"math.tanh", lift<tanhOf>},
  };
  StringRef name = op->getName().getStringRef();
  if (name == "math.powf" || name == "math.fpowi")
    return findPower(op->getOperand(1));
  // A bit that is signed is 0 or -1, which f64 holds.
  bool isLong =
      op->getNumOperands() == 1 && op->getOperand(0).getType().isInteger(64);
  if (isLong && name == "arith.sitofp")
    return wholeToReal<int64_t>;
  if (isLong && name == "arith.uitofp")
    return wholeToReal<uint64_t>;
  auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}
