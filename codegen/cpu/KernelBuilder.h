//===- KernelBuilder.h - short words for building kernels -----*- C++ -*-===//
//
// An OpBuilder with the few operations that hand-written kernels consist of:
// whole numbers of 64 bits, addresses, loads and stores of scalars and
// vectors, masks, loops and branches. It decides nothing.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_KERNELBUILDER_H
#define FOVEA_CODEGEN_CPU_KERNELBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace fovea::codegen {

class KernelBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;

  /// Builds at the end of the module, at an unknown location.
  explicit KernelBuilder(mlir::ModuleOp module);

  /// Adds a function without results and builds its body; a function whose
  /// name the module has already is left as it is. `arguments` become the
  /// parameter of `body`. Functions are public unless `isPrivate`; private
  /// ones are never inlined: their registers are planned by hand.
  void function(llvm::StringRef name, llvm::ArrayRef<mlir::Type> arguments,
                bool isPrivate,
                llvm::function_ref<void(mlir::ValueRange arguments)> body);
  void call(llvm::StringRef name, mlir::ValueRange arguments);

  mlir::Type i64() { return getI64Type(); }
  mlir::Type pointer();

  Value number(int64_t value);
  Value truth(bool value);
  Value add(Value lhs, Value rhs);
  Value sub(Value lhs, Value rhs);
  Value mul(Value lhs, Value rhs);
  /// Quotients and remainders are of numbers that are not negative.
  Value div(Value lhs, Value rhs);
  Value divUp(Value lhs, Value rhs);
  Value rem(Value lhs, Value rhs);
  Value min(Value lhs, Value rhs);
  Value max(Value lhs, Value rhs);
  Value select(Value condition, Value yes, Value no);
  /// Comparisons are of signed numbers.
  Value less(Value lhs, Value rhs);
  Value atMost(Value lhs, Value rhs);
  Value equal(Value lhs, Value rhs);
  Value both(Value lhs, Value rhs);
  Value either(Value lhs, Value rhs);

  /// The address of element `index` of an array of `element`s.
  Value at(mlir::Type element, Value base, Value index);
  Value at(mlir::Type element, Value base, int64_t index);

  /// Loads and stores are aligned to one element, never to a vector.
  Value load(mlir::Type type, Value address);
  void store(Value value, Value address);
  /// Brings a cache line nearer; any address is right.
  void prefetch(Value address, bool forWriting);
  /// Lanes outside the mask are 0 and are not touched in memory.
  Value load(mlir::VectorType type, Value address, Value mask);
  void store(Value value, Value address, Value mask);
  /// Memory of this call, aligned to a cache line.
  Value scratch(mlir::Type element, int64_t count);

  /// Lane i holds i < count; any count is right.
  Value maskBelow(Value count, int64_t lanes);
  Value broadcast(mlir::VectorType type, Value scalar);
  Value zeros(mlir::Type type);
  /// One rounding per lane.
  Value fma(Value a, Value b, Value c);

  /// for (i = from; i < to; i += step) body(i)
  void loop(Value from, Value to, Value step,
            llvm::function_ref<void(Value i)> body);
  /// The same with values that each turn replaces; returns the last ones.
  Values loop(Value from, Value to, Value step, mlir::ValueRange inits,
              llvm::function_ref<Values(Value i, mlir::ValueRange)> body);
  void branch(Value condition, llvm::function_ref<void()> yes,
              llvm::function_ref<void()> no = nullptr);
  Values choose(Value condition, mlir::TypeRange types,
                llvm::function_ref<Values()> yes,
                llvm::function_ref<Values()> no);
  /// Runs body(n) where `value` is n, for n in 1..count; nothing otherwise.
  void dispatch(Value value, int64_t count,
                llvm::function_ref<void(int64_t n)> body);

private:
  mlir::ModuleOp module;
};

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_KERNELBUILDER_H
