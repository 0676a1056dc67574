//===- Emit.h - the LLVM dialect becomes machine code ---------*- C++ -*-===//
//
// Translation, optimisation, and output as LLVM IR, assembly or an object. Each
// function serves one thread at a time; several threads need their own
// LLVMContext and TargetMachine.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_NATIVE_EMIT_H
#define FOVEA_CODEGEN_NATIVE_EMIT_H

#include "codegen/native/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace fovea::codegen {

/// Translates a module that lowerToLLVM made. Every function is marked with
/// the target's CPU and vector width, and as one that does not throw. Fails
/// with a diagnostic and null.
std::unique_ptr<llvm::Module> translateToLLVM(mlir::ModuleOp module,
                                              llvm::LLVMContext &context,
                                              llvm::TargetMachine &machine,
                                              const Target &target);

/// Lets the CPU check returns, and jumps through pointers, in the code of a
/// module (CET, BTI). Older CPUs execute the same code without checks.
void protectControlFlow(llvm::Module &module);

/// Runs LLVM's pipeline of a level (0..3) without the vectorisers: kernels are
/// written as vectors, and none of its passes changes a rounding. Level 1 with
/// code generation at 2 was as fast as 2 and spilled less.
void optimise(llvm::Module &module, llvm::TargetMachine &machine,
              unsigned level = 1);

/// Assembly or an object file.
llvm::Expected<llvm::SmallVector<char, 0>>
emitFile(llvm::Module &module, llvm::TargetMachine &machine,
         llvm::CodeGenFileType type);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_NATIVE_EMIT_H
