//===- Scalars.cpp - the meaning of each scalar op ------------------------===//
//
// One table. Whole numbers wrap around as on the machine; undefined results (a
// division by zero, a NaN as a whole number) are faults.
//
//===----------------------------------------------------------------------===//

#include "dialect/reference/Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

using namespace mlir;
using namespace fovea;
using namespace fovea::reference;

using Fault = const char *;

static Slot slotOf(double value) { return {.real = value}; }
static Slot slotOf(int64_t value) { return {.whole = value}; }
static Slot slotOf(bool value) { return {.whole = value}; }

/// A function of 1, 2 or 3 numbers of type T as a function of slots.
template <typename T, auto F, auto Member>
static Slot lift(Slot a, Slot b, Slot c, Fault &fault) {
  if constexpr (std::is_invocable_v<decltype(F), T, T, T>)
    return slotOf(F(a.*Member, b.*Member, c.*Member));
  else if constexpr (std::is_invocable_v<decltype(F), T, T, Fault &>)
    return slotOf(F(a.*Member, b.*Member, fault));
  else if constexpr (std::is_invocable_v<decltype(F), T, T>)
    return slotOf(F(a.*Member, b.*Member));
  else if constexpr (std::is_invocable_v<decltype(F), T, Fault &>)
    return slotOf(F(a.*Member, fault));
  else
    return slotOf(F(a.*Member));
}
template <auto F>
static constexpr ScalarFunction reals = lift<double, F, &Slot::real>;
template <auto F>
static constexpr ScalarFunction wholes = lift<int64_t, F, &Slot::whole>;

double reference::roundedToBF16(double value) {
  auto single = static_cast<float>(value);
  if (!std::isfinite(single))
    return single;
  auto bits = std::bit_cast<uint32_t>(single);
  bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000;
  return std::bit_cast<float>(bits);
}

static int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }

static bool cannotDivide(int64_t a, int64_t b, Fault &fault) {
  if (b == 0)
    fault = "divides by zero";
  else if (a == std::numeric_limits<int64_t>::min() && b == -1)
    fault = "divides the smallest whole number by -1";
  return fault != nullptr;
}

/// As in compiled code: a // 0 is 0, and the quotient by -1 wraps.
static int64_t floorDivide(int64_t a, int64_t b, Fault &) {
  if (b == 0)
    return 0;
  if (b == -1)
    return wrap(0 - static_cast<uint64_t>(a));
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t ceilDivide(int64_t a, int64_t b, Fault &fault) {
  if (cannotDivide(a, b, fault))
    return 0;
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

static int64_t toWhole(double a, Fault &fault) {
  // 2^63 is a double, 2^63 - 1 is none.
  if (!(a > -9223372036854777856.0 && a < 9223372036854775808.0)) {
    fault = "turns a number outside the whole numbers into one";
    return 0;
  }
  return static_cast<int64_t>(a);
}

/// IEEE maximum and minimum: a NaN stays, and -0 is below 0.
static double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}
static double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  return a < b || (a == b && std::signbit(a)) ? a : b;
}

static double sigmoid(double x) {
  double e = std::exp(-std::abs(x));
  return (x >= 0 ? 1 : e) / (1 + e);
}

/// An integer power by squaring; negative exponents give 0, except for 1 and
/// -1.
static int64_t wholePower(int64_t base, int64_t exponent, Fault &fault) {
  if (exponent < 0) {
    if (base == 0)
      fault = "divides by zero";
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  }
  uint64_t power = 1, square = static_cast<uint64_t>(base);
  for (; exponent != 0; exponent >>= 1, square *= square)
    if (exponent & 1)
      power *= square;
  return wrap(power);
}

using Unsigned = uint64_t;

static const llvm::StringMap<ScalarFunction> &realTable() {
  static const llvm::StringMap<ScalarFunction> table = {
      {"arith.addf", reals<[](double a, double b) { return a + b; }>},
      {"arith.subf", reals<[](double a, double b) { return a - b; }>},
      {"arith.mulf", reals<[](double a, double b) { return a * b; }>},
      {"arith.divf", reals<[](double a, double b) { return a / b; }>},
      {"arith.remf", reals<[](double a, double b) { return std::fmod(a, b); }>},
      {"arith.negf", reals<[](double a) { return -a; }>},
      {"arith.maximumf", reals<maximum>},
      {"arith.minimumf", reals<minimum>},
      {"arith.maxnumf",
       reals<[](double a, double b) { return std::fmax(a, b); }>},
      {"arith.minnumf",
       reals<[](double a, double b) { return std::fmin(a, b); }>},
      {"arith.cmpf.false", reals<[](double, double) { return false; }>},
      {"arith.cmpf.true", reals<[](double, double) { return true; }>},
      {"arith.cmpf.oeq", reals<[](double a, double b) { return a == b; }>},
      {"arith.cmpf.ogt", reals<[](double a, double b) { return a > b; }>},
      {"arith.cmpf.oge", reals<[](double a, double b) { return a >= b; }>},
      {"arith.cmpf.olt", reals<[](double a, double b) { return a < b; }>},
      {"arith.cmpf.ole", reals<[](double a, double b) { return a <= b; }>},
      {"arith.cmpf.one",
       reals<[](double a, double b) { return a < b || a > b; }>},
      {"arith.cmpf.ord",
       reals<[](double a, double b) { return a == a && b == b; }>},
      {"arith.cmpf.ueq",
       reals<[](double a, double b) { return !(a < b || a > b); }>},
      {"arith.cmpf.ugt", reals<[](double a, double b) { return !(a <= b); }>},
      {"arith.cmpf.uge", reals<[](double a, double b) { return !(a < b); }>},
      {"arith.cmpf.ult", reals<[](double a, double b) { return !(a >= b); }>},
      {"arith.cmpf.ule", reals<[](double a, double b) { return !(a > b); }>},
      {"arith.cmpf.une", reals<[](double a, double b) { return a != b; }>},
      {"arith.cmpf.uno",
       reals<[](double a, double b) { return a != a || b != b; }>},
      {"arith.fptosi", reals<toWhole>},
      {"math.absf", reals<[](double a) { return std::abs(a); }>},
      {"math.acos", reals<[](double a) { return std::acos(a); }>},
      {"math.asin", reals<[](double a) { return std::asin(a); }>},
      {"math.atan", reals<[](double a) { return std::atan(a); }>},
      {"math.atan2",
       reals<[](double a, double b) { return std::atan2(a, b); }>},
      {"math.cbrt", reals<[](double a) { return std::cbrt(a); }>},
      {"math.ceil", reals<[](double a) { return std::ceil(a); }>},
      {"math.copysign",
       reals<[](double a, double b) { return std::copysign(a, b); }>},
      {"math.cos", reals<[](double a) { return std::cos(a); }>},
      {"math.cosh", reals<[](double a) { return std::cosh(a); }>},
      {"math.erf", reals<[](double a) { return std::erf(a); }>},
      {"math.erfc", reals<[](double a) { return std::erfc(a); }>},
      {"math.exp", reals<[](double a) { return std::exp(a); }>},
      {"math.exp2", reals<[](double a) { return std::exp2(a); }>},
      {"math.expm1", reals<[](double a) { return std::expm1(a); }>},
      {"math.floor", reals<[](double a) { return std::floor(a); }>},
      {"math.fma",
       reals<[](double a, double b, double c) { return std::fma(a, b, c); }>},
      {"math.log", reals<[](double a) { return std::log(a); }>},
      {"math.log10", reals<[](double a) { return std::log10(a); }>},
      {"math.log1p", reals<[](double a) { return std::log1p(a); }>},
      {"math.log2", reals<[](double a) { return std::log2(a); }>},
      {"math.powf", reals<[](double a, double b) { return std::pow(a, b); }>},
      {"math.round", reals<[](double a) { return std::round(a); }>},
      {"math.roundeven", reals<[](double a) { return std::nearbyint(a); }>},
      {"math.rsqrt", reals<[](double a) { return 1 / std::sqrt(a); }>},
      {"math.sin", reals<[](double a) { return std::sin(a); }>},
      {"math.sinh", reals<[](double a) { return std::sinh(a); }>},
      {"math.sqrt", reals<[](double a) { return std::sqrt(a); }>},
      {"math.tan", reals<[](double a) { return std::tan(a); }>},
      {"math.tanh", reals<[](double a) { return std::tanh(a); }>},
      {"math.trunc", reals<[](double a) { return std::trunc(a); }>},
      {"math.isnan", reals<[](double a) { return a != a; }>},
      {"math.isinf", reals<[](double a) { return std::isinf(a); }>},
      {"math.isfinite", reals<[](double a) { return std::isfinite(a); }>},
      {"attn.sigmoid", reals<sigmoid>},
      {"attn.softplus", reals<softplus>},
      {"attn.stop", reals<[](double a) { return a; }>},
      {"attn.rounded", reals<roundedToBF16>},
  };
  return table;
}

static const llvm::StringMap<ScalarFunction> &wholeTable() {
  using I = int64_t;
  static const llvm::StringMap<ScalarFunction> table = {
      {"arith.addi",
       wholes<[](I a, I b) { return wrap(Unsigned(a) + Unsigned(b)); }>},
      {"arith.subi",
       wholes<[](I a, I b) { return wrap(Unsigned(a) - Unsigned(b)); }>},
      {"arith.muli",
       wholes<[](I a, I b) { return wrap(Unsigned(a) * Unsigned(b)); }>},
      {"arith.divsi", wholes<[](I a, I b, Fault &fault) -> I {
         return cannotDivide(a, b, fault) ? 0 : a / b;
       }>},
      {"arith.remsi", wholes<[](I a, I b, Fault &fault) -> I {
         return cannotDivide(a, b, fault) ? 0 : a % b;
       }>},
      {"arith.divui", wholes<[](I a, I b, Fault &fault) -> I {
         return cannotDivide(0, b, fault) ? 0 : wrap(Unsigned(a) / Unsigned(b));
       }>},
      {"arith.remui", wholes<[](I a, I b, Fault &fault) -> I {
         return cannotDivide(0, b, fault) ? 0 : wrap(Unsigned(a) % Unsigned(b));
       }>},
      {"arith.floordivsi", wholes<floorDivide>},
      {"arith.ceildivsi", wholes<ceilDivide>},
      {"arith.andi", wholes<[](I a, I b) { return a & b; }>},
      {"arith.ori", wholes<[](I a, I b) { return a | b; }>},
      {"arith.xori", wholes<[](I a, I b) { return a ^ b; }>},
      {"arith.maxsi", wholes<[](I a, I b) { return a > b ? a : b; }>},
      {"arith.minsi", wholes<[](I a, I b) { return a < b ? a : b; }>},
      {"arith.maxui",
       wholes<[](I a, I b) { return Unsigned(a) > Unsigned(b) ? a : b; }>},
      {"arith.minui",
       wholes<[](I a, I b) { return Unsigned(a) < Unsigned(b) ? a : b; }>},
      {"arith.cmpi.eq", wholes<[](I a, I b) { return a == b; }>},
      {"arith.cmpi.ne", wholes<[](I a, I b) { return a != b; }>},
      {"arith.cmpi.slt", wholes<[](I a, I b) { return a < b; }>},
      {"arith.cmpi.sle", wholes<[](I a, I b) { return a <= b; }>},
      {"arith.cmpi.sgt", wholes<[](I a, I b) { return a > b; }>},
      {"arith.cmpi.sge", wholes<[](I a, I b) { return a >= b; }>},
      {"arith.cmpi.ult",
       wholes<[](I a, I b) { return Unsigned(a) < Unsigned(b); }>},
      {"arith.cmpi.ule",
       wholes<[](I a, I b) { return Unsigned(a) <= Unsigned(b); }>},
      {"arith.cmpi.ugt",
       wholes<[](I a, I b) { return Unsigned(a) > Unsigned(b); }>},
      {"arith.cmpi.uge",
       wholes<[](I a, I b) { return Unsigned(a) >= Unsigned(b); }>},
      {"arith.index_cast", wholes<[](I a) { return a; }>},
      {"arith.index_castui", wholes<[](I a) { return a; }>},
      {"arith.extui", wholes<[](I a) { return a; }>},
      {"arith.extsi", wholes<[](I a) { return a; }>},
      {"arith.trunci", wholes<[](I a) { return a & 1; }>},
      {"arith.sitofp", wholes<[](I a) { return static_cast<double>(a); }>},
      {"arith.uitofp",
       wholes<[](I a) { return static_cast<double>(Unsigned(a)); }>},
      {"math.absi", wholes<[](I a) {
         return a < 0 ? wrap(0 - Unsigned(a)) : a;
       }>},
      {"math.ipowi", wholes<wholePower>},
      // The only signed bit is -1.
      {"arith.index_cast.i1", wholes<[](I a) { return -a; }>},
      {"arith.extsi.i1", wholes<[](I a) { return -a; }>},
      {"arith.addi.i1", wholes<[](I a, I b) { return a ^ b; }>},
      {"arith.subi.i1", wholes<[](I a, I b) { return a ^ b; }>},
      {"arith.cmpi.slt.i1", wholes<[](I a, I b) { return a > b; }>},
      {"arith.cmpi.sle.i1", wholes<[](I a, I b) { return a >= b; }>},
      {"arith.cmpi.sgt.i1", wholes<[](I a, I b) { return a < b; }>},
      {"arith.cmpi.sge.i1", wholes<[](I a, I b) { return a <= b; }>},
      {"arith.sitofp.i1", wholes<[](I a) { return static_cast<double>(-a); }>},
      {"arith.select",
       [](Slot a, Slot b, Slot c, Fault &) { return a.whole ? b : c; }},
      {"math.fpowi",
       [](Slot a, Slot b, Slot, Fault &) {
         return slotOf(std::pow(a.real, static_cast<double>(b.whole)));
       }},
  };
  return table;
}

bool reference::isScalar(Type type) {
  return type.isF64() || type.isInteger(64) || type.isInteger(1) ||
         type.isIndex();
}

ScalarFunction reference::findScalar(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      op->getNumOperands() > 3 ||
      !llvm::all_of(op->getOperandTypes(), isScalar) ||
      !isScalar(op->getResult(0).getType()))
    return nullptr;
  std::string name = op->getName().getStringRef().str();
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    name += "." + arith::stringifyCmpFPredicate(compare.getPredicate()).str();
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    name += "." + arith::stringifyCmpIPredicate(compare.getPredicate()).str();
  bool ofBit = op->getOperand(0).getType().isInteger(1);
  if (ofBit)
    if (auto found = wholeTable().find(name + ".i1");
        found != wholeTable().end())
      return found->second;
  for (const auto *table : {&realTable(), &wholeTable()})
    if (auto found = table->find(name); found != table->end())
      return found->second;
  return nullptr;
}
