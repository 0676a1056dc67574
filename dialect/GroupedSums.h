//===- GroupedSums.h - sums of products in groups of terms ------*- C++ -*-===//
//
// `attn.sums = array<i64: 16, 25, -133>` of an equation with `attn.precision =
// bf16` states the order and the rounding of its sum. Of a program or module it
// states them for all such equations. The numbers are those of `GroupedSums`.
//
// Terms are added in groups, from the first one on. The place of a number is
// the exponent of its leading digit, at least -126. The place of a product is
// the sum of the places of its factors. Each group is added to the sum so far:
//
// * Products are exact.
// * The sum and all products are cut off `digits` binary digits after the
//   largest place among them. A number that is 0 has the place `placeOfZero`.
// * What is left is added exactly, and cut off to f32.
//
// A term that a condition excludes is 0, and the last group is filled with
// zeros. In a sum over the examples, the terms of all examples are one
// sequence. If the product is within each example, its first term begins a
// group.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_GROUPEDSUMS_H
#define FOVEA_DIALECT_GROUPEDSUMS_H

#include "dialect/AttnForward.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace fovea::attn {

struct GroupedSums {
  /// The terms of a group, and the digits that it keeps.
  int64_t terms, digits;
  int64_t placeOfZero;

  bool operator==(const GroupedSums &) const = default;
};

/// The most terms of a group, and the most digits.
constexpr int64_t mostGroupTerms = 16, mostGroupDigits = 25;

/// Nothing: the sums of an equation are chains.
std::optional<GroupedSums> groupedSumsOf(mlir::Operation *op);
/// What the program, or its module, states for its equations.
std::optional<GroupedSums> allowedGroupedSums(ProgramOp program);
void setGroupedSums(mlir::Operation *op, const GroupedSums &sums);

/// Part of attribute verification, as in Precision.h.
mlir::LogicalResult verifyGroupedSums(mlir::Operation *op,
                                      mlir::NamedAttribute named);

} // namespace fovea::attn

#endif // FOVEA_DIALECT_GROUPEDSUMS_H
