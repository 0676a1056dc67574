//===- Access.h - what an op reads, index by index ------------------------===//
//
// The one analysis that scheduling, derivation and differentiation share: for
// each array that an op reads, how each index of the read depends on the op's
// own indices, and under which conditions.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_PASSES_ANALYSIS_ACCESS_H
#define FOVEA_PASSES_ANALYSIS_ACCESS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// One index of a read.
struct AccessIndex {
  enum Kind {
    Iterator, // index number `iterator` of the op, plus `offset`
    Constant, // `offset`
    End,      // the length `length`, plus `offset`
    Outer,    // `value` (the index of an enclosing loop), plus `offset`
    Computed, // anything else
  } kind = Computed;
  unsigned iterator = 0;
  int64_t offset = 0;
  mlir::StringAttr length;
  mlir::Value value;
  /// The index as computed; null if no compute reads.
  mlir::Value expression;
};

/// A condition that holds at every access: index(lhs) <= index(rhs) + offset,
/// both indices of the op.
struct Guard {
  unsigned lhs, rhs;
  int64_t offset;
};

struct Access {
  mlir::Operation *reader; // the op whose indices are meant
  mlir::Operation *read;   // the attn.read, or the reader itself
  mlir::Value array;
  llvm::SmallVector<AccessIndex> indices; // one per axis of the array
  /// For an alternative of a read: the places that lead to it; null otherwise.
  mlir::ArrayAttr places = {};

  /// The result of scheduling: the distance of axis `axis` from index `time`.
  struct Known {
    unsigned time, axis;
    int64_t min, max;
  };
  mutable llvm::SmallVector<Known, 0> distances = {};
};

/// The number of indices of an op: those of a compute, the axes of the result
/// of any other op.
unsigned numIndices(mlir::Operation *op);

/// Every array that `op` reads, alternatives of reads included. The axes of a
/// concat, a reshape (the kept ones; the others are Computed), an append and a
/// choice are read one to one.
llvm::SmallVector<Access> accessesOf(mlir::Operation *op);

/// Every array that the op or a nested op uses, with its user.
void forArrays(
    mlir::Operation &op,
    llvm::function_ref<void(mlir::Operation *user, mlir::Value array)> visit);

/// Returns the array that `array` is a view of, or itself.
mlir::Value throughViews(mlir::Value array);

/// Returns the name of a kernel's result inside the kernel; any other array
/// itself.
mlir::Value insideKernel(mlir::Value array);

/// Returns whether a length of `model`, a system or a program, differs between
/// the places of an example, directly or through another length.
bool variesInside(mlir::Attribute extent, mlir::Operation *model);

/// Returns the extent as a number, or nothing for a length.
std::optional<int64_t> numberOf(mlir::Attribute extent);

/// Returns whether every index of `op` except `except` starts at 0.
bool startsAtZero(ComputeOp op, std::optional<unsigned> except = {});

/// `user` as a read of `array` that has no alternatives; null otherwise.
ReadOp plainRead(mlir::Operation *user, mlir::Value array);

/// The index facts in the condition of a compute.
llvm::SmallVector<Guard> guardsOf(ComputeOp op);

/// The same for any condition inside the compute `op`, where it holds. Complete
/// for a comparison of two indices, except `ne`.
llvm::SmallVector<Guard> guardsOf(mlir::Value condition, ComputeOp op);

/// The conditions that hold exactly where `condition` does.
llvm::SmallVector<mlir::Value> conjunctsOf(mlir::Value condition);

/// Returns whether `condition`, inside the compute `op`, provably holds
/// wherever all of `known` do, by comparisons of indices.
bool follows(mlir::Value condition, ComputeOp op, llvm::ArrayRef<Guard> known);

/// `value` of type index as one AccessIndex of the compute `op`.
AccessIndex classify(mlir::Value value, ComputeOp op);

/// Returns whether `index` is always inside an axis of `extent` that `op` reads
/// there. The condition of `op` need not hold.
bool staysInside(const AccessIndex &index, mlir::Attribute extent,
                 ComputeOp op);

/// A condition `index == value` that holds for every relevant element.
struct Equality {
  unsigned index;
  mlir::Value value;
};

/// The equalities in the condition of `op` that determine one of its indices
/// from the others.
llvm::SmallVector<Equality> equalitiesOf(ComputeOp op);

/// Returns the parallel index that a sum's condition determines from the sum's
/// indices, if any: `sum[t where token[t] == w](d[t])`. Such a sum is computed
/// term by term, each added at its place. The last index, along which elements
/// are neighbours, qualifies only for a vector that a batch has once.
std::optional<Equality> scatteredBy(ComputeOp op);

} // namespace fovea::attn

#endif // FOVEA_PASSES_ANALYSIS_ACCESS_H
