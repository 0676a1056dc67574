// WebAssembly has vectors of four and no fused multiply-add: what is written as
// one is a product and a sum.
// RUN: fovea-jit %s --target=wasm32 --emit=asm | FileCheck %s
// RUN: fovea-jit %s --target=aarch64 --emit=asm | FileCheck %s --check-prefix=FUSED

// FUSED-LABEL: axpy:
// FUSED:       fmla
// CHECK-LABEL: axpy:
// CHECK-NOT:   call
// CHECK:       f32x4.mul
// CHECK-NOT:   call
// CHECK:       f32x4.add
// CHECK-NOT:   call
// CHECK:       end_function
func.func @axpy(%x: !llvm.ptr, %y: !llvm.ptr, %a: f32) {
  %v = llvm.load %x {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
  %w = llvm.load %y {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
  %all = vector.broadcast %a : f32 to vector<4xf32>
  %sum = vector.fma %all, %v, %w : vector<4xf32>
  llvm.store %sum, %y {alignment = 4 : i64} : vector<4xf32>, !llvm.ptr
  return
}

// FUSED-LABEL: scalar:
// FUSED:       fmadd d0
// CHECK-LABEL: scalar:
// CHECK-NOT:   call
// CHECK:       f64.mul
// CHECK:       f64.add
// CHECK:       end_function
func.func @scalar(%a: f64, %b: f64, %c: f64) -> f64 {
  %sum = math.fma %a, %b, %c : f64
  return %sum : f64
}
