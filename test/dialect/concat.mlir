// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.system @concat
attn.system @concat {
  %f = attn.data "f" : !attn.array<["S", 512], f64>
  %b = attn.data "b" : !attn.array<["S", 3], f64>
  // CHECK: %h = attn.concat "h" %f, %b : !attn.array<["S", 512], f64>, !attn.array<["S", 3], f64> -> !attn.array<["S", 515], f64>
  %h = attn.concat "h" %f, %b : !attn.array<["S", 512], f64>, !attn.array<["S", 3], f64> -> !attn.array<["S", 515], f64>
  // CHECK: attn.concat %f : !attn.array<["S", 512], f64> -> !attn.array<["S", 512], f64>
  %1 = attn.concat %f : !attn.array<["S", 512], f64> -> !attn.array<["S", 512], f64>
}
