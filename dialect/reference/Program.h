//===- Program.h - runs the ops of a program, one after another -----------===//

#ifndef FOVEA_DIALECT_REFERENCE_PROGRAM_H
#define FOVEA_DIALECT_REFERENCE_PROGRAM_H

#include "dialect/reference/Choices.h"
#include "dialect/reference/Code.h"

namespace fovea::reference {

using ArrayPtr = std::shared_ptr<const Array>;

/// The values at one point of a program. Copying it is cheap except for its
/// table.
struct Environment {
  LengthTable lengths;
  llvm::DenseMap<mlir::Value, ArrayPtr> arrays;
  llvm::DenseMap<mlir::Value, int64_t> indices; // of the loops around
  Arrays outputs;

  /// Takes the lengths of a program, and its steps.
  Status start(mlir::Operation *container, const Inputs &inputs);
  /// The index of the innermost of these loops over `extent`; 0 without one.
  int64_t loopIndex(llvm::StringRef extent) const;
};

/// Checks the caller's array for an attn.param or attn.data, and cuts nested
/// axes to their largest length.
Status takeInput(mlir::Operation *op, const Inputs &inputs,
                 const LengthTable &lengths, ArrayPtr &array);

/// Shared by all steps of an evaluation.
RandomPlace randomOf(const Inputs &inputs);

/// The row-major indices of element `offset`.
llvm::SmallVector<int64_t> indicesOf(int64_t offset,
                                     llvm::ArrayRef<int64_t> shape);

/// Executes the ops of a program, except attn.search.
class Machine {
public:
  Machine(mlir::Operation *container, const Inputs &inputs)
      : container(container), inputs(inputs) {}

  /// Called for a choice with a result: returns its whole array.
  std::function<Status(attn::ChoiceOp, Environment &, Array &)> onChoice;
  /// Equations whose arrays are outputs, too.
  std::function<bool(llvm::StringRef)> isWanted;
  /// If set, computes have such errors.
  std::optional<Rounding> rounding;

  Status start(Environment &environment);
  Status execute(mlir::Operation *op, Environment &environment);
  Status executeBlock(mlir::Block &block, Environment &environment);

  /// A computed array.
  ArrayPtr find(mlir::Value value, const Environment &environment) const;
  /// An extent of a loop as a number.
  int64_t extentOf(mlir::Attribute extent,
                   const Environment &environment) const;
  /// One scalar outside any compute.
  Status scalar(mlir::Value value, const Environment &environment,
                int64_t &result);
  /// Stacks the rows of a loop: row i at position places[i] of `axis`.
  Status stack(attn::ArrayType type, int64_t axis, int64_t extent,
               llvm::ArrayRef<ArrayPtr> rows, llvm::ArrayRef<int64_t> places,
               const Environment &environment, ArrayPtr &result) const;
  /// The distributions of a choice, one call of `take` per element.
  Status eachChoice(
      attn::ChoiceOp op, const Environment &environment,
      llvm::function_ref<Status(int64_t, const ChoiceDistribution &)> take);

  /// Executes a block that is past attn-batch for all examples, each with a
  /// machine of its own: what a batch has once, once, and the sums over the
  /// examples.
  static Status executeTogether(mlir::Block &block,
                                llvm::ArrayRef<std::unique_ptr<Machine>> batch,
                                llvm::MutableArrayRef<Environment> examples);

private:
  Status compute(attn::ComputeOp op, Environment &environment, Array &result);
  static Status sumExamples(attn::ComputeOp op,
                            llvm::ArrayRef<std::unique_ptr<Machine>> batch,
                            llvm::MutableArrayRef<Environment> examples);
  Status codeOf(attn::ComputeOp op, const Environment &environment,
                const Code *&code);
  Array concat(attn::ConcatOp op, const Environment &environment,
               Array result) const;
  Status append(attn::AppendOp op, Environment &environment, Array &result);
  Status scan(attn::ScanOp op, Environment &environment);
  void prepare(const Code &code, const Environment &environment,
               RunContext &context, std::vector<Slot> &registers) const;

  mlir::Operation *container;
  const Inputs &inputs;
  llvm::DenseMap<const void *, std::unique_ptr<Code>> codes;
};

/// Copies `part` into `whole` so that it starts at `position` of `axis`; the
/// other axes start at 0. Both have one rank, and the part fits.
void copyInto(Array &whole, int64_t axis, int64_t position, const Array &part);

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_PROGRAM_H
