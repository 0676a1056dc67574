//===- Target.h - which CPU code is generated for -------------*- C++ -*-===//
//
// A target is a CPU, its features, and the vectors that kernels are written
// for. All targets that fuse a multiply-add give equal numbers, bit for bit;
// WebAssembly cannot. What code does on the target is decided elsewhere
// (Emit.h).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_NATIVE_TARGET_H
#define FOVEA_CODEGEN_NATIVE_TARGET_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace fovea::codegen {

struct Target {
  /// As LLVM writes them; `features` is sorted, so equal CPUs compare equal.
  std::string triple, cpu, features;
  /// 512 with AVX-512, 256 with AVX2, 128 with NEON and elsewhere.
  unsigned vectorBits = 128;
  /// How many registers hold vectors: 32 with AVX-512 and NEON, otherwise 16.
  unsigned vectorRegisters = 16;
  /// Whether a multiply-add is one operation, which rounds once; otherwise it
  /// is two, which round twice.
  bool fusesMultiplyAdd = true;
  /// A device that takes LLVM IR: the emulator (docs/GPU.md).
  bool takesBitcode = false;

  /// The CPU of this process.
  static Target host();

  /// The names that `parse` takes.
  static llvm::ArrayRef<llvm::StringLiteral> names();

  /// `native`, `x86-64-v3` (AVX2 and FMA), `x86-64-v4` (AVX-512), `aarch64`
  /// (64-bit ARM with NEON) or `wasm32` (WebAssembly with SIMD128). Fails for
  /// other names, for `native` on an x86 CPU without AVX2 and FMA, and for
  /// those of x86-64 on another machine.
  static llvm::Expected<Target> parse(llvm::StringRef name);

  /// How many elements of an integer or float type fill one vector. Indices
  /// have 64 bits; an element of less than a byte counts as a byte.
  unsigned lanes(mlir::Type element) const;

  /// Whether it is another architecture than that of this process.
  bool isForeign() const;

  /// Whether it is WebAssembly, which a browser runs.
  bool isWasm() const;

  /// Fails where this process's CPU is another or lacks a feature of the
  /// target.
  llvm::Error checkRunsHere() const;

  /// The target as one line, for keys and messages.
  std::string describe() const;

  /// A code generator for code without contraction of a * b + c, which does not
  /// depend on its position (of WebAssembly nothing does). One machine serves
  /// one thread at a time.
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(
      llvm::CodeGenOptLevel level = llvm::CodeGenOptLevel::Default) const;

  bool operator==(const Target &) const = default;
};

/// The error that no target is called so, but these are.
llvm::Error unknownTarget(llvm::StringRef name,
                          llvm::ArrayRef<llvm::StringRef> known);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_NATIVE_TARGET_H
