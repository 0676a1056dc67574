// A product and a sum round twice, an FMA once, whatever the level.
// RUN: fovea-jit %s --emit=asm | FileCheck %s
// RUN: fovea-jit %s --emit=asm -O3 --target=x86-64-v3 | FileCheck %s

// CHECK-LABEL: two_roundings:
// CHECK-NOT: vfm
// CHECK: vmul
// CHECK: vadd
func.func @two_roundings(%a: vector<8xf32>, %b: vector<8xf32>,
                         %c: vector<8xf32>) -> vector<8xf32> {
  %p = arith.mulf %a, %b : vector<8xf32>
  %s = arith.addf %p, %c : vector<8xf32>
  return %s : vector<8xf32>
}

// CHECK-LABEL: one_rounding:
// CHECK-NOT: vmul
// CHECK: vfm
func.func @one_rounding(%a: vector<8xf32>, %b: vector<8xf32>,
                        %c: vector<8xf32>) -> vector<8xf32> {
  %s = vector.fma %a, %b, %c : vector<8xf32>
  return %s : vector<8xf32>
}

// CHECK-LABEL: scalar:
// CHECK: vfm{{.*}}sd
func.func @scalar(%a: f64, %b: f64, %c: f64) -> f64 {
  %s = math.fma %a, %b, %c : f64
  return %s : f64
}
