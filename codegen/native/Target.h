//===- Target.h - which CPU code is generated for -------------*- C++ -*-===//
//
// A target is a CPU, its features, and the vector width of its
// kernels. All targets with a fused multiply-add give equal
// numbers, bit for bit; WebAssembly has none. Emit.h generates the
// code.
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
  /// In LLVM's spelling; `features` is sorted, so equal CPUs compare equal.
  std::string triple, cpu, features;
  /// 512 with AVX-512, 256 with AVX2, 128 with NEON and elsewhere.
  unsigned vectorBits = 128;
  /// The number of vector registers: 32 with AVX-512 and NEON, otherwise 16.
  unsigned vectorRegisters = 16;
  /// Whether a multiply-add is one operation with one rounding; otherwise it is
  /// two, with two roundings.
  bool fusesMultiplyAdd = true;

  /// The CPU of this process.
  static Target host();

  /// The names that `parse` accepts.
  static llvm::ArrayRef<llvm::StringLiteral> names();

  /// `native`, `x86-64-v3` (AVX2 and FMA), `x86-64-v4` (AVX-512), `aarch64`
  /// (64-bit ARM with NEON) or `wasm32` (WebAssembly with SIMD128). Fails for
  /// other names, for `native` on an x86 CPU without AVX2 and FMA, and for
  /// those of x86-64 on another machine.
  static llvm::Expected<Target> parse(llvm::StringRef name);

  /// The number of elements of an integer or float type in one vector. Indices
  /// have 64 bits; an element of less than a byte counts as a byte.
  unsigned lanes(mlir::Type element) const;

  /// Whether it is another architecture than this process's.
  bool isForeign() const;

  /// Whether it is WebAssembly, which a browser runs.
  bool isWasm() const;

  /// Fails if this process's CPU is another one or lacks a feature of the
  /// target.
  llvm::Error checkRunsHere() const;

  /// The target as one line, for keys and messages.
  std::string describe() const;

  /// Creates a code generator that does not contract a * b + c, for
  /// position-independent code (except for WebAssembly). One machine serves one
  /// thread at a time.
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(
      llvm::CodeGenOptLevel level = llvm::CodeGenOptLevel::Default) const;

  bool operator==(const Target &) const = default;
};

/// The error for an unknown target, with the known ones.
llvm::Error unknownTarget(llvm::StringRef name,
                          llvm::ArrayRef<llvm::StringRef> known);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_NATIVE_TARGET_H
