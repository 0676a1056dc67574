// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.system @reshape
attn.system @reshape {
  %x = attn.data "x" : !attn.array<["T", 512], f64>
  // CHECK: %q = attn.reshape "q" %x keep 1 : !attn.array<["T", 512], f64> -> !attn.array<["T", 8, 64], f64>
  %q = attn.reshape "q" %x keep 1 : !attn.array<["T", 512], f64> -> !attn.array<["T", 8, 64], f64>
  // CHECK: attn.reshape %x keep 2 : !attn.array<["T", 512], f64> -> !attn.array<["T", 512, 1], f64>
  %1 = attn.reshape %x keep 2 : !attn.array<["T", 512], f64> -> !attn.array<["T", 512, 1], f64>
}
