//===- ThreadPool.h - work units on several threads -----------*- C++ -*-===//
//
// Plain C for its callers: compiled kernels and programs that link a compiled
// model. Cutting work into units is the caller's decision and never depends on
// the number of threads, so neither do results.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_THREADPOOL_H
#define FOVEA_RUNTIME_THREADPOOL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FoveaPool FoveaPool;

/// Runs the units first <= u < last. Several threads call it at the same time,
/// so a unit must not write anything that another unit touches.
typedef void (*FoveaWork)(void *frame, int64_t first, int64_t last);

/// Creates a pool of `threads` threads, including the caller; 0 means one per
/// CPU that this process may use. Falls back to fewer if threads cannot be
/// created. Returns null if out of memory.
FoveaPool *fovea_pool_create(int threads);

/// Returns how many CPUs this process may use: more threads only wait for each
/// other.
int fovea_pool_cpus(void);

/// Ends the threads. No call of fovea_parallel may be running. Null is
/// allowed.
void fovea_pool_destroy(FoveaPool *pool);

/// Returns the number of threads, at least 1. A null pool is one thread.
int fovea_pool_threads(const FoveaPool *pool);

/// Calls `work` on contiguous ranges that cover each of the units 0..units
/// once, and returns when all are done. The callee sees the caller's earlier
/// writes, and the caller sees the callee's writes.
///
/// - A range has at least `atOnce` units, a number from 1 on.
/// - Every thread works with the caller's rounding and denormal modes.
/// - A null pool, a pool of one thread, or fewer than two ranges: called
///   directly.
/// - Called within a unit, or while another thread uses the pool: the caller
///   does all units itself.
/// - Between calls, threads spin for 50 us and then sleep. A call
///   costs less than a microsecond while they spin.
void fovea_parallel(FoveaPool *pool, FoveaWork work, void *frame, int64_t units,
                    int64_t atOnce);

/// Returns the calling thread's number in the pool whose unit it runs, from 0
/// and below fovea_pool_threads. It selects the thread's part of scratch
/// memory. Returns 0 outside of units, and in units that a caller runs itself.
int64_t fovea_pool_thread(void);

#ifdef __cplusplus
}
#endif

#endif // FOVEA_RUNTIME_THREADPOOL_H
