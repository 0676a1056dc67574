//===- Interpreter.h - what a schedule of launches gives --------*- C++ -*-===//
//
// Executes a `launch.program`, with the equations of the `attn.program` that it
// is the schedule of, on a batch. It evaluates bodies as the interpreter of
// `attn` does (dialect/reference), so the results have the same bits. What
// differs is where elements come from: the memories that the runs name.
//
// * Undefined values propagate, and fail where an index, a condition or an
//   output depends on them. Undefined are: a memory after its allocation and at
//   the start of its step, a run's outputs before it writes them, a workspace
//   at the start of each unit, and padding.
// * Units, elements, and the runs of a turn are done in random order. A unit
//   must not read what another unit of the run writes.
// * Runs read and write only the memories that they name, inside their bounds
//   and in their live range. They write their results once and as a whole.
//
// Every violation is a Status with the run and its equation.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_LAUNCH_REFERENCE_INTERPRETER_H
#define FOVEA_DIALECT_LAUNCH_REFERENCE_INTERPRETER_H

#include "dialect/launch/LaunchDialect.h"
#include "dialect/reference/Interpreter.h"

namespace fovea::launch {

/// What a run has left in memory.
struct Written {
  MemoryOp memory;
  /// The example, and its number among the rows of the memory.
  size_t example = 0, row = 0;
  int64_t offset = 0;
  double value = 0;
};

struct InterpretOptions {
  /// Of the random order.
  uint64_t order = 0;
  /// Called after each run, with the elements that it has written and that are
  /// defined.
  std::function<void(RunOp, llvm::ArrayRef<Written>)> onRun;
};

/// Interprets a schedule; `outputs` are those of each example.
runtime::Status interpret(ProgramOp schedule, attn::ProgramOp program,
                          llvm::ArrayRef<reference::Inputs> inputs,
                          const InterpretOptions &options,
                          std::vector<reference::Arrays> &outputs);

/// The outputs, added up over the examples where a batch does not have them
/// once.
reference::Arrays sumsOf(attn::ProgramOp program,
                         const std::vector<reference::Arrays> &outputs);

/// Compares the outputs of a schedule with what the interpreter of programs
/// gives: they have the same bits.
runtime::Status
compareWithProgram(attn::ProgramOp program,
                   llvm::ArrayRef<reference::Inputs> inputs,
                   const std::vector<reference::Arrays> &outputs);

/// Whether each example has an array of its own.
bool isPerExample(mlir::Value array);

/// `'compute' of op 8, 's'`: a run for people.
std::string textOf(RunOp run);

} // namespace fovea::launch

#endif // FOVEA_DIALECT_LAUNCH_REFERENCE_INTERPRETER_H
