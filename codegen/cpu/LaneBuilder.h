//===- LaneBuilder.h - scalars, vectors and memory of kernels -----------===//
//
// A thin layer over OpBuilder for code that works on bare pointers: whole
// numbers are i64, addresses are !llvm.ptr, vectors have one dimension.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CODEGEN_CPU_LANEBUILDER_H
#define FOVEA_CODEGEN_CPU_LANEBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace fovea::codegen {

class LaneBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  mlir::Type pointerType() {
    return mlir::LLVM::LLVMPointerType::get(getContext());
  }
  mlir::Value whole(int64_t value);
  mlir::Value bit(bool value);
  /// The number `value` as a scalar or splat of `type`.
  mlir::Value constant(mlir::Type type, double value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                      mlir::Value b);
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value smaller(mlir::Value a, mlir::Value b);
  mlir::Value larger(mlir::Value a, mlir::Value b);

  /// `scalar` in every lane.
  mlir::Value splat(mlir::Value scalar, unsigned lanes);
  /// 0, 1, .. lanes-1, as i64.
  mlir::Value lane(unsigned lanes);
  /// The lanes below `count`.
  mlir::Value mask(mlir::Value count, unsigned lanes);

  /// base + offset elements.
  mlir::Value address(mlir::Type element, mlir::Value base, mlir::Value offset);
  /// Reads memory as `type`, a scalar or a vector, aligned to its elements.
  mlir::Value load(mlir::Type type, mlir::Value pointer);
  /// The same where `mask` holds; zero elsewhere. No mask: everywhere.
  mlir::Value load(mlir::Type type, mlir::Value pointer, mlir::Value mask);
  /// One element per lane, at `offsets` from `base`.
  mlir::Value gather(mlir::VectorType type, mlir::Value base,
                     mlir::Value offsets, mlir::Value mask);
  void store(mlir::Value value, mlir::Value pointer,
             mlir::Value mask = nullptr);

  /// A slot of the frame.
  mlir::Value slot(mlir::Value frame, int number);
  mlir::Value pointerSlot(mlir::Value frame, int number);
  void setSlot(mlir::Value frame, int number, mlir::Value value);
  /// Element `index` of a table of int64 whose address stands in a slot.
  mlir::Value entry(mlir::Value frame, int number, mlir::Value index);

  /// for (i = first; i < last; i += step) body(i, carried) -> next carried
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value first, mlir::Value last, int64_t step,
       mlir::ValueRange carried,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                         mlir::ValueRange)>
           body);
  void loop(mlir::Value first, mlir::Value last, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  /// if (condition) then() else otherwise(), which give as many values; a
  /// scalar beside a vector becomes one.
  llvm::SmallVector<mlir::Value>
  branches(mlir::Value condition,
           llvm::function_ref<llvm::SmallVector<mlir::Value>()> then,
           llvm::function_ref<llvm::SmallVector<mlir::Value>()> otherwise);
  mlir::Value branch(mlir::Value condition,
                     llvm::function_ref<mlir::Value()> then,
                     llvm::function_ref<mlir::Value()> otherwise);
  void when(mlir::Value condition, llvm::function_ref<void()> then);
};

/// The number of lanes; 0 for a scalar.
unsigned lanesOf(mlir::Type type);
inline unsigned lanesOf(mlir::Value value) { return lanesOf(value.getType()); }

/// `scalar`, or a vector of it when `lanes` is not 0.
mlir::Type withLanes(mlir::Type scalar, unsigned lanes);

} // namespace fovea::codegen

#endif // FOVEA_CODEGEN_CPU_LANEBUILDER_H
