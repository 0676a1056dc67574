// RUN: fovea-opt %s --attn-fold-constants | FileCheck %s

// Arithmetic on constants is done once, also that of a branch which a constant
// decides. Roots are exact; other functions would have the bits of some libm, so
// compiled code computes them.
// CHECK-LABEL: attn.system @constants {
// CHECK-NEXT: %x = attn.data "x"
// CHECK-NEXT: %a = attn.compute "a"
// CHECK-DAG:    %[[TWO:.*]] = arith.constant 2.000000e+00
// CHECK-DAG:    %[[FIVE:.*]] = arith.constant 5.000000e+00
// CHECK:        %[[X:.*]] = attn.read
// CHECK-NEXT:   %[[LOG:.*]] = math.log %[[TWO]]
// CHECK-NEXT:   %[[PRODUCT:.*]] = arith.mulf %[[X]], %[[LOG]]
// CHECK-NEXT:   %[[SUM:.*]] = arith.addf %[[PRODUCT]], %[[FIVE]]
// CHECK-NEXT:   attn.yield %[[SUM]]
attn.system @constants {
  %x = attn.data "x" : !attn.array<["S"], f64>
  %a = attn.compute "a" (%i: "S") {
    %one = arith.constant 1.0 : f64
    %nine = arith.constant 9.0 : f64
    %true = arith.constant true
    %two = arith.addf %one, %one : f64
    %three = math.sqrt %nine : f64
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    %1 = math.log %two : f64
    %2 = arith.mulf %0, %1 : f64
    %3 = scf.if %true -> f64 {
      %4 = arith.addf %two, %three : f64
      scf.yield %4 : f64
    } else {
      %5 = math.exp %three : f64
      scf.yield %5 : f64
    }
    %6 = arith.addf %2, %3 : f64
    attn.yield %6 : f64
  } : !attn.array<["S"], f64>
  attn.output "a" %a : !attn.array<["S"], f64>
}
