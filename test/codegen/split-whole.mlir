// A circle of calls and a module with data stay whole.
// RUN: split-file %s %t
// RUN: fovea-jit %t/circle.mlir --split=1 --emit=kernels | FileCheck %s --check-prefix=CIRCLE
// RUN: fovea-jit %t/circle.mlir --split=1 | FileCheck %s --check-prefix=PARITY
// RUN: fovea-jit %t/data.mlir --split=1 --emit=kernels | FileCheck %s --check-prefix=DATA
// RUN: fovea-jit %t/empty.mlir --split=1 --emit=kernels | FileCheck %s --check-prefix=EMPTY --allow-empty

//--- circle.mlir
// CIRCLE: func.func private @odd_0
// CIRCLE: func.func private @even_0
// CIRCLE: func.func @main
// PARITY: main: 1
func.func private @odd_0(%n: i64) -> i64 {
  %one = arith.constant 1 : i64
  %zero = arith.constant 0 : i64
  %end = arith.cmpi eq, %n, %zero : i64
  %r = scf.if %end -> i64 {
    scf.yield %zero : i64
  } else {
    %m = arith.subi %n, %one : i64
    %x = func.call @even_0(%m) : (i64) -> i64
    scf.yield %x : i64
  }
  return %r : i64
}
func.func private @even_0(%n: i64) -> i64 {
  %one = arith.constant 1 : i64
  %zero = arith.constant 0 : i64
  %end = arith.cmpi eq, %n, %zero : i64
  %r = scf.if %end -> i64 {
    scf.yield %one : i64
  } else {
    %m = arith.subi %n, %one : i64
    %x = func.call @odd_0(%m) : (i64) -> i64
    scf.yield %x : i64
  }
  return %r : i64
}
func.func @main() -> i64 {
  %n = arith.constant 7 : i64
  %r = func.call @odd_0(%n) : (i64) -> i64
  return %r : i64
}
//--- data.mlir
// DATA: llvm.mlir.global
// DATA: func.func private @f_0
// DATA: func.func @main
llvm.mlir.global internal @x(1.0 : f32) : f32
func.func private @f_0() { return }
func.func @main() -> i64 {
  %r = arith.constant 0 : i64
  func.call @f_0() : () -> ()
  return %r : i64
}
//--- empty.mlir
// EMPTY-NOT: func
module {}
