//===- Memory.h - the elements of memories, and who uses them ---*- C++ -*-===//
//
// Each element has a value, whether it is defined, and who has written and read
// it last. From that follows what two units of a launch must not do.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_LAUNCH_REFERENCE_MEMORY_H
#define FOVEA_DIALECT_LAUNCH_REFERENCE_MEMORY_H

#include "dialect/launch/LaunchDialect.h"
#include "dialect/reference/Code.h"

namespace fovea::launch {

using runtime::Status;

/// Who touches an element: a unit of a launch, while it computes an element of
/// a member of its kernel.
struct Stamp {
  int64_t launch = -1; // nobody
  int64_t unit = 0, element = 0;
  int32_t member = 0;
};

/// What an example has of a memory, or a batch once; or a workspace.
struct Cells {
  std::vector<double> values;
  std::vector<uint8_t> defined;
  /// How the values were computed, if that is kept; one for each, or none.
  std::vector<reference::Tree> trees;
  // As long as the others once a launch writes them.
  std::vector<Stamp> writers, readers;

  explicit Cells(int64_t size = 0) : values(size), defined(size) {}
  int64_t size() const { return static_cast<int64_t>(values.size()); }
  reference::Traced at(int64_t offset) const {
    return {values[offset], trees.empty() ? 0 : trees[offset]};
  }
  void set(int64_t offset, reference::Traced number) {
    values[offset] = number.value;
    if (number.tree && trees.empty())
      trees.resize(values.size());
    if (!trees.empty())
      trees[offset] = number.tree;
  }
};

/// A memory of the schedule, from its allocation to its end.
struct MemoryState {
  /// How the present launch uses it.
  enum Use { None, Read, Write, Update, Scratch };

  MemoryOp op;
  std::vector<Cells> rows; // one for each example, or one
  bool isAlive = false;
  Use use = None;

  Scope scope() const { return MemoryOp(op).getScope(); }
  std::string name() const { return MemoryOp(op).getName().str(); }
  Cells &of(size_t example) {
    return rows[scope() == Scope::each ? example : 0];
  }
};

/// The location of an array: elements of a memory from `base` on, or of a
/// workspace.
struct Site {
  Cells *cells = nullptr;
  MemoryState *memory = nullptr; // null: a workspace
  size_t example = 0;
  int64_t base = 0;
  std::vector<int64_t> shape;
  /// Not empty: the array has no elements here, and why.
  std::string problem;

  int64_t count() const {
    int64_t product = 1;
    for (int64_t extent : shape)
      product *= extent;
    return product;
  }
};

/// An element that a launch has written.
struct WrittenElement {
  MemoryState *memory;
  size_t example;
  int64_t offset;
};

/// Checks the reads and writes of launches.
class Accesses {
public:
  using State = reference::ElementSource::State;

  /// A launch within a phase of a persistent loop; -1: none. The blocks of
  /// `byExample` are those of the examples.
  struct Phase {
    int64_t number = -1, turn = 0;
    bool byExample = false;
  };

  void begin(RunOp run, Phase phase);
  /// Who makes the next accesses.
  void enter(int64_t unit, int32_t member = 0, int64_t element = 0) {
    now.unit = unit;
    now.member = member;
    now.element = element;
  }
  void setElement(int64_t element) { now.element = element; }

  State read(const Site &site, int64_t offset, reference::Traced &number,
             Status &error);
  Status write(const Site &site, int64_t offset, reference::Traced number,
               bool isDefined);

  /// How many elements of these cells the present launch has written.
  int64_t writtenIn(const Cells &cells) const { return written.lookup(&cells); }
  llvm::ArrayRef<WrittenElement> elements() const { return changes; }
  int64_t numLaunches() const { return static_cast<int64_t>(launches.size()); }

private:
  struct Launch {
    RunOp run;
    Phase phase;
  };
  bool isAfter(const Stamp &earlier) const;
  Status conflict(const Site &site, int64_t at, const char *what,
                  const Stamp &other) const;
  Status checkRead(const Site &site, int64_t at);
  Status checkWrite(const Site &site, int64_t at);

  Stamp now;
  std::vector<Launch> launches;
  llvm::DenseMap<const Cells *, int64_t> written;
  std::vector<WrittenElement> changes;
};

/// `element 3 of 's' of example 1`.
std::string elementText(const Site &site, int64_t at);

} // namespace fovea::launch

#endif // FOVEA_DIALECT_LAUNCH_REFERENCE_MEMORY_H
