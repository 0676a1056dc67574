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

/// Threads of a block, and the units that it does at a time: of those that are
/// a thread's, and of those that are a group's.
constexpr int64_t ownThreads = 128, ownUnitsOfThreads = 128,
                  ownUnitsOfGroups = 8;

/// A sum of squares is the sum of those of so many values each, in order: who
/// has whole ones of them has a part of the sum of all. Each is the sum of so
/// many of its own.
constexpr int64_t valuesOfPart = 1 << 14, lanesOfPart = 8;

/// The places in the list of an optimiser's rule.
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

/// The places in the list of `best`: rows of `count` log p, one after another,
/// and room for `most` symbols of each and their log p. A symbol `count` is
/// none: no more of them are possible.
enum BestList { BestFrom, BestCount, BestMost, BestLogps, BestSymbolsOf };

/// Rows that are copied by one launch, whose list has all that a kernel may be
/// given, and the words of 32 bits of a piece of one.
constexpr int64_t mostCopies = 160, wordsOfPiece = 4096;

/// What stands in a list: an address, or the bits of a number.
inline int64_t inList(const void *address) {
  return reinterpret_cast<int64_t>(address);
}
template <typename T> int64_t bitsOf(T number) {
  int64_t bits = 0;
  std::memcpy(&bits, &number, sizeof(T));
  return bits;
}

/// Has the device of this process run one of them, after what was launched
/// before, over the array at `memory`. False: there is no device, the memory is
/// not shared with it, or no program had the kernel; the host does it then, as
/// nothing that was launched is under way.
bool launchOwn(const std::string &name, const void *memory,
               std::span<const int64_t> list, int64_t units,
               int64_t unitsAtOnce = ownUnitsOfThreads);
/// Of numbers of the type T: `name` has no type.
template <typename T>
bool launchOwn(const char *name, const T *memory,
               std::initializer_list<int64_t> list, int64_t units,
               int64_t unitsAtOnce = ownUnitsOfThreads) {
  constexpr const char *type = sizeof(T) == sizeof(double) ? "$f64" : "$f32";
  return launchOwn(std::string("fovea$") + name + type,
                   static_cast<const void *>(memory),
                   std::span(list.begin(), list.size()), units, unitsAtOnce);
}
/// What is copied where to; memory of one does not overlap that of another.
struct RowCopy {
  std::byte *to = nullptr;
  const std::byte *from = nullptr;
  int64_t bytes = 0;
};
/// Has the device copy, or does it.
void copyRows(const std::vector<RowCopy> &rows);

/// What was launched is done: the host may read it.
void waitForDevice();

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_DEVICE_OWNKERNELS_H
