//===- Cpu.cpp - can this machine run the code? ---------------------------===//

#include "runtime/model/Cpu.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace fovea::runtime;

/// The features of this CPU among those that compiled code makes use of.
static std::vector<std::pair<std::string_view, bool>> features() {
#if defined(__x86_64__)
  __builtin_cpu_init();
#define FOVEA_FEATURE(name) {name, __builtin_cpu_supports(name) != 0}
  return {FOVEA_FEATURE("avx"),        FOVEA_FEATURE("avx2"),
          FOVEA_FEATURE("bmi"),        FOVEA_FEATURE("bmi2"),
          FOVEA_FEATURE("fma"),        FOVEA_FEATURE("popcnt"),
          FOVEA_FEATURE("avx512f"),    FOVEA_FEATURE("avx512bw"),
          FOVEA_FEATURE("avx512cd"),   FOVEA_FEATURE("avx512dq"),
          FOVEA_FEATURE("avx512vl"),   FOVEA_FEATURE("avx512ifma"),
          FOVEA_FEATURE("avx512vbmi"), FOVEA_FEATURE("avx512vbmi2"),
          FOVEA_FEATURE("avx512vnni"), FOVEA_FEATURE("avx512bitalg"),
          FOVEA_FEATURE("avx512bf16"), FOVEA_FEATURE("avx512vpopcntdq"),
          FOVEA_FEATURE("gfni"),       FOVEA_FEATURE("vpclmulqdq")};
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
