//===- ThreadPool.h - work units on several threads -----------*- C++ -*-===//
//
// Plain C to whoever calls it: compiled kernels and what links a compiled
// model. Nothing here decides how work is cut into units; as that never
// depends on the number of threads, results do not either.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_THREADPOOL_H
#define FOVEA_RUNTIME_THREADPOOL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FoveaPool FoveaPool;

/// Does the units first <= u < last. Calls run at the same time on several
/// threads, so a unit writes nothing that another unit touches.
typedef void (*FoveaWork)(void *frame, int64_t first, int64_t last);

/// A pool of `threads` threads, the calling one included; 0 is one per CPU
/// that this process may use. Where threads cannot be made, there are fewer.
/// Null if there is no memory.
FoveaPool *fovea_pool_create(int threads);

/// How many CPUs this process may use: more threads only wait for each other.
int fovea_pool_cpus(void);

/// Ends the threads. No call of fovea_parallel may be under way. Null is
/// allowed.
void fovea_pool_destroy(FoveaPool *pool);

/// How many threads there are, at least 1. A null pool is one thread.
int fovea_pool_threads(const FoveaPool *pool);

/// Calls `work` on contiguous ranges that hold each of the units 0..units once,
/// and returns when all are done. What the caller wrote before is visible to
/// them, and what they wrote is visible to the caller.
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

/// The number of the calling thread in the pool whose unit it does, from 0 and
/// below fovea_pool_threads: which part of a scratch memory is its own. 0
/// outside of units, and in units that a caller does itself.
int64_t fovea_pool_thread(void);

#ifdef __cplusplus
}
#endif

#endif // FOVEA_RUNTIME_THREADPOOL_H
