//===- Orders.h - reductions in f32, in their order ------------*- C++ -*-===//
//
// How compiled code combines the terms of a reduction (docs/IR.md, "Orders"),
// written a second time.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_DIALECT_REFERENCE_ORDERS_H
#define FOVEA_DIALECT_REFERENCE_ORDERS_H

#include "dialect/AttnDialect.h"

namespace fovea::reference {

/// A number, or two whose product is added with one rounding.
struct Term {
  float value, factor;
  /// Which partial result it belongs to.
  unsigned lane;
  /// Its row-major number: what argmax gives.
  int64_t place;
};

/// The order of a reduction.
struct Order {
  bool inLanes; // 16 partial results, or one chain
  bool fused;
};

/// The terms combined by a reducer that gives one number.
double reduceSingle(attn::Reducer reducer, Order order,
                    llvm::ArrayRef<Term> terms);

/// The row of a softmax or log_softmax, one number for each of its terms.
std::vector<double> normaliseSingle(bool isLog, Order order,
                                    llvm::ArrayRef<Term> terms);

} // namespace fovea::reference

#endif // FOVEA_DIALECT_REFERENCE_ORDERS_H
