// What no kernel may say is an error at its op.
// RUN: split-file --leading-lines %s %t
// RUN: not fovea-jit %t/rank.mlir 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not fovea-jit %t/tensor.mlir 2>&1 | FileCheck %s --check-prefix=TENSOR
// RUN: not fovea-jit %t/cast.mlir 2>&1 | FileCheck %s --check-prefix=CAST
// RUN: not fovea-jit %t/libm.mlir 2>&1 | FileCheck %s --check-prefix=LIBM
// RUN: fovea-jit --libm %t/libm.mlir | FileCheck %s --check-prefix=WITH
// RUN: not fovea-jit %t/libm.mlir %t/libm.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not fovea-jit --target=pdp-11 %t/libm.mlir 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not fovea-jit --entry=other %t/libm.mlir 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not fovea-jit --entry=takes %t/libm.mlir 2>&1 | FileCheck %s --check-prefix=TYPE

//--- rank.mlir
// RANK: rank.mlir:[[#@LINE+2]]:8: a kernel supports only vectors of one dimension and fixed size, not 'vector<2x4xf32>'
func.func @main() -> i64 {
  %v = arith.constant dense<1.0> : vector<2x4xf32>
  %r = arith.constant 0 : i64
  return %r : i64
}
//--- tensor.mlir
// TENSOR: tensor.mlir:[[#@LINE+2]]:8: failed to legalize operation 'arith.constant'
func.func @main() -> i64 {
  %v = arith.constant dense<1.0> : tensor<2x4xf32>
  %r = arith.constant 0 : i64
  return %r : i64
}
//--- cast.mlir
// CAST: cast.mlir:[[#@LINE+3]]:8: a kernel can cast only the address of a function
func.func @main() -> i64 {
  %v = arith.constant 1.0 : f32
  %r = builtin.unrealized_conversion_cast %v : f32 to i64
  return %r : i64
}
//--- libm.mlir
// LIBM: fovea-jit: error: cannot load compiled code: no kernel is named 'expf', nor may kernels call it
// WITH: main: 2
// TWICE: fovea-jit: error: {{.*}}duplicate definition of symbol
// TARGET: fovea-jit: error: unknown target 'pdp-11': expected 'native', 'x86-64-v3', 'x86-64-v4', 'aarch64' or 'wasm32'
// ENTRY: fovea-jit: error: cannot load compiled code: no kernel is named 'other'
func.func @main() -> i64 {
  %v = llvm.mlir.addressof @x : !llvm.ptr
  %x = llvm.load volatile %v : !llvm.ptr -> f32
  %e = math.exp %x : f32
  %r = arith.fptosi %e : f32 to i64
  return %r : i64
}
// TYPE: fovea-jit: error: 'takes' has type '(f32) -> i64', not '() -> i64'
func.func @takes(%x: f32) -> i64 {
  %r = arith.constant 0 : i64
  return %r : i64
}
llvm.mlir.global internal @x(1.0 : f32) : f32
