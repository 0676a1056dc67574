//===- Mistakes.h - mistakes that a check has to find -----------*- C++ -*-===//

#ifndef FOVEA_TEST_RANDOM_MISTAKES_H
#define FOVEA_TEST_RANDOM_MISTAKES_H

#include "mlir/IR/Operation.h"

namespace fovea::random {

/// Makes one sum of the program a difference, or a difference or a product a
/// sum: another one for each `number`.
void plantMistake(mlir::Operation *program, size_t number);

} // namespace fovea::random

#endif // FOVEA_TEST_RANDOM_MISTAKES_H
