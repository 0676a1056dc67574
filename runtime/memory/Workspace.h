//===- Workspace.h - the memory of a program for one batch ----------------===//
//
// Lays out one batch as runtime/Program.h says: offsets and orders are computed
// once, every array gets its place in one arena, and the frame that compiled
// code reads is filled in. Arrays whose uses do not overlap share memory.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MEMORY_WORKSPACE_H
#define FOVEA_RUNTIME_MEMORY_WORKSPACE_H

#include "runtime/Status.h"
#include "runtime/data/Batch.h"
#include "runtime/memory/Placement.h"
#include "runtime/memory/Tables.h"

#include <optional>

namespace fovea::runtime {

/// The values of the parameters, by path, in the order of their elements.
using ParameterValues = std::map<std::string, std::vector<double>>;

/// The examples of a batch, in order.
using Batch = std::vector<const Example *>;

/// Where arrays of the caller lie, by name, in the type of their elements.
using OwnedMemory = std::map<std::string, void *>;

/// What a run needs beside its examples.
struct Binding {
  /// The parameters: in memory of the caller, or as values.
  const OwnedMemory *memory = nullptr;
  const ParameterValues *values = nullptr;
  /// Data that no example has (`seed.nll`), the same for all.
  std::map<std::string, double> numbers;
  /// Random numbers (runtime/Philox.h); without a seed nothing is dropped.
  std::optional<uint64_t> seed;
  uint64_t update = 0;
  /// Without a seed latent choices are drawn all the same: by which of the
  /// seeds that are for that.
  uint64_t draws = 0;
  void *pool = nullptr;
};

class Workspace {
public:
  /// `program` outlives the workspace.
  explicit Workspace(const Program &program) : program(program) {}

  /// Takes a batch: its lengths and data, and parameters. Parameters in memory
  /// of the caller are read there and not copied. Fails when something is not
  /// given, or does not fit into memory.
  Status bind(const Batch &examples, const Binding &binding);

  /// What `void entry(void *frame)` is called with; valid until the next bind.
  void *frame() { return slots.data(); }
  /// What its random numbers are keyed by; below 0: nothing is dropped.
  int64_t seed() const { return slots[Program::seedSlot]; }

  /// What random numbers of an example of the present batch are counted by.
  int64_t idOf(int64_t example) const { return ids[example]; }

  /// The bytes of all arrays of the present batch.
  int64_t arenaBytes() const { return numBytes; }

  /// An output of one example, with its extents; of what the batch has once,
  /// whatever the example. What lies past a nested length is zero.
  DataValues output(const std::string &name, int64_t example) const;
  bool hasOutput(const std::string &name) const;
  /// Adds a real output to `sum`, which has its extents: of all examples where
  /// each has its own.
  void addOutput(const std::string &name, float *sum) const;
  void addOutput(const std::string &name, double *sum) const;
  /// The numbers of an output of which a batch has one, of the type T; null:
  /// it is another.
  template <typename T> const T *wholeOutput(const std::string &name) const;
  /// The sum of a scalar output over the examples; what a batch has once counts
  /// for each of them. 0 where there is none of the name.
  double totalOf(const std::string &name) const;

  // What a search reads where it lies (runtime/memory/StepMemory.h).
  /// An output; null when there is none of the name.
  void *memoryOf(const std::string &name) const;
  /// How many places of an output stand before those of an example.
  int64_t placeOf(const std::string &name, int64_t example) const;
  const Tables::Length *lengthNamed(const std::string &name) const;
  int64_t numExamples() const { return batch; }

private:
  Status takeLengths(const Batch &examples);
  Status takeLength(size_t number, const Batch &examples);
  void computeLength(size_t number);
  void computeLayout(size_t number);
  Status allocate(const Binding &binding);
  Status allocatePacked();
  Status allocateApart(const Placement &placement);
  Status fill(const Batch &examples, const Binding &binding);
  bool isOwned(const Program::Array &array, const Binding &binding) const;
  template <typename T> void addOutputTo(const std::string &name, T *sum) const;
  int64_t places(int layout) const;
  int64_t bytesOf(const Program::Array &array) const;
  std::vector<int64_t> shapeOf(const Program::Array &array,
                               int64_t example) const;
  std::byte *place(const Program::Array &array, int64_t example) const;
  Status write(const Program::Array &array, int64_t example,
               const std::vector<double> &values);
  bool isInside(const Program::Array &array, int64_t example,
                const std::vector<int64_t> &indices) const;

  const Program &program;
  int64_t batch = 0;
  std::vector<int64_t> slots;
  SharedVector<int64_t> ids; // of the examples
  Tables tables;
  Arena arena;
  std::vector<Arena> apart;
  int64_t numBytes = 0;
  std::optional<Arena> kept; // what is packed
  std::map<int, int64_t> packedPlaces;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MEMORY_WORKSPACE_H
