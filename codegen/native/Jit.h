//===- Jit.h - kernel modules run in this process -------------*- C++ -*-===//
//
// Compiles kernel modules and links them into memory. Kernels call what the
// options name and nothing else of the process.
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
  /// What kernels may call, beside memcpy, memmove, memset and fmod, which
  /// LLVM itself makes use of.
  std::vector<std::pair<std::string, void *>> symbols;
  /// Lets kernels call libm (expf, tanh, ..): a yardstick for tests.
  bool libm = false;
  /// Writes /tmp/perf-PID.map, so that `perf report` names kernels.
  bool perf = false;
};

class Jit {
public:
  /// Fails where this CPU cannot run the target's code.
  static llvm::Expected<std::unique_ptr<Jit>> create(const Target &target,
                                                     JitOptions options = {});
  ~Jit();

  /// Compiles modules and makes their functions known. Modules may call each
  /// other's public functions, also of a later `add`. The names are kept.
  llvm::Error add(std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules);
  llvm::Error add(mlir::OwningOpRef<mlir::ModuleOp> module);

  /// Makes the functions of an object that is compiled already known.
  llvm::Error add(std::unique_ptr<llvm::MemoryBuffer> object);

  /// The address of a function, linking what it needs. Valid as long as the
  /// Jit. Fails where a function called on the way is unknown.
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
