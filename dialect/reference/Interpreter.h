//===- Interpreter.h - what a model means, in plain loops -----------------===//
//
// Evaluates an `attn.system` or an `attn.program` for one example, in float64.
// It is the oracle for everything else: slow on purpose, and it shares no code
// with the passes that it checks.
//
// A system is evaluated on demand, element by element: a missing element is
// computed first, and an element that needs itself is an error. A program is
// evaluated in order, whole arrays at a time.
//
// Every error in the inputs, and every read out of bounds, is a Status.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_INTERPRETER_H
#define FOVEA_DIALECT_REFERENCE_INTERPRETER_H

#include "dialect/AttnForward.h"
#include "dialect/reference/Array.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/data/Batch.h"

namespace fovea::reference {

using runtime::Status;

/// A length of the example: one number, or, if it is nested, one number for
/// each index of its parent.
using Length = runtime::LengthValues;

/// The inputs of one evaluation.
struct Inputs {
  /// By path. Owned by the caller; null if the model has none.
  const Arrays *parameters = nullptr;
  /// By name; also `seed.nll` and `seed.penalty` of a gradient (scalars).
  Arrays data;
  /// By name. A missing free length comes from the data with that axis; a
  /// nested length must be present. In a part of a decoder the length that the
  /// search finds is the number of steps so far.
  std::map<std::string, Length> lengths;
  /// Without a seed dropout is the identity, and samples use a default
  /// seed.
  std::optional<uint64_t> seed;
  /// Which of the seeds that are for that.
  uint64_t draws = 0;
  uint64_t update = 0;
  uint64_t example = 0;
  /// In a part of a decoder: the number of the step, and the index of a loop
  /// inside it.
  int64_t step = 0, inside = 0;
  /// Executes in f32, in the orders and with the roundings and functions that
  /// docs/CODEGEN.md states: compiled code has these bits.
  bool single = false;
  /// In f32: keeps how each number was computed (Trees.h). Owned by the caller.
  Trees *trees = nullptr;
};

struct EvaluateOptions {
  /// Names of `attn.equation` to return besides every `attn.output`.
  std::vector<std::string> equations;
  bool everyEquation = false;
  /// Returns `nll`, `logp`, `choices` and `penalty` of the observed
  /// `attn.choice`s and the `attn.penalty`s: what attn-derive-objective has to
  /// agree with.
  bool objective = false;
  /// For a program: draws, from this seed, an error for each operation on real
  /// numbers, as large as code in single precision may make (Rounding.h).
  std::optional<uint64_t> rounding;
};

/// Evaluates `container`, an attn.system or an attn.program, and returns the
/// arrays of its outputs. An output has the extents of this example. A choice
/// with a result takes the mode of its distribution, element by element; a
/// program with an `attn.search` is for `decode` (Search.h).
Status evaluate(mlir::Operation *container, const Inputs &inputs,
                Arrays &outputs, const EvaluateOptions &options = {});

/// Evaluates a program past attn-batch for the examples of a batch, with the
/// sums over them that compiled code computes. The first function gives the
/// outputs of each example; the second adds them up over the examples, where a
/// batch does not have them once. `grown` gets the data of each example that
/// the program appends a row to in place, by name.
Status evaluateEach(mlir::Operation *program, llvm::ArrayRef<Inputs> inputs,
                    std::vector<Arrays> &outputs,
                    std::vector<Arrays> *grown = nullptr);
Status evaluateTogether(mlir::Operation *program, llvm::ArrayRef<Inputs> inputs,
                        Arrays &sums);

/// The container `@name` of a module, or null.
mlir::Operation *findContainer(mlir::ModuleOp module, llvm::StringRef name);

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_INTERPRETER_H
