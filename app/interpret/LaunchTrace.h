//===- LaunchTrace.h - what each launch of a program leaves -----*- C++ -*-===//
//
// The numbers that the interpreter of launches writes, run by run, and how
// compiled code compares with them. Both refer to the frame of the program.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_APP_INTERPRET_LAUNCHTRACE_H
#define FOVEA_APP_INTERPRET_LAUNCHTRACE_H

#include "dialect/launch-reference/Interpreter.h"
#include "runtime/Program.h"
#include "runtime/ThreadPool.h"

namespace fovea::cli {

/// The numbers in a frame (runtime/Program.h).
class ProgramFrame {
public:
  /// `program` outlives it.
  ProgramFrame(const runtime::Program &program, void *frame);

  const void *address() const { return slots; }
  size_t numRows() const { return slots[runtime::Program::batchSlot]; }

  /// What the program reads, row by row; `parameters` gets what all rows have,
  /// and outlives the inputs.
  std::vector<reference::Inputs> inputs(reference::Arrays &parameters) const;

  /// An element of the array at `slot`, of an example: if examples have an
  /// element each, the one of `row`.
  struct Element {
    int slot = 0;
    size_t example = 0, row = 0;
    int64_t offset = 0;
    double value = 0; // what the interpreter has there
  };
  double read(const Element &element) const;
  /// Writes an element of an input: a row that the program appends.
  void append(const Element &element);
  /// Writes inputs of a row that the program has appended to.
  void grow(size_t row, const reference::Arrays &grown);
  /// Writes the outputs of a row.
  void store(size_t row, const reference::Arrays &outputs);
  void clearOutputs();

private:
  const int64_t *table(int slot) const {
    return reinterpret_cast<const int64_t *>(slots[slot]);
  }
  const runtime::Program::Array &arrayAt(int slot) const;
  std::byte *place(const runtime::Program::Array &array, size_t example,
                   size_t row) const;
  reference::Array valueOf(const runtime::Program::Array &array,
                           size_t row) const;
  reference::Length lengthOf(const runtime::Program::Length &length,
                             size_t row) const;

  const runtime::Program &program;
  int64_t *slots;
  llvm::DenseMap<int, const runtime::Program::Array *> arrays; // by slot
};

class LaunchTrace {
public:
  /// For launch::InterpretOptions.
  void add(launch::RunOp run, llvm::ArrayRef<launch::Written> written);

  /// Writes the inputs as the launches leave them.
  void append(ProgramFrame &frame) const;

  /// Runs `code`, which hands its kernels to `LaunchTrace::parallel` or to the
  /// device, and compares what each launch leaves: the error is the first that
  /// leaves other numbers. Of a loop that is one launch, what it leaves at its
  /// end is compared. `parallel` runs the launches of a CPU.
  runtime::Status compare(const ProgramFrame &frame,
                          decltype(&fovea_parallel) parallel,
                          llvm::function_ref<void()> code);
  /// Call it before programs get memory: the host reads it between launches.
  static void shareMemory();
  static void parallel(FoveaPool *pool, FoveaWork work, void *frame,
                       int64_t units, int64_t atOnce);

private:
  friend class WatchedDevice;
  struct Launch {
    std::string text, place;
    std::vector<ProgramFrame::Element> elements;
    launch::PersistentOp loop; // that it is part of
  };
  /// After a launch, and after a loop. `isDone`: the launches of the loop do
  /// not follow.
  void compareNext();
  void compareLoop(bool isEmpty, bool isDone);
  void compareEnd();
  bool isRight(const Launch &launch, const ProgramFrame::Element &element);

  std::vector<Launch> launches;
  std::map<int, std::string> names; // of memories, by slot
  size_t next = 0;
  /// The launches of a loop that are compared together, and how many of them
  /// come one by one.
  size_t endOfLoop = 0, numAhead = 0;
  const ProgramFrame *frame = nullptr;
  decltype(&fovea_parallel) launch = nullptr;
  runtime::Status difference = runtime::Status::success();
};

} // namespace fovea::cli

#endif // FOVEA_APP_INTERPRET_LAUNCHTRACE_H
