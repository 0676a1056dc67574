//===- KernelGroups.h - runs that launch one kernel -------------*- C++ -*-===//

#ifndef FOVEA_CODEGEN_PROGRAM_KERNELGROUPS_H
#define FOVEA_CODEGEN_PROGRAM_KERNELGROUPS_H

#include "codegen/program/KernelKeys.h"
#include "llvm/ADT/SmallBitVector.h"

namespace fovea::codegen {

/// Finds the runs that launch one kernel, and the places that they give to it.
class KernelGroups {
public:
  KernelGroups(launch::ProgramOp schedule,
               llvm::ArrayRef<mlir::Operation *> ops,
               attn::StorageMap &storage);

  /// The number of the group of a run that shares its kernel.
  std::optional<size_t> groupOf(mlir::Operation *run) const {
    auto found = numbers.find(run);
    return found == numbers.end() ? std::nullopt : std::optional(found->second);
  }
  /// Gives each run the places in which it differs from its group.
  void givePlaces();

private:
  bool spread(llvm::MutableArrayRef<launch::RunOp> group);

  launch::ProgramOp schedule;
  attn::StorageMap &storage;
  llvm::DenseMap<int64_t, llvm::SmallVector<ConstantPlace>>
      places; // of each op
  llvm::DenseMap<int64_t, llvm::SmallBitVector> given;
  llvm::SmallVector<llvm::SmallVector<launch::RunOp>> groups;
  llvm::DenseMap<mlir::Operation *, size_t> numbers;
};

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_PROGRAM_KERNELGROUPS_H
