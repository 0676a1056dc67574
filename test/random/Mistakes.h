//===- Mistakes.h - mistakes that a check has to find -----------*- C++ -*-===//

#ifndef FOVEA_TEST_RANDOM_MISTAKES_H
#define FOVEA_TEST_RANDOM_MISTAKES_H

#include "mlir/IR/Operation.h"
#include "runtime/ThreadPool.h"

namespace fovea::random {

/// Makes one sum of the program a difference, or a difference or a product a
/// sum: another one for each `number`.
void plantMistake(mlir::Operation *program, size_t number);

/// Hands launches to threads, and leaves out the one after `number` others.
decltype(&fovea_parallel) leavingOut(int64_t number);
/// Whether there were so many launches since.
bool wasLeftOut();

} // namespace fovea::random

#endif // FOVEA_TEST_RANDOM_MISTAKES_H
