// A kernel module compiles and runs: loops, vectors with a masked tail, calls
// of the runtime, the address of a function.
// RUN: fovea-jit %s | FileCheck %s
// RUN: fovea-jit %s --target=x86-64-v3 | FileCheck %s
// RUN: fovea-jit %s -O0 | FileCheck %s
// RUN: fovea-jit %s -O2 | FileCheck %s

func.func private @print_i64(i64)
func.func private @print_f32(f32)
func.func private @print_f64(f64)

// The sum of x[0..n), sixteen at a time.
func.func @sum(%x: !llvm.ptr {llvm.noalias}, %n: index) -> f32 {
  %zero = arith.constant 0 : index
  %step = arith.constant 16 : index
  %init = arith.constant dense<0.0> : vector<16xf32>
  %lanes = scf.for %i = %zero to %n step %step
      iter_args(%acc = %init) -> (vector<16xf32>) {
    %left = arith.subi %n, %i : index
    %mask = vector.create_mask %left : vector<16xi1>
    %at = arith.index_cast %i : index to i64
    %p = llvm.getelementptr %x[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.intr.masked.load %p, %mask, %init {alignment = 4 : i32}
        : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
    %next = arith.addf %acc, %v : vector<16xf32>
    scf.yield %next : vector<16xf32>
  }
  %sum = vector.reduction <add>, %lanes : vector<16xf32> into f32
  return %sum : f32
}

func.func private @twice(%n: i64) -> i64 {
  %r = arith.addi %n, %n : i64
  return %r : i64
}

func.func @main() -> i64 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 37 : index
  %count = arith.constant 37 : i64
  %x = llvm.alloca %count x f32 : (i64) -> !llvm.ptr
  scf.for %i = %zero to %n step %one {
    %at = arith.index_cast %i : index to i64
    %v = arith.sitofp %at : i64 to f32
    %p = llvm.getelementptr %x[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %v, %p : f32, !llvm.ptr
  }
  // CHECK: 666
  %sum = func.call @sum(%x, %n) : (!llvm.ptr, index) -> f32
  func.call @print_f32(%sum) : (f32) -> ()

  // A mask of a size beyond 2^31 is full: 136 is the sum of x[1..16].
  %huge = arith.constant 4294967296 : index
  %mask = vector.create_mask %huge : vector<16xi1>
  %none = arith.constant dense<0.0> : vector<16xf32>
  %first = llvm.getelementptr %x[1] : (!llvm.ptr) -> !llvm.ptr, f32
  %v = llvm.intr.masked.load %first, %mask, %none {alignment = 4 : i32}
      : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
  %all = vector.reduction <add>, %v : vector<16xf32> into f32
  // CHECK-NEXT: 136
  func.call @print_f32(%all) : (f32) -> ()

  // sqrt, abs and floor are instructions.
  %nine = arith.constant -9.5 : f64
  %abs = math.absf %nine : f64
  %floor = math.floor %abs : f64
  %root = math.sqrt %floor : f64
  // CHECK-NEXT: 3
  func.call @print_f64(%root) : (f64) -> ()

  %f = func.constant @twice : (i64) -> i64
  %address = builtin.unrealized_conversion_cast %f : (i64) -> i64 to !llvm.ptr
  %arg = arith.constant 21 : i64
  %r = llvm.call %address(%arg) : !llvm.ptr, (i64) -> i64
  // CHECK-NEXT: main: 42
  return %r : i64
}
