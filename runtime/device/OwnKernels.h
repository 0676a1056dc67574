//===- OwnKernels.h - kernels that the runtime itself launches --*- C++ -*-===//
//
// What the runtime does to arrays that lie on a device, kernels do there, in
// the order in which the host would. They come with the program that needs them
// (codegen/gpu/program/OwnKernels.cpp), under names `fovea$add$f32`: `f32` or
// `f64` is the type of the numbers. A list has addresses, counts, and numbers
// as their bits.
//
// | name     | list                                    | a unit          |
// |----------|-----------------------------------------|-----------------|
// | clear    | to                                      | a number        |
// | add      | to, from                                | a number        |
// | add_rows | rows, (to, from, count, first) of each row | a piece, a block |
// | scale    | to, factor                              | a number        |
// | clamp    | to, limit                               | a number        |
// | squares  | from, count, f64 [units][8], f64 [units] | `valuesOfPart`  |
// | limit    | to, columns, most as f64, f64 [units][8] | a row           |
// | sgd, ..  | StepList                                | a weight        |
// | best     | BestList                                | a row, a block  |
// | copy     | pieces, (to, from, words) of each row   | a piece, a block |
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_DEVICE_OWNKERNELS_H
#define FOVEA_RUNTIME_DEVICE_OWNKERNELS_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace fovea::runtime {

/// Threads of a block, and how many units it processes at a time: units of one
/// thread, and units of a group.
constexpr int64_t ownThreads = 128, ownUnitsOfThreads = 128,
                  ownUnitsOfGroups = 8;

/// A sum of squares is the ordered sum of partial sums over so many values
/// each; a process that owns whole parts owns a part of the total. Each partial
/// sum consists of sums of so many values.
constexpr int64_t valuesOfPart = 1 << 14, lanesOfPart = 8;

/// The positions in the parameter list of an optimiser's rule.
enum StepList {
  StepWeights,
  StepGradients,
  StepFirst,
  StepSecond,
  StepRate,
  StepEps,
  StepB1,
  StepB2,
  StepRest1,
  StepRest2,
  StepDecay,
  StepSize,
  StepRoot,
  StepKept,
  numStepNumbers
};

/// The positions in the parameter list of `best`: rows of `count` log p,
/// consecutively, and room for `most` symbols of each with their log p. A
/// symbol `count` means that no more are possible.
enum BestList { BestFrom, BestCount, BestMost, BestLogps, BestSymbolsOf };

/// Rows copied by one launch, whose list fills a kernel's parameters, and the
/// 32-bit words in a piece of a row.
constexpr int64_t mostCopies = 160, wordsOfPiece = 4096;

/// Rows added by one launch, and the numbers in a piece of a row. `first` is
/// the number of a row's first piece.
constexpr int64_t mostSums = 120, numbersOfPiece = 1024;

/// An entry of a list: an address, or the bits of a number.
inline int64_t inList(const void *address) {
  return reinterpret_cast<int64_t>(address);
}
template <typename T> int64_t bitsOf(T number) {
  int64_t bits = 0;
  std::memcpy(&bits, &number, sizeof(T));
  return bits;
}

/// Runs one of these kernels on the process's device, after all earlier
/// launches, over the array at `memory`. Returns false if there is no device,
/// the memory is not shared, or no program has the kernel. Then the host does
/// the work, because no launch is pending.
bool launchOwn(const std::string &name, const void *memory,
               std::span<const int64_t> list, int64_t units,
               int64_t unitsAtOnce = ownUnitsOfThreads);
/// The name of such a kernel for numbers of type T.
template <typename T> std::string ownName(const char *name) {
  constexpr const char *type = sizeof(T) == sizeof(double) ? "$f64" : "$f32";
  return std::string("fovea$") + name + type;
}
/// For numbers of type T: `name` has no type.
template <typename T>
bool launchOwn(const char *name, const T *memory,
               std::initializer_list<int64_t> list, int64_t units,
               int64_t unitsAtOnce = ownUnitsOfThreads) {
  return launchOwn(ownName<T>(name), static_cast<const void *>(memory),
                   std::span(list.begin(), list.size()), units, unitsAtOnce);
}
/// A copy's source and target; memory ranges do not overlap.
struct RowCopy {
  std::byte *to = nullptr;
  const std::byte *from = nullptr;
  int64_t bytes = 0;
};
/// Copies on the device, or on the host.
void copyRows(const std::vector<RowCopy> &rows);

/// Waits for all launches, so the host may read the results.
void waitForDevice();

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DEVICE_OWNKERNELS_H
