// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.system @penalty
attn.system @penalty {
  %x = attn.data "x" : !attn.array<[], f64>
  // CHECK: attn.penalty %x : !attn.array<[], f64>
  attn.penalty %x : !attn.array<[], f64>
}
