//===- Measure.h - the time of a run on a busy machine --------*- C++ -*-===//
//
// CPU time of the thread, so that other processes disturb it little.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_BENCH_MEASURE_H
#define FOVEA_BENCH_MEASURE_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <ctime>
#include <vector>

inline double cpuTime() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

/// The time of one run in seconds that a tenth of all runs stays below: a
/// quiet moment, but none in which the clock skipped. Runs for `seconds`.
inline double measure(double seconds, llvm::function_ref<void()> run) {
  run();
  std::vector<double> times;
  for (double end = cpuTime() + seconds; cpuTime() < end;) {
    double start = cpuTime();
    run();
    times.push_back(cpuTime() - start);
  }
  auto tenth = times.begin() + times.size() / 10;
  std::nth_element(times.begin(), tenth, times.end());
  return *tenth;
}

#endif // FOVEA_BENCH_MEASURE_H
