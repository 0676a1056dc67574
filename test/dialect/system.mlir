// RUN: fovea-opt %s | FileCheck %s

// Equations in any order, with attributes.
// CHECK-LABEL: attn.system @running_sum attributes {some.note = 1 : i64} {
attn.system @running_sum attributes {some.note = 1 : i64} {
  // CHECK: attn.output "s" %[[S:s]]
  attn.output "s" %s : !attn.array<["S"], f64>
  // CHECK: %[[S]] = attn.compute "s"
  %s = attn.compute "s" (%i: "S") {
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  // CHECK: attn.data "x"
  %x = attn.data "x" : !attn.array<["S"], f64>
  attn.length "S"
}

// CHECK-LABEL: attn.system @nothing {
// CHECK-NEXT: }
attn.system @nothing {
}
