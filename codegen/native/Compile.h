//===- Compile.h - kernel modules become objects --------------*- C++ -*-===//
//
// The whole path from a kernel module to an object in memory, shared by the JIT
// and ahead-of-time compilation.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_NATIVE_COMPILE_H
#define FOVEA_CODEGEN_NATIVE_COMPILE_H

#include "codegen/native/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <vector>

namespace fovea::codegen {

class ObjectCache;

struct CompileOptions {
  /// LLVM's IR pipeline and its code generator: 0..3. A module with `hostName`
  /// (Split.h) has 0.
  unsigned optimisation = 1;
  unsigned codegen = 2;
  /// How many modules are compiled at a time; 0 is one per CPU.
  unsigned threads = 0;
  /// The cache in which objects are looked up and stored.
  std::shared_ptr<ObjectCache> cache;
};

/// Compiles each module to an object, in order. The modules share one context
/// and are consumed. The bytes of an object depend only on its module's text,
/// the target and the levels. A module whose text is in the cache is neither
/// lowered nor translated. The error's message has the diagnostics in the order
/// of the modules.
llvm::Expected<std::vector<std::unique_ptr<llvm::MemoryBuffer>>>
compileObjects(std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules,
               const Target &target, const CompileOptions &options = {});

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_NATIVE_COMPILE_H
