// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.program @scheduled attributes {some.note = 1 : i64} {
attn.program @scheduled attributes {some.note = 1 : i64} {
  attn.length "S"
  // CHECK: %[[X:x]] = attn.data "x"
  %x = attn.data "x" : !attn.array<["S"], f64>
  // CHECK: attn.output "x" %[[X]]
  attn.output "x" %x : !attn.array<["S"], f64>
}
