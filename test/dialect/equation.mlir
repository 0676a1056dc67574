// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.system @equation
attn.system @equation {
  %x = attn.data "x" : !attn.array<["S"], f64>
  // CHECK: attn.equation "y" %x : !attn.array<["S"], f64>
  attn.equation "y" %x : !attn.array<["S"], f64>
}
