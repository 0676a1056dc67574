//===- KernelKeys.h - launches that have the same kernel --------*- C++ -*-===//
//
// Twelve layers have the same equations for other arrays. Their kernels differ
// in the frame slots of these arrays alone, so one kernel is emitted for all of
// them. A key has all that a kernel depends on, and the slots apart.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_PROGRAM_KERNELKEYS_H
#define FOVEA_CODEGEN_PROGRAM_KERNELKEYS_H

#include "dialect/launch/LaunchDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/memory/Storage.h"

namespace fovea::codegen {

/// What the kernel of a run depends on. Runs with equal words have the same
/// kernel, once the slots of one replace those of the other.
struct KernelKey {
  std::vector<uint64_t> words;
  /// The frame slots that differ, each once, in the order of the words.
  llvm::SmallVector<int64_t> slots;
};

/// The key of a run, whose op is `op`; nothing for a run in a loop, whose
/// kernel depends on what is around it.
std::optional<KernelKey> keyOf(launch::RunOp run, mlir::Operation *op,
                               const attn::StorageMap &storage);

/// The kernels of one function so far, by their keys.
class KernelTable {
public:
  /// A kernel that was emitted for a run with this key, and the frame slots
  /// that it reads, in the order of its list.
  struct Known {
    KernelKey key;
    mlir::func::FuncOp kernel;
    llvm::SmallVector<int64_t> reads;

    /// What the kernel reads for a run with an equal key.
    llvm::SmallVector<int64_t> readsFor(const KernelKey &other) const;
  };

  /// Null if there is none with such words.
  const Known *find(const KernelKey &key) const;
  void add(Known known);
  void clear() { table.clear(); }

private:
  llvm::DenseMap<size_t, llvm::SmallVector<Known, 1>> table;
};

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_PROGRAM_KERNELKEYS_H
