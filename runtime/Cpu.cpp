//===- Cpu.cpp - which features this CPU has, and may use -----------------===//

#include "runtime/Cpu.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

using namespace fovea::runtime;

/// The value of FOVEA_CPU_FEATURES; empty if it is not set.
static std::string_view allowedFeatures() {
  const char *text = std::getenv("FOVEA_CPU_FEATURES");
  return text ? text : "";
}

bool fovea::runtime::hidesBeyondAvx2() { return allowedFeatures() == "avx2"; }

/// The features of this CPU that compiled code may use.
static std::vector<std::pair<std::string_view, bool>> features() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool hides = hidesBeyondAvx2();
#define FOVEA_FEATURE(name) {name, __builtin_cpu_supports(name) != 0}
#define FOVEA_BEYOND_AVX2(name)                                                \
  {name, !hides && __builtin_cpu_supports(name) != 0}
  return {FOVEA_FEATURE("avx"),
          FOVEA_FEATURE("avx2"),
          FOVEA_FEATURE("bmi"),
          FOVEA_FEATURE("bmi2"),
          FOVEA_FEATURE("fma"),
          FOVEA_FEATURE("popcnt"),
          FOVEA_BEYOND_AVX2("avx512f"),
          FOVEA_BEYOND_AVX2("avx512bw"),
          FOVEA_BEYOND_AVX2("avx512cd"),
          FOVEA_BEYOND_AVX2("avx512dq"),
          FOVEA_BEYOND_AVX2("avx512vl"),
          FOVEA_BEYOND_AVX2("avx512ifma"),
          FOVEA_BEYOND_AVX2("avx512vbmi"),
          FOVEA_BEYOND_AVX2("avx512vbmi2"),
          FOVEA_BEYOND_AVX2("avx512vnni"),
          FOVEA_BEYOND_AVX2("avx512bitalg"),
          FOVEA_BEYOND_AVX2("avx512bf16"),
          FOVEA_BEYOND_AVX2("avx512vpopcntdq"),
          FOVEA_BEYOND_AVX2("gfni"),
          FOVEA_BEYOND_AVX2("vpclmulqdq")};
#undef FOVEA_BEYOND_AVX2
#undef FOVEA_FEATURE
#elif defined(__aarch64__)
  // <asm/hwcap.h>
  unsigned long bits = getauxval(AT_HWCAP);
  auto has = [&](int bit) { return (bits >> bit & 1) != 0; };
  return {{"fp-armv8", has(0)}, {"neon", has(1)},  {"aes", has(3)},
          {"sha2", has(6)},     {"crc", has(7)},   {"lse", has(8)},
          {"fullfp16", has(9)}, {"rdm", has(12)},  {"jsconv", has(13)},
          {"rcpc", has(15)},    {"sha3", has(17)}, {"dotprod", has(20)},
          {"sve", has(22)}};
#else
  return {};
#endif
}

Status fovea::runtime::checkCpu(std::string_view wanted) {
  if (!allowedFeatures().empty() && !hidesBeyondAvx2())
    return Status::error("FOVEA_CPU_FEATURES is '" +
                         std::string(allowedFeatures()) +
                         "'; only 'avx2' is supported");
  auto known = features();
  while (!wanted.empty()) {
    std::string_view one = wanted.substr(0, wanted.find(','));
    wanted.remove_prefix(std::min(one.size() + 1, wanted.size()));
    for (auto [name, isThere] : known)
      if (one.starts_with('+') && one.substr(1) == name && !isThere)
        return Status::error("this code needs a CPU with '" +
                             std::string(name) +
                             "'; compile it with another '--cpu'");
  }
  return Status::success();
}
