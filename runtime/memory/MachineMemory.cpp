//===- MachineMemory.cpp - what memory the machine has --------------------===//

#include "runtime/memory/MachineMemory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <sys/mman.h>
#include <sys/sysinfo.h>

int64_t fovea::runtime::machineBytes() {
  static const int64_t bytes = [] {
    int64_t least = std::numeric_limits<int64_t>::max();
    struct sysinfo info{};
    if (sysinfo(&info) == 0)
      least = int64_t(info.totalram + info.totalswap) * info.mem_unit;
    // Both versions of control groups; "max" and a missing file mean no limit.
    for (const char *path : {"/sys/fs/cgroup/memory.max",
                             "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
      std::FILE *file = std::fopen(path, "r");
      if (!file)
        continue;
      char text[32];
      bool isRead = std::fgets(text, sizeof(text), file);
      (void)std::fclose(file);
      if (int64_t limit = isRead ? std::strtoll(text, nullptr, 10) : 0;
          limit > 0)
        least = std::min(least, limit);
    }
    return least;
  }();
  return bytes;
}

void fovea::runtime::wishLargePages(void *memory, int64_t bytes) {
#ifdef MADV_HUGEPAGE
  (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
}
