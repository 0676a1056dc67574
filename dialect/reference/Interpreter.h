//===- Interpreter.h - what a model means, in plain loops -----------------===//
//
// Evaluates an `attn.system` or an `attn.program` for one example, in float64.
// It is the oracle that everything else is compared with: slow on purpose, and
// it shares no code with the passes that it judges.
//
// A system is evaluated on demand, element by element: an element that is not
// there yet is computed first, and an element that needs itself is an error. A
// program is evaluated in order, whole arrays at a time.
//
// Everything wrong with the inputs, and a read out of bounds, is a Status.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_INTERPRETER_H
#define FOVEA_DIALECT_REFERENCE_INTERPRETER_H

#include "dialect/AttnDialect.h"
#include "dialect/reference/Array.h"
#include "runtime/data/Batch.h"

namespace fovea::reference {

using runtime::Status;

/// A length of the example: one number, or, when it is nested, one number for
/// each index of its parent.
using Length = runtime::LengthValues;

/// What one evaluation is given.
struct Inputs {
  /// By path. Owned by the caller; null when the model has none.
  const Arrays *parameters = nullptr;
  /// By name; also `seed.nll` and `seed.penalty` of a gradient (scalars).
  Arrays data;
  /// By name. A free length that is not here is taken from the data that has
  /// it as an axis; a nested length has to be here.
  std::map<std::string, Length> lengths;
  /// Without a seed dropout is the identity, and what is drawn is drawn from a
  /// seed of its own.
  std::optional<uint64_t> seed;
  /// Which of the seeds that are for that.
  uint64_t draws = 0;
  uint64_t update = 0;
  uint64_t example = 0;
};

struct EvaluateOptions {
  /// Names of `attn.equation` that are returned besides every `attn.output`.
  std::vector<std::string> equations;
  bool everyEquation = false;
  /// Returns `nll`, `logp`, `choices` and `penalty` of the observed
  /// `attn.choice`s and the `attn.penalty`s: what attn-derive-objective has to
  /// agree with.
  bool objective = false;
  /// Of a program: draws, from this seed, an error for each operation on real
  /// numbers, as large as code in single precision may make (Rounding.h).
  std::optional<uint64_t> rounding;
};

/// Evaluates `container`, an attn.system or an attn.program, and returns the
/// arrays of its outputs. An output has the extents of this example. A choice
/// with a result takes the mode of its distribution, each element for itself;
/// a program with an `attn.search` is for `decode` (Search.h).
Status evaluate(mlir::Operation *container, const Inputs &inputs,
                Arrays &outputs, const EvaluateOptions &options = {});

/// The container `@name` of a module, or null.
mlir::Operation *findContainer(mlir::ModuleOp module, llvm::StringRef name);

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_INTERPRETER_H
