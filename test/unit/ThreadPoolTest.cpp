//===- ThreadPoolTest.cpp - every unit once, whatever the threads ---------===//
//
// Also built with the thread sanitizer: fovea-tsan.
//
//===----------------------------------------------------------------------===//

#include "runtime/ThreadPool.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

struct Destroy {
  void operator()(FoveaPool *pool) const { fovea_pool_destroy(pool); }
};
using Pool = std::unique_ptr<FoveaPool, Destroy>;

Pool makePool(int threads) { return Pool(fovea_pool_create(threads)); }

/// Calls a lambda as work.
template <typename Work>
void parallel(const Pool &pool, int64_t units, Work work, int64_t atOnce = 1) {
  auto call = [](void *frame, int64_t first, int64_t last) {
    (*static_cast<Work *>(frame))(first, last);
  };
  fovea_parallel(pool.get(), call, &work, units, atOnce);
}

} // namespace

TEST(ThreadPool, DoesEachUnitOnce) {
  for (int threads : {1, 2, 3, 8}) {
    Pool pool = makePool(threads);
    ASSERT_EQ(fovea_pool_threads(pool.get()), threads);
    for (int64_t units : {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 1000}) {
      // Not atomic: two calls of one unit are a race that the sanitizer sees.
      std::vector<int> count(units);
      parallel(pool, units, [&](int64_t first, int64_t last) {
        ASSERT_LT(first, last);
        for (int64_t unit = first; unit < last; ++unit)
          ++count[unit];
      });
      EXPECT_EQ(count, std::vector<int>(units, 1)) << threads << " " << units;
    }
  }
}

TEST(ThreadPool, GivesRangesOfSoManyUnits) {
  for (int threads : {1, 2, 3}) {
    Pool pool = makePool(threads);
    for (int64_t units : {1, 11, 12, 23, 24, 25, 100, 1000}) {
      std::atomic<int64_t> total = 0;
      auto work = [&](int64_t first, int64_t last) {
        EXPECT_GE(last - first, std::min<int64_t>(units, 12));
        total += last - first;
      };
      parallel(pool, units, work, 12);
      EXPECT_EQ(total, units);
    }
  }
}

// 100 units of two threads with four ranges each: 12 or 13 in a range, and 50
// for each thread.
TEST(ThreadPool, GivesThreadsEqualShares) {
  Pool pool = makePool(2);
  std::mutex mutex;
  std::vector<int64_t> begins;
  parallel(pool, 100, [&](int64_t first, int64_t) {
    std::lock_guard<std::mutex> lock(mutex);
    begins.push_back(first);
  });
  std::sort(begins.begin(), begins.end());
  EXPECT_EQ(begins, (std::vector<int64_t>{0, 12, 25, 37, 50, 62, 75, 87}));
}

TEST(ThreadPool, NumbersItsThreads) {
  Pool pool = makePool(3), other = makePool(2);
  EXPECT_EQ(fovea_pool_thread(), 0);
  // Not atomic: a number that two threads had at a time would be a race.
  std::vector<int> parts(3, 0);
  parallel(pool, 1000, [&](int64_t first, int64_t last) {
    int64_t thread = fovea_pool_thread();
    ASSERT_GE(thread, 0);
    ASSERT_LT(thread, 3);
    parts[thread] += static_cast<int>(last - first);
    // A thread that does all units alone is the only thread of that call.
    parallel(other, 2,
             [&](int64_t, int64_t) { EXPECT_EQ(fovea_pool_thread(), 0); });
    EXPECT_EQ(fovea_pool_thread(), thread);
  });
  EXPECT_EQ(parts[0] + parts[1] + parts[2], 1000);
}

TEST(ThreadPool, TakesMoreUnitsThanMemoryHasBytes) {
  Pool pool = makePool(3);
  const int64_t units = int64_t(1) << 62;
  std::atomic<int64_t> total = 0;
  parallel(pool, units,
           [&](int64_t first, int64_t last) { total += last - first; });
  EXPECT_EQ(total, units);
}

TEST(ThreadPool, ShowsWritesToBothSides) {
  Pool pool = makePool(4);
  std::vector<int64_t> values(64, 0);
  for (int64_t step = 1; step <= 2000; ++step) {
    for (int64_t &value : values)
      ++value;
    parallel(pool, 64, [&](int64_t first, int64_t last) {
      for (int64_t unit = first; unit < last; ++unit)
        values[unit] = values[unit] * 2 - step * 2;
    });
    for (int64_t &value : values) {
      ASSERT_EQ(value, 0) << step;
      value = step;
    }
  }
}

// A thread that notices a call late must not do a unit of the next one with
// the fields of the last: sizes and functions change from call to call.
TEST(ThreadPool, KeepsCallsApart) {
  Pool pool = makePool(8);
  for (int64_t step = 0; step < 5000; ++step) {
    int64_t units = 1 + step * 7919 % 40;
    std::vector<int64_t> seen(units, -1);
    if (step % 2)
      parallel(pool, units, [&](int64_t first, int64_t last) {
        for (int64_t unit = first; unit < last; ++unit)
          seen[unit] = seen[unit] == -1 ? step : -2;
      });
    else
      parallel(pool, units, [&, offset = step](int64_t first, int64_t last) {
        for (int64_t unit = first; unit < last; ++unit)
          seen[unit] = seen[unit] == -1 ? offset : -2;
      });
    ASSERT_EQ(seen, std::vector<int64_t>(units, step));
  }
}

TEST(ThreadPool, WakesAfterSleeping) {
  Pool pool = makePool(2);
  for (int step = 0; step < 20; ++step) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::atomic<int> done = 0;
    // The caller waits in its unit until the other thread has come.
    parallel(pool, 2, [&](int64_t, int64_t) {
      ++done;
      while (done < 2)
        std::this_thread::yield();
    });
    EXPECT_EQ(done, 2);
  }
}

TEST(ThreadPool, MayBeCalledWithinAUnit) {
  Pool pool = makePool(4);
  std::vector<int> count(32 * 32);
  parallel(pool, 32, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row)
      parallel(pool, 32, [&](int64_t begin, int64_t end) {
        for (int64_t column = begin; column < end; ++column)
          ++count[row * 32 + column];
      });
  });
  EXPECT_EQ(count, std::vector<int>(32 * 32, 1));
}

TEST(ThreadPool, MayBeSharedByCallers) {
  Pool pool = makePool(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int step = 0; step < 300; ++step) {
        std::vector<int> count(20);
        parallel(pool, 20, [&](int64_t first, int64_t last) {
          for (int64_t unit = first; unit < last; ++unit)
            ++count[unit];
        });
        wrong += count != std::vector<int>(20, 1);
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, ComesAndGoes) {
  for (int step = 0; step < 50; ++step) {
    Pool pool = makePool(1 + step % 5);
    if (step % 2)
      parallel(pool, 8, [](int64_t, int64_t) {});
  }
  EXPECT_GE(fovea_pool_threads(makePool(0).get()), 1);
  EXPECT_EQ(fovea_pool_threads(nullptr), 1);
  fovea_pool_destroy(nullptr);
}

TEST(ThreadPool, WorksWithoutAPool) {
  int64_t units = 0;
  int calls = 0;
  parallel(nullptr, 10, [&](int64_t first, int64_t last) {
    units += last - first;
    ++calls;
  });
  EXPECT_EQ(units, 10);
  EXPECT_EQ(calls, 1);
}

#if defined(__x86_64__)
TEST(ThreadPool, WorksInTheCallersFloatMode) {
  Pool pool = makePool(4);
  unsigned before = _mm_getcsr();
  for (unsigned mode : {0x9fc0u, 0x1f80u, 0x7f80u}) {
    _mm_setcsr(mode);
    std::vector<unsigned> modes(64);
    parallel(pool, 64, [&](int64_t first, int64_t last) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      for (int64_t unit = first; unit < last; ++unit)
        modes[unit] = _mm_getcsr() & ~0x3fu;
    });
    _mm_setcsr(before);
    EXPECT_EQ(modes, std::vector<unsigned>(64, mode));
  }
}
#endif
