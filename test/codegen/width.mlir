// Vectors keep the width of the target, and sums the order of their terms.
// RUN: fovea-jit %s --emit=asm --target=x86-64-v4 | FileCheck %s --check-prefix=V4
// RUN: fovea-jit %s --emit=asm --target=x86-64-v3 | FileCheck %s --check-prefix=V3
// RUN: fovea-jit %s --emit=llvm-opt | FileCheck %s --check-prefix=ORDER

// V4-LABEL: add:
// V4: vaddps {{.*}}%zmm0
// V3-LABEL: add:
// V3: vaddps {{.*}}%ymm0
// V3: vaddps {{.*}}%ymm1
func.func @add(%a: vector<16xf32>, %b: vector<16xf32>) -> vector<16xf32> {
  %s = arith.addf %a, %b : vector<16xf32>
  return %s : vector<16xf32>
}

// ORDER-LABEL: @total
// ORDER: call float @llvm.vector.reduce.fadd
func.func @total(%a: vector<16xf32>) -> f32 {
  %s = vector.reduction <add>, %a : vector<16xf32> into f32
  return %s : f32
}

// A loop over scalars stays one: its sum would change otherwise.
// V4-LABEL: chain:
// V4: vaddss
// V4-NOT: vaddps
func.func @chain(%x: !llvm.ptr, %n: index) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %init = arith.constant 0.0 : f32
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %init) -> (f32) {
    %at = arith.index_cast %i : index to i64
    %p = llvm.getelementptr %x[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %p : !llvm.ptr -> f32
    %next = arith.addf %acc, %v : f32
    scf.yield %next : f32
  }
  return %sum : f32
}
