// A private helper is inlined and leaves no code; a loop's addresses and
// constants are computed outside of it.
// RUN: fovea-jit %s --emit=llvm-opt | FileCheck %s

// CHECK-NOT: @helper
// CHECK-LABEL: define {{.*}}@scale
// CHECK: fdiv float 1.0
// CHECK: phi
// CHECK: load float
// CHECK-NOT: fdiv
// CHECK: fmul float
// CHECK: store float
// CHECK: ret void
func.func private @helper(%x: f32, %by: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %factor = arith.divf %one, %by : f32
  %r = arith.mulf %x, %factor : f32
  return %r : f32
}
func.func @scale(%x: !llvm.ptr, %n: i64, %by: f32) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  scf.for %i = %zero to %n step %one : i64 {
    %p = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %p : !llvm.ptr -> f32
    %w = func.call @helper(%v, %by) : (f32, f32) -> f32
    llvm.store %w, %p : f32, !llvm.ptr
  }
  return
}
