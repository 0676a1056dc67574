// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.system @extents
attn.system @extents {
  // CHECK: attn.data "x" : !attn.array<[], f64>
  %x = attn.data "x" : !attn.array<[], f64>
}
