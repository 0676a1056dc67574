//===- ThreadPool.cpp - work units on several threads ---------------------===//
//
// The units of a call are cut into chunks, and each thread owns a share of
// adjacent chunks. Shares are the same for every call of the same size, so data
// stay in a thread's cache. A thread that finishes its share helps the next
// thread.
//
// A call ends when all chunks are done, not when all threads have noticed: a
// thread that sleeps through a call costs nothing. Such a thread may look at
// the pool late, while the next call's fields are being written. It works only
// on a chunk that it claimed, and the claim names the call by a
// compare-and-swap on (call, claimed chunks of the share). A call closes all
// shares before it writes a field and opens them after the last one. So a
// thread that saw a field of the next call cannot claim a chunk of the previous
// one. A thread that claims a chunk has read that call's fields.
//
// Uses only header-only parts of the C++ library, so a C program can link this
// without it.
//
//===----------------------------------------------------------------------===//

#include "runtime/ThreadPool.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

constexpr int maxThreads = 1024;
constexpr int64_t chunksPerThread = 4;
constexpr int64_t spinNanoseconds = 50'000;

#if defined(__x86_64__)
using FloatMode = uint32_t;
/// Rounding mode, denormal mode and masks of MXCSR, without the sticky
/// exceptions.
FloatMode floatMode() { return _mm_getcsr() & ~0x3fu; }
void setFloatMode(FloatMode mode) { _mm_setcsr(mode); }
void relax() { _mm_pause(); }
#elif defined(__aarch64__)
using FloatMode = uint64_t;
FloatMode floatMode() {
  FloatMode mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
void setFloatMode(FloatMode mode) { asm volatile("msr fpcr, %0" ::"r"(mode)); }
void relax() { asm volatile("yield"); }
#else
#error "the modes of floating point are unknown on this architecture"
#endif

/// A thread's share in a call: the number of the call, and in the lowest byte
/// the count of claimed chunks, or `closed`.
constexpr uint64_t closed = 0xff;
struct alignas(64) Share {
  std::atomic<uint64_t> claimed = 0;
};

struct Worker {
  FoveaPool *pool;
  int index;
  pthread_t thread;
};

/// True on a thread that is running a unit.
thread_local bool insideUnit = false;
/// The thread's number in the pool whose unit it runs.
thread_local int64_t threadNumber = 0;

int64_t nanoseconds() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// A number that threads wait on.
struct alignas(64) Signal {
  std::atomic<uint32_t> value = 0;
  std::atomic<uint32_t> sleepers = 0;

  /// Waits until the value is no longer `old`: spins first, then sleeps.
  void waitWhile(uint32_t old);
  /// Call this after changing the value that sleepers wait on.
  void wake();
};

void Signal::waitWhile(uint32_t old) {
  int64_t start = nanoseconds();
  do
    for (int i = 0; i < 32; ++i) {
      if (value.load(std::memory_order_acquire) != old)
        return;
      relax();
    }
  while (nanoseconds() - start < spinNanoseconds);
  // Either wake() sees the sleeper, or the kernel sees the new value.
  sleepers.fetch_add(1);
  while (value.load(std::memory_order_acquire) == old)
    syscall(SYS_futex, &value, FUTEX_WAIT_PRIVATE, old, nullptr, nullptr, 0);
  sleepers.fetch_sub(1);
}

void Signal::wake() {
  if (sleepers.load() != 0)
    syscall(SYS_futex, &value, FUTEX_WAKE_PRIVATE, maxThreads, nullptr, nullptr,
            0);
}

} // namespace

struct FoveaPool {
  /// Includes the calling thread.
  int threads = 1;
  /// One per thread.
  Share *shares = nullptr;
  Worker *workers = nullptr;

  /// Held by the thread whose call is running.
  std::atomic<bool> busy = false;
  uint64_t calls = 0;

  // The running call. Late threads read these fields at any time, so all are
  // atomic.
  std::atomic<FoveaWork> work = nullptr;
  std::atomic<void *> frame = nullptr;
  std::atomic<int64_t> units = 0, chunks = 0;
  std::atomic<FloatMode> mode = 0;

  /// Chunks that are not done.
  Signal pending;
  /// Changes with every call and at the end.
  Signal bell;
  std::atomic<bool> ending = false;

  void call(FoveaWork work, void *frame, int64_t units, int64_t atOnce);
  void ring();
  void help(int index);
  bool doChunk(int owner);
  void serve(int index);
};

/// Returns the start of chunk `chunk` of `chunks`. Threads have equal shares,
/// up to one unit.
static int64_t firstUnit(int64_t chunk, int64_t chunks, int64_t units) {
  return chunk * (units / chunks) + chunk * (units % chunks) / chunks;
}

static void doUnits(FoveaWork work, void *frame, int64_t first, int64_t last) {
  bool outer = std::exchange(insideUnit, true);
  work(frame, first, last);
  insideUnit = outer;
}

/// Runs as the only thread of a pool.
static void doAllUnits(FoveaWork work, void *frame, int64_t units) {
  int64_t outer = std::exchange(threadNumber, 0);
  work(frame, 0, units);
  threadNumber = outer;
}

/// Runs one chunk of a share; returns false if all are claimed.
bool FoveaPool::doChunk(int owner) {
  std::atomic<uint64_t> &claimed = shares[owner].claimed;
  uint64_t word = claimed.load(std::memory_order_acquire);
  while (true) {
    FoveaWork callWork = work.load(std::memory_order_acquire);
    void *callFrame = frame.load(std::memory_order_acquire);
    int64_t callUnits = units.load(std::memory_order_acquire);
    int64_t callChunks = chunks.load(std::memory_order_acquire);
    FloatMode callMode = mode.load(std::memory_order_acquire);
    int64_t first = callChunks * owner / threads;
    int64_t chunk = first + int64_t(word & closed);
    if (chunk >= callChunks * (owner + 1) / threads)
      return false;
    if (!claimed.compare_exchange_weak(word, word + 1,
                                       std::memory_order_acq_rel,
                                       std::memory_order_acquire))
      continue;
    if (floatMode() != callMode)
      setFloatMode(callMode);
    doUnits(callWork, callFrame, firstUnit(chunk, callChunks, callUnits),
            firstUnit(chunk + 1, callChunks, callUnits));
    if (pending.value.fetch_sub(1) == 1)
      pending.wake();
    return true;
  }
}

/// Runs chunks until none is left, the thread's own first.
void FoveaPool::help(int index) {
  for (int i = 0; i < threads; ++i)
    while (doChunk((index + i) % threads))
      continue;
}

/// Wakes the threads.
void FoveaPool::ring() {
  bell.value.fetch_add(1);
  bell.wake();
}

void FoveaPool::call(FoveaWork callWork, void *callFrame, int64_t callUnits,
                     int64_t atOnce) {
  int64_t count = std::min(callUnits / atOnce, threads * chunksPerThread);
  ++calls;
  for (int i = 0; i < threads; ++i)
    shares[i].claimed.store(calls << 8 | closed, std::memory_order_relaxed);
  work.store(callWork, std::memory_order_release);
  frame.store(callFrame, std::memory_order_release);
  units.store(callUnits, std::memory_order_release);
  chunks.store(count, std::memory_order_release);
  mode.store(floatMode(), std::memory_order_release);
  pending.value.store(uint32_t(count), std::memory_order_relaxed);
  for (int i = 0; i < threads; ++i)
    shares[i].claimed.store(calls << 8, std::memory_order_release);
  ring();
  help(0);
  while (uint32_t left = pending.value.load(std::memory_order_acquire))
    pending.waitWhile(left);
}

void FoveaPool::serve(int index) {
  threadNumber = index;
  uint32_t heard = 0;
  while (true) {
    bell.waitWhile(heard);
    heard = bell.value.load(std::memory_order_acquire);
    if (ending.load(std::memory_order_acquire))
      return;
    help(index);
  }
}

static void *runWorker(void *data) {
  auto *worker = static_cast<Worker *>(data);
  worker->pool->serve(worker->index);
  return nullptr;
}

int fovea_pool_cpus(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set))
    return 1;
  return std::max(1, CPU_COUNT(&set));
}

/// `count` initialised values at a line of the cache, or null.
template <typename T> static T *allocate(size_t count) {
  size_t size = (count * sizeof(T) + 63) / 64 * 64;
  void *memory = std::aligned_alloc(64, size);
  if (!memory)
    return nullptr;
  auto *values = static_cast<T *>(memory);
  for (size_t i = 0; i < count; ++i)
    new (values + i) T();
  return values;
}

static void release(FoveaPool *pool) {
  std::free(pool->shares);
  std::free(pool->workers);
  std::free(pool);
}

FoveaPool *fovea_pool_create(int threads) {
  if (threads <= 0)
    threads = fovea_pool_cpus();
  threads = std::min(threads, maxThreads);
  FoveaPool *pool = allocate<FoveaPool>(1);
  if (!pool)
    return nullptr;
  pool->shares = allocate<Share>(threads);
  pool->workers = allocate<Worker>(threads);
  if (!pool->shares || !pool->workers) {
    release(pool);
    return nullptr;
  }

  // Signals are for the threads of the program that links this.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int made = 1;
  for (; made < threads; ++made) {
    Worker &worker = pool->workers[made];
    worker = {pool, made, {}};
    if (pthread_create(&worker.thread, nullptr, runWorker, &worker))
      break;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  // Workers read it only after the first call's bell.
  pool->threads = made;
  return pool;
}

void fovea_pool_destroy(FoveaPool *pool) {
  if (!pool)
    return;
  pool->ending.store(true, std::memory_order_release);
  pool->ring();
  for (int i = 1; i < pool->threads; ++i)
    pthread_join(pool->workers[i].thread, nullptr);
  release(pool);
}

int fovea_pool_threads(const FoveaPool *pool) {
  return pool ? pool->threads : 1;
}

void fovea_parallel(FoveaPool *pool, FoveaWork work, void *frame, int64_t units,
                    int64_t atOnce) {
  if (units <= 0)
    return;
  if (!pool || pool->threads == 1 || units / 2 < atOnce || insideUnit ||
      pool->busy.exchange(true, std::memory_order_acquire)) {
    doAllUnits(work, frame, units);
    return;
  }
  pool->call(work, frame, units, atOnce);
  pool->busy.store(false, std::memory_order_release);
}

int64_t fovea_pool_thread(void) { return threadNumber; }
