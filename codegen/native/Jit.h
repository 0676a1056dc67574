//===- Jit.h - kernel modules run in this process -------------*- C++ -*-===//
//
// Compiles kernel modules and links them into memory. Kernels can call only the
// functions that the options name.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_NATIVE_JIT_H
#define FOVEA_CODEGEN_NATIVE_JIT_H

#include "codegen/native/Compile.h"
#include "codegen/native/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace fovea::codegen {

struct JitOptions {
  CompileOptions compile;
  /// The functions that kernels may call, beside memcpy, memmove, memset and
  /// fmod, which LLVM itself uses.
  std::vector<std::pair<std::string, void *>> symbols;
  /// Allows kernels to call libm (expf, tanh, ..): a reference for tests.
  bool libm = false;
  /// Writes /tmp/perf-PID.map, so that `perf report` names kernels.
  bool perf = false;
};

class Jit {
public:
  /// Fails if this CPU cannot run the target's code.
  static llvm::Expected<std::unique_ptr<Jit>> create(const Target &target,
                                                     JitOptions options = {});
  ~Jit();

  /// Compiles modules and publishes their functions. Modules may call each
  /// other's public functions, also those of a later `add`. The names are kept.
  llvm::Error add(std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules);
  llvm::Error add(mlir::OwningOpRef<mlir::ModuleOp> module);

  /// Publishes the functions of an already compiled object.
  llvm::Error add(std::unique_ptr<llvm::MemoryBuffer> object);

  /// Returns the address of a function, and links what it needs. Valid as long
  /// as the Jit. Fails if a callee is unknown.
  llvm::Expected<void *> lookup(llvm::StringRef name);

  const Target &target() const { return compiledFor; }

private:
  Jit(const Target &target, JitOptions options);

  Target compiledFor;
  JitOptions options;
  std::vector<std::string> reports;
  std::unique_ptr<llvm::orc::LLJIT> session;
};

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_NATIVE_JIT_H
