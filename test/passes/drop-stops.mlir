// RUN: fovea-opt %s --attn-drop-stops | FileCheck %s

// CHECK-LABEL: attn.system @loss
// CHECK:       %[[V:.*]] = attn.param "v"
// CHECK-NOT:   attn.stop
attn.system @loss {
  %v = attn.param "v" : !attn.array<[2], f64>
  // Nothing but a stop: gone.
  // CHECK-NEXT: %[[Y:.*]] = attn.compute "y"
  %q = attn.compute (%k: 2) {
    %0 = attn.read %v[%k] : !attn.array<[2], f64>
    %1 = attn.stop %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[2], f64>
  %y = attn.compute "y" (%k: 2) {
    // CHECK: %[[A:.*]] = attn.read %[[V]]
    // CHECK: %[[B:.*]] = attn.read %[[V]]
    // CHECK: arith.mulf %[[A]], %[[B]]
    %0 = attn.read %q[%k] : !attn.array<[2], f64>
    %1 = attn.read %v[%k] : !attn.array<[2], f64>
    %2 = arith.mulf %0, %1 : f64
    %3 = attn.stop %2 : f64
    attn.yield %3 : f64
  } : !attn.array<[2], f64>
  // One with a name can be asked for, and stays.
  // CHECK: %[[Z:.*]] = attn.compute "z"
  %z = attn.compute "z" (%k: 2) {
    %0 = attn.read %y[%k] : !attn.array<[2], f64>
    %1 = attn.stop %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[2], f64>
  // CHECK: attn.output "z" %[[Z]]
  attn.output "z" %z : !attn.array<[2], f64>
}
