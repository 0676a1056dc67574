//===- Workspace.h - the memory of a program for one batch ----------------===//
//
// Lays out one batch as described in runtime/Program.h: computes offsets and
// orders once, assigns every array a place in one arena, and fills in the frame
// that compiled code reads. Arrays with disjoint live ranges share memory.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MEMORY_WORKSPACE_H
#define FOVEA_RUNTIME_MEMORY_WORKSPACE_H

#include "runtime/Status.h"
#include "runtime/data/Batch.h"
#include "runtime/memory/InputBlock.h"
#include "runtime/memory/OutputBlock.h"
#include "runtime/memory/Placement.h"
#include "runtime/memory/Tables.h"

#include <optional>

namespace fovea::runtime {

/// The values of the parameters, by path, in element order.
using ParameterValues = std::map<std::string, std::vector<double>>;

/// The examples of a batch, in order.
using Batch = std::vector<const Example *>;

/// The caller's arrays, by name, in their element type; parameters in fewer
/// bits as runtime/data/Quantise.h stores them.
using OwnedMemory = std::map<std::string, void *>;

/// Copies a parameter of such memory, as the elements that a program reads.
void copyParameter(const Program::Array &array, const void *from,
                   std::byte *to);

/// The inputs of a run besides its examples.
struct Binding {
  /// The parameters: in the caller's memory, or as values.
  const OwnedMemory *memory = nullptr;
  const ParameterValues *values = nullptr;
  /// Data without examples (`seed.nll`), the same for all.
  std::map<std::string, double> numbers;
  /// Random numbers (runtime/Philox.h); without a seed nothing is dropped.
  std::optional<uint64_t> seed;
  uint64_t update = 0;
  /// Latent choices are drawn even without a seed: from the latent seed with
  /// this number.
  uint64_t draws = 0;
  void *pool = nullptr;
};

class Workspace {
public:
  /// `program` outlives the workspace.
  explicit Workspace(const Program &program) : program(program) {}

  /// Takes a batch: its lengths, data and parameters. Reads parameters in the
  /// caller's memory there, without a copy. Fails if an input is missing or
  /// memory is too small.
  Status bind(const Batch &examples, const Binding &binding);

  /// The argument of `void entry(void *frame)`; valid until the next bind.
  void *frame() { return slots.data(); }
  /// Call it ahead of each run: results that the host reads come with it.
  void willRun();
  /// The key of its random numbers; below 0: nothing is dropped.
  int64_t seed() const { return slots[Program::seedSlot]; }

  /// Returns the counter of random numbers of an example in the current batch.
  int64_t idOf(int64_t example) const { return tables.ids[example]; }

  /// Returns the bytes of all arrays of the current batch.
  int64_t arenaBytes() const { return numBytes; }

  /// For debugging, ahead of step `number` of the program: fills real arrays
  /// with NaN that are in use from this step on, or up to the one before.
  void poison(int64_t number);
  /// The same of the memory of threads, ahead of any of the step's units.
  void poisonParts();

  /// Returns an output of one example, with its extents; an output of the whole
  /// batch, whatever the example. Values past a nested length are zero.
  DataValues output(const std::string &name, int64_t example) const;
  bool hasOutput(const std::string &name) const;
  /// Returns the sorted names of the outputs that begin with `prefix`.
  std::vector<std::string> outputsOf(const std::string &prefix) const;
  /// Adds a real output to `sum`, which has its extents; per-example outputs
  /// are summed over the examples.
  void addOutput(const std::string &name, float *sum) const;
  void addOutput(const std::string &name, double *sum) const;
  /// Returns the numbers of an output that exists once per batch, as type T;
  /// null for any other.
  template <typename T> const T *wholeOutput(const std::string &name) const;
  /// Returns the sum of a scalar output over the examples; an output of the
  /// whole batch counts once per example. Returns 0 for an unknown name.
  double totalOf(const std::string &name) const;

  // In-place access for a search (runtime/memory/StepMemory.h).
  /// Returns an output, or null for an unknown name.
  void *memoryOf(const std::string &name) const;
  /// Returns how many places of an output come before those of an example.
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
  void fillWithNaN(const Program::Array &array);
  std::vector<int64_t> shapeOf(const Program::Array &array,
                               int64_t example) const;
  int64_t offsetOf(const Program::Array &array, int64_t example) const;
  Status placeInputs();
  void takeParameter(const Program::Array &array, const std::byte *bytes);
  HostView view(const Program::Array &array, int64_t begin,
                int64_t bytes) const;
  Status write(const Program::Array &array, int64_t example,
               const std::vector<double> &values);
  bool isInside(const Program::Array &array, int64_t example,
                const std::vector<int64_t> &indices) const;

  const Program &program;
  int64_t batch = 0;
  std::vector<int64_t> slots;
  Tables tables;
  /// With a device: the tables, and the data of the examples.
  InputBlock inputs;
  std::map<int, size_t> inputParts; // by slot
  /// What the host reads of a run, if it has been copied already.
  OutputBlock outputs;
  Arena arena;
  std::vector<Arena> apart;
  int64_t numBytes = 0;
  int64_t step = 0;          // for debugging
  std::optional<Arena> kept; // what is packed
  std::map<int, int64_t> packedPlaces;
};

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MEMORY_WORKSPACE_H
