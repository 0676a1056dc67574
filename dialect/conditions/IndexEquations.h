//===- IndexEquations.h - solves the positions of a read ------------------===//
//
// A read A[e(I)] visits place p of A for the indices I with e(I) = p. Solves
// these equations for as many indices as possible, by elimination. 2*i + j = p
// gives i = (p - j) / 2 if there is no remainder. For an array of n places, (i
// - j) mod n = p gives i = (p + j) mod n. Unsolved equations remain as
// conditions. Independent of derivatives.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_CONDITIONS_INDEXEQUATIONS_H
#define FOVEA_DIALECT_CONDITIONS_INDEXEQUATIONS_H

#include "dialect/AttnDialect.h"

namespace fovea::attn {

/// The symbols of a linear index form.
struct IndexSymbol {
  enum Kind {
    Iterator, // index `number` of the op
    Axis,     // the place along axis `number` of the array that is read
    Length,   // the value of a length that is not nested
  } kind;
  unsigned number = 0;
  mlir::StringAttr length;

  bool operator==(const IndexSymbol &other) const {
    return kind == other.kind && number == other.number &&
           length == other.length;
  }
};

/// A sum of symbols with integer factors, plus a constant.
struct LinearIndex {
  llvm::SmallVector<std::pair<IndexSymbol, int64_t>, 2> terms;
  int64_t constant = 0;

  static LinearIndex of(IndexSymbol symbol) {
    LinearIndex form;
    form.terms.push_back({symbol, 1});
    return form;
  }
  static LinearIndex of(int64_t constant) {
    LinearIndex form;
    form.constant = constant;
    return form;
  }
  /// Adds `factor` times another form.
  void add(const LinearIndex &other, int64_t factor);
  void scale(int64_t factor);
  int64_t factorOf(IndexSymbol symbol) const;
  /// Substitutes `value` for `symbol`.
  void substitute(IndexSymbol symbol, const LinearIndex &value);
  bool isConstant() const { return terms.empty(); }
};

/// dividend / divisor, if there is no remainder. The divisor is positive.
struct IndexQuotient {
  LinearIndex dividend;
  int64_t divisor = 1;
  /// An extent: the value is the remainder of the dividend by it. The divisor
  /// is then 1.
  mlir::Attribute modulus = {};

  /// Returns whether it is a single symbol.
  bool is(IndexSymbol symbol) const {
    return divisor == 1 && !modulus && dividend.constant == 0 &&
           dividend.terms.size() == 1 && dividend.factorOf(symbol) == 1;
  }
};

/// `value`, an index inside a region of `op`, as a linear form of the op's
/// indices and of lengths; nothing when it is not one.
std::optional<LinearIndex> linearIndex(mlir::Value value, ComputeOp op);

/// An extent as a value: a number, or a length, at its parent's index if it is
/// nested.
mlir::Value extentValue(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Attribute extent, mlir::Value parent);

/// The lengths declared by the system around an op.
class Lengths {
public:
  /// Of a system or program, or of the one around another op.
  explicit Lengths(mlir::Operation *op);
  /// The parent of a nested extent; null for any other extent.
  mlir::StringAttr parentOf(mlir::Attribute extent);
  /// An extent that is not nested, as a form of numbers and free lengths.
  std::optional<LinearIndex> formOf(mlir::Attribute extent);
  /// The position of the parent of index `i` in a list of extents: the last
  /// earlier index that runs over the parent.
  std::optional<unsigned> parentIndex(llvm::ArrayRef<mlir::Attribute> extents,
                                      unsigned i);

private:
  LengthOp find(mlir::StringAttr name);

  mlir::Operation *system;
  llvm::DenseMap<mlir::StringAttr, LengthOp> known;
};

/// e(I) = place, for one axis of a read: `index` is the value of e.
struct IndexEquation {
  mlir::Value index;
  LinearIndex place;
};

/// The indices of `op` that equations determine, and the remaining conditions.
struct IndexSolution {
  /// One per index of the op: its value from the axes of the target, lengths
  /// and undetermined indices. A place with a remainder in a quotient does not
  /// contribute.
  llvm::SmallVector<std::optional<IndexQuotient>> determined;
  /// Lower bounds for the axes of the target.
  llvm::SmallVector<int64_t> lower;
  /// The indices of the op whose upper bound must be checked, and those whose
  /// lower bound must be.
  llvm::SmallVector<unsigned> checkUpper, checkLower;
  /// Forms that must be zero.
  llvm::SmallVector<LinearIndex> zero;
  /// Equations whose left side is not linear.
  llvm::SmallVector<IndexEquation> computed;
};

/// Solves `equations` for the indices of `op`; `axes` are the extents of the
/// array whose places are the symbols `Axis`.
IndexSolution solveIndices(ComputeOp op,
                           llvm::ArrayRef<IndexEquation> equations,
                           llvm::ArrayRef<mlir::Attribute> axes,
                           Lengths &lengths);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_CONDITIONS_INDEXEQUATIONS_H
