//===- Orders.h - reductions in f32, in their order ------------*- C++ -*-===//
//
// How compiled code combines the terms of a reduction (docs/IR.md, "Orders"),
// written a second time.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_ORDERS_H
#define FOVEA_DIALECT_REFERENCE_ORDERS_H

#include "dialect/AttnForward.h"
#include "dialect/reference/Trees.h"

namespace fovea::reference {

/// A number, or two whose product is added with one rounding.
struct Term {
  float value, factor;
  /// Which partial result it belongs to.
  unsigned lane;
  /// Its row-major number: what argmax gives.
  int64_t place;
  /// Of value and factor, where they are kept.
  Tree tree = 0, factorTree = 0;
};

/// The order of a reduction.
struct Order {
  bool inLanes; // 16 partial results, or one chain
  bool fused;
  /// Factors are rounded to bf16, and sums near zero become zero.
  bool rounded = false;
};

/// The terms combined by a reducer that gives one number.
Traced reduceSingle(attn::Reducer reducer, Order order,
                    llvm::ArrayRef<Term> terms, Arithmetic in);

/// The row of a softmax or log_softmax, one number for each of its terms.
std::vector<Traced> normaliseSingle(bool isLog, Order order,
                                    llvm::ArrayRef<Term> terms, Arithmetic in);

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_ORDERS_H
