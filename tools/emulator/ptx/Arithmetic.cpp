//===- Arithmetic.cpp - instructions on registers alone -------------------===//
//
// A table of whole names: what is not in it is not known.
//
//===----------------------------------------------------------------------===//

#include "tools/emulator/ptx/Warp.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

using namespace fovea::emulator::ptx;

template <class T> static T valueOf(const Register &from, uint32_t lane) {
  uint64_t bits = from.lane[lane];
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else
    return static_cast<T>(bits);
}

template <class T> static uint64_t bitsOf(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<uint64_t>(value);
  else if constexpr (std::is_same_v<T, bool>)
    return value;
  else
    return static_cast<std::make_unsigned_t<T>>(value);
}

template <class Function, class Result, class... Given>
static Step compute(Warp &warp, const Instruction &code, uint32_t mask) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    const Register *from[] = {&warp.source(code.operands[I + 1])...};
    Register &to = warp.target(code.operands[0]);
    uint32_t known = (from[I]->known & ...);
    forLanes(mask & known, [&](uint32_t lane) {
      to.lane[lane] =
          bitsOf<Result>(Function{}(valueOf<Given>(*from[I], lane)...));
    });
    to.known = (to.known & ~mask) | (known & mask);
    return Step::Next;
  }(std::index_sequence_for<Given...>());
}

/// What is not selected need not be known.
static Step select(Warp &warp, const Instruction &code, uint32_t mask) {
  const Register &yes = warp.source(code.operands[1]),
                 &no = warp.source(code.operands[2]),
                 &which = warp.source(code.operands[3]);
  Register &to = warp.target(code.operands[0]);
  uint32_t known = to.known & ~mask;
  forLanes(mask & which.known, [&](uint32_t lane) {
    const Register &from = which.lane[lane] != 0 ? yes : no;
    to.lane[lane] = from.lane[lane];
    known |= from.known & (uint32_t(1) << lane);
  });
  to.known = known;
  return Step::Next;
}

/// One known operand may decide.
template <bool decides>
static Step decide(Warp &warp, const Instruction &code, uint32_t mask) {
  const Register &a = warp.source(code.operands[1]),
                 &b = warp.source(code.operands[2]);
  Register &to = warp.target(code.operands[0]);
  uint32_t known = to.known & ~mask;
  forLanes(mask, [&](uint32_t lane) {
    uint32_t bit = uint32_t(1) << lane;
    bool hasA = a.known & bit, hasB = b.known & bit;
    bool valueA = a.lane[lane] & 1, valueB = b.lane[lane] & 1;
    bool isDecided = (hasA && valueA == decides) || (hasB && valueB == decides);
    to.lane[lane] = isDecided ? decides : !decides;
    if (isDecided || (hasA && hasB))
      known |= bit;
  });
  to.known = known;
  return Step::Next;
}

/// mov {low, high}, from; and back.
template <class Half>
static Step split(Warp &warp, const Instruction &code, uint32_t mask) {
  const Register from = warp.source(code.operands[2]);
  for (uint32_t half = 0; half < 2; ++half)
    if (code.operands[half].isThere())
      forLanes(mask, [&](uint32_t lane) {
        warp.set(code.operands[half], lane,
                 static_cast<Half>(from.lane[lane] >> 8 * sizeof(Half) * half),
                 from.known >> lane & 1);
      });
  return Step::Next;
}
template <class Half>
static Step unite(Warp &warp, const Instruction &code, uint32_t mask) {
  const Register low = warp.source(code.operands[1]),
                 high = warp.source(code.operands[2]);
  forLanes(mask, [&](uint32_t lane) {
    warp.set(code.operands[0], lane,
             uint64_t(valueOf<Half>(low, lane)) |
                 uint64_t(valueOf<Half>(high, lane)) << 8 * sizeof(Half),
             low.known & high.known & (uint32_t(1) << lane));
  });
  return Step::Next;
}

namespace {
struct Form {
  Handler run;
  size_t operands;
};
using Table = std::unordered_map<std::string, Form>;

class Builder {
public:
  Table table;

  template <class Result, class... Given, class Function>
  void add(const std::string &name, Function) {
    table[name] = {&compute<Function, Result, Given...>, 1 + sizeof...(Given)};
  }
  template <class T> void addBits(const std::string &type);
  template <class T> void addNumbers(const std::string &type);
  template <class T> void addIntegers(const std::string &type);
  template <class T> void addReals(const std::string &type);
  template <class T> void addComparisons(const std::string &type);
  template <class To, class From>
  void addConversion(const std::string &to, const std::string &from) {
    add<To, From>("cvt." + to + "." + from,
                  [](From value) { return static_cast<To>(value); });
  }
  void addConversions();
  void addAll();
};
} // namespace

template <class T> void Builder::addBits(const std::string &type) {
  constexpr uint32_t width = 8 * sizeof(T);
  add<T, T>("mov.b" + type, [](T a) { return a; });
  add<T, T>("mov.u" + type, [](T a) { return a; });
  add<T, T, T>("and.b" + type, [](T a, T b) { return T(a & b); });
  add<T, T, T>("or.b" + type, [](T a, T b) { return T(a | b); });
  add<T, T, T>("xor.b" + type, [](T a, T b) { return T(a ^ b); });
  add<T, T>("not.b" + type, [](T a) { return T(~a); });
  add<T, T, uint32_t>("shl.b" + type, [](T a, uint32_t by) {
    return by >= width ? T(0) : T(a << by);
  });
  add<bool, T, T>("setp.eq.b" + type, [](T a, T b) { return a == b; });
  add<bool, T, T>("setp.ne.b" + type, [](T a, T b) { return a != b; });
  table["selp.b" + type] = {&select, 4};
}

template <class T> void Builder::addComparisons(const std::string &type) {
  add<bool, T, T>("setp.lt." + type, [](T a, T b) { return a < b; });
  add<bool, T, T>("setp.le." + type, [](T a, T b) { return a <= b; });
  add<bool, T, T>("setp.gt." + type, [](T a, T b) { return a > b; });
  add<bool, T, T>("setp.ge." + type, [](T a, T b) { return a >= b; });
  add<bool, T, T>("setp.eq." + type, [](T a, T b) { return a == b; });
  // Ordered: false with a NaN.
  add<bool, T, T>("setp.ne." + type, [](T a, T b) { return a < b || a > b; });
}

template <class T> void Builder::addIntegers(const std::string &type) {
  using U = std::make_unsigned_t<T>;
  constexpr uint32_t width = 8 * sizeof(T);
  using Wide = std::conditional_t<
      sizeof(T) == 2,
      std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
      std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
  using Twice =
      std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  addComparisons<T>(type);
  add<T, T, T>("add." + type, [](T a, T b) { return T(U(a) + U(b)); });
  add<T, T, T>("sub." + type, [](T a, T b) { return T(U(a) - U(b)); });
  add<T, T, T>("mul.lo." + type,
               [](T a, T b) { return T(uint64_t(a) * uint64_t(b)); });
  add<T, T, T>("mul.hi." + type,
               [](T a, T b) { return T(Twice(a) * Twice(b) >> width); });
  add<T, T, T, T>("mad.lo." + type, [](T a, T b, T c) {
    return T(uint64_t(a) * uint64_t(b) + uint64_t(c));
  });
  if constexpr (sizeof(T) < 8)
    add<Wide, T, T>("mul.wide." + type,
                    [](T a, T b) { return Wide(Wide(a) * Wide(b)); });
  add<T, T, T>("min." + type, [](T a, T b) { return a < b ? a : b; });
  add<T, T, T>("max." + type, [](T a, T b) { return a > b ? a : b; });
  add<T, T, T>("div." + type, [](T a, T b) {
    return b == 0       ? T(-1)
           : b == T(-1) ? (std::is_signed_v<T> ? T(-U(a)) : T(a == b))
                        : T(a / b);
  });
  add<T, T, T>("rem." + type, [](T a, T b) {
    return b == 0 ? a : std::is_signed_v<T> && b == T(-1) ? T(0) : T(a % b);
  });
  add<T, T, uint32_t>("shr." + type, [](T a, uint32_t by) {
    return T(a >> std::min(by, width - 1) >> (by >= width));
  });
  if constexpr (std::is_signed_v<T>) {
    add<T, T>("neg." + type, [](T a) { return T(-U(a)); });
    add<T, T>("abs." + type, [](T a) { return a < 0 ? T(-U(a)) : a; });
  }
  if constexpr (sizeof(T) > 2)
    add<T, T, uint32_t, uint32_t>(
        "bfe." + type, [](T a, uint32_t from, uint32_t count) {
          from &= 0xFF;
          count &= 0xFF;
          if (count == 0)
            return T(0);
          uint32_t end = std::min(from + count, uint32_t(width));
          U moved = from >= width ? U(std::is_signed_v<T> && a < 0 ? -1 : 0)
                                  : U(a) << (width - end);
          return from >= width ? T(moved) : T(T(moved) >> (width - end + from));
        });
  table["selp." + type] = {&select, 4};
}

template <class T> static T larger(T a, T b) {
  return std::isnan(a)   ? b
         : std::isnan(b) ? a
         : a == b        ? (std::signbit(a) ? b : a)
                         : std::max(a, b);
}

template <class T> void Builder::addReals(const std::string &type) {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  addComparisons<T>(type);
  add<bool, T, T>("setp.neu." + type, [](T a, T b) { return a != b; });
  add<bool, T, T>("setp.equ." + type,
                  [](T a, T b) { return !(a < b || a > b); });
  add<bool, T, T>("setp.ltu." + type, [](T a, T b) { return !(a >= b); });
  add<bool, T, T>("setp.leu." + type, [](T a, T b) { return !(a > b); });
  add<bool, T, T>("setp.gtu." + type, [](T a, T b) { return !(a <= b); });
  add<bool, T, T>("setp.geu." + type, [](T a, T b) { return !(a < b); });
  add<bool, T, T>("setp.num." + type,
                  [](T a, T b) { return !std::isnan(a) && !std::isnan(b); });
  add<bool, T, T>("setp.nan." + type,
                  [](T a, T b) { return std::isnan(a) || std::isnan(b); });
  add<T, T, T>("add.rn." + type, [](T a, T b) { return a + b; });
  add<T, T, T>("sub.rn." + type, [](T a, T b) { return a - b; });
  add<T, T, T>("mul.rn." + type, [](T a, T b) { return a * b; });
  add<T, T, T>("div.rn." + type, [](T a, T b) { return a / b; });
  add<T, T>("rcp.rn." + type, [](T a) { return T(1) / a; });
  add<T, T>("sqrt.rn." + type, [](T a) { return std::sqrt(a); });
  add<T, T, T, T>("fma.rn." + type,
                  [](T a, T b, T c) { return std::fma(a, b, c); });
  add<T, T>("neg." + type, [](T a) { return -a; });
  add<T, T>("abs." + type, [](T a) { return std::fabs(a); });
  // The sign of the first, on the second.
  add<T, T, T>("copysign." + type,
               [](T a, T b) { return std::copysign(b, a); });
  add<T, T, T>("max." + type, [](T a, T b) { return larger(a, b); });
  add<T, T, T>("min." + type, [](T a, T b) { return -larger(-a, -b); });
  add<T, T, T>("max.NaN." + type, [](T a, T b) {
    return std::isnan(a) || std::isnan(b) ? nan : larger(a, b);
  });
  add<T, T, T>("min.NaN." + type, [](T a, T b) {
    return std::isnan(a) || std::isnan(b) ? nan : -larger(-a, -b);
  });
  add<T, T>("cvt.rni." + type + "." + type,
            [](T a) { return std::nearbyint(a); });
  add<T, T>("cvt.rmi." + type + "." + type, [](T a) { return std::floor(a); });
  add<T, T>("cvt.rpi." + type + "." + type, [](T a) { return std::ceil(a); });
  add<T, T>("cvt.rzi." + type + "." + type, [](T a) { return std::trunc(a); });
  addConversion<T, int64_t>("rn." + type, "s64");
  addConversion<T, uint64_t>("rn." + type, "u64");
  addConversion<T, int32_t>("rn." + type, "s32");
  addConversion<T, uint32_t>("rn." + type, "u32");
  auto addTruncation = [&]<class I>(const std::string &to, I) {
    add<I, T>("cvt.rzi." + to + "." + type, [](T a) {
      if (std::isnan(a))
        return I(0);
      T low = static_cast<T>(std::numeric_limits<I>::min());
      T high = static_cast<T>(std::numeric_limits<I>::max());
      return a <= low    ? std::numeric_limits<I>::min()
             : a >= high ? std::numeric_limits<I>::max()
                         : static_cast<I>(a);
    });
  };
  addTruncation("s32", int32_t());
  addTruncation("s64", int64_t());
  addTruncation("u32", uint32_t());
  addTruncation("u64", uint64_t());
  table["selp." + type] = {&select, 4};
}

/// Rounds to the nearest, in a tie to the even one.
static uint32_t toBf16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return 0x7FFF;
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

void Builder::addConversions() {
  auto addFrom = [&]<class From>(const std::string &from, From) {
    addConversion<uint16_t, From>("u16", from);
    addConversion<uint32_t, From>("u32", from);
    addConversion<uint64_t, From>("u64", from);
    addConversion<int16_t, From>("s16", from);
    addConversion<int32_t, From>("s32", from);
    addConversion<int64_t, From>("s64", from);
  };
  addFrom("u16", uint16_t());
  addFrom("u32", uint32_t());
  addFrom("u64", uint64_t());
  addFrom("s16", int16_t());
  addFrom("s32", int32_t());
  addFrom("s64", int64_t());
  addConversion<double, float>("f64", "f32");
  addConversion<float, double>("rn.f32", "f64");
  add<uint32_t, float, float>("cvt.rn.bf16x2.f32", [](float high, float low) {
    return toBf16(high) << 16 | toBf16(low);
  });
  add<uint16_t, float>("cvt.rn.bf16.f32",
                       [](float a) { return uint16_t(toBf16(a)); });
}

void Builder::addAll() {
  addBits<uint16_t>("16");
  addBits<uint32_t>("32");
  addBits<uint64_t>("64");
  addIntegers<uint16_t>("u16");
  addIntegers<uint32_t>("u32");
  addIntegers<uint64_t>("u64");
  addIntegers<int16_t>("s16");
  addIntegers<int32_t>("s32");
  addIntegers<int64_t>("s64");
  addReals<float>("f32");
  addReals<double>("f64");
  addConversions();
  // 2 to the power; results below the normal numbers are 0.
  add<float, float>("ex2.approx.ftz.f32", [](float a) { return std::exp2(a); });
  add<bool, bool>("mov.pred", [](bool a) { return a; });
  add<bool, bool>("not.pred", [](bool a) { return !a; });
  add<bool, bool, bool>("xor.pred", [](bool a, bool b) { return a != b; });
  table["and.pred"] = {&decide<false>, 3};
  table["or.pred"] = {&decide<true>, 3};
  for (const char *name : {"cvta.to.global.u64", "cvta.global.u64"})
    add<uint64_t, uint64_t>(name, [](uint64_t a) { return a; });
  add<uint64_t, uint64_t>("cvta.shared.u64",
                          [](uint64_t a) { return a + sharedWindow; });
  add<uint64_t, uint64_t>("cvta.to.shared.u64",
                          [](uint64_t a) { return a - sharedWindow; });
  add<uint64_t, uint64_t, uint32_t>(
      "mapa.shared::cluster.u64", [](uint64_t a, uint32_t rank) {
        return a | uint64_t(rank + 1) << rankShift;
      });
}

bool fovea::emulator::ptx::decodeArithmetic(std::string_view name,
                                            Instruction &code) {
  static const Table table = [] {
    Builder builder;
    builder.addAll();
    return std::move(builder.table);
  }();
  // A pair of halves.
  if (code.operands.size() == 3 && (name == "mov.b64" || name == "mov.b32")) {
    bool splits = code.beginsWithVector;
    bool isWide = name == "mov.b64";
    if (splits)
      code.run = isWide ? &split<uint32_t> : &split<uint16_t>;
    else
      code.run = isWide ? &unite<uint32_t> : &unite<uint16_t>;
    return splits ||
           (!code.operands[0].isConstant && code.operands[0].isThere());
  }
  auto found = table.find(std::string(name));
  if (found == table.end() || found->second.operands != code.operands.size() ||
      code.operands[0].isConstant || !code.operands[0].isThere())
    return false;
  code.run = found->second.run;
  return true;
}
