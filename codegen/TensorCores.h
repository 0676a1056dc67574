//===- TensorCores.h - how tensor cores of GPUs add -------------*- C++ -*-===//
//
// `--precision bf16:sm_90` names a GPU by its architecture. All machines then
// have the sums of its tensor cores.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_TENSORCORES_H
#define FOVEA_CODEGEN_TENSORCORES_H

#include "dialect/GroupedSums.h"
#include "llvm/ADT/ArrayRef.h"

namespace fovea::codegen {

struct TensorCore {
  /// Of the architecture, and of the target with its code.
  llvm::StringLiteral name, target;
  /// The compute capability of the GPU.
  int major, minor;
  attn::GroupedSums sums;
};

llvm::ArrayRef<TensorCore> tensorCores();
/// Returns null if the architecture is unknown.
const TensorCore *findTensorCore(llvm::StringRef name);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_TENSORCORES_H
