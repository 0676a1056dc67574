// RUN: fovea-opt %s --attn-differentiate --split-input-file | FileCheck %s

// Nothing flows through: there is one share, of the other factor.

// CHECK-LABEL: attn.system @grad
// CHECK:       attn.compute "d v" (%[[K:.*]]: 2) {
// CHECK:         %[[V:.*]] = attn.read %{{.*}}[%[[K]]]
// CHECK:         %[[S:.*]] = attn.stop %[[V]]
// CHECK:         %[[D:.*]] = arith.mulf %{{.*}}, %[[S]]
// CHECK-NEXT:    attn.yield %[[D]]
// CHECK-NOT:   attn.compute "d v"
module {
  attn.system @loss {
    %v = attn.param "v" : !attn.array<[2], f64>
    %nll = attn.compute "nll" () sum (%k: 2) {
      %0 = attn.read %v[%k] : !attn.array<[2], f64>
      %1 = attn.stop %0 : f64
      %2 = arith.mulf %1, %0 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// What only stops read has no adjoint, and nothing of it is evaluated again.

// CHECK-LABEL: attn.system @grad
// CHECK-NOT:   attn.compute "d q"
// CHECK:       attn.compute "d v"
// CHECK-NEXT:    arith.constant 0.0
// CHECK-NEXT:    attn.yield
module {
  attn.system @loss {
    %v = attn.param "v" : !attn.array<[2], f64>
    %q = attn.compute "q" (%k: 2) {
      %0 = attn.read %v[%k] : !attn.array<[2], f64>
      %1 = math.log %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[2], f64>
    %nll = attn.compute "nll" () sum (%k: 2) {
      %0 = attn.read %q[%k] : !attn.array<[2], f64>
      %1 = attn.stop %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}
