//===- Examples.h - which arrays differ between examples ------------------===//

#ifndef FOVEA_PASSES_ANALYSIS_EXAMPLES_H
#define FOVEA_PASSES_ANALYSIS_EXAMPLES_H

#include "dialect/AttnDialect.h"
#include "llvm/ADT/DenseSet.h"

namespace fovea::attn {

/// The arrays of a system that differ between the examples of a batch: data,
/// choices, samples, and everything that depends on them.
class Examples {
public:
  explicit Examples(SystemOp system);
  bool has(mlir::Value array) const { return found.contains(array); }
  /// `other` takes the place of `array`.
  void replace(mlir::Value array, mlir::Value other) {
    if (has(array))
      found.insert(other);
  }

private:
  llvm::DenseSet<mlir::Value> found;
};

} // namespace fovea::attn

#endif // FOVEA_PASSES_ANALYSIS_EXAMPLES_H
