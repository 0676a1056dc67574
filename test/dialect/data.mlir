// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.system @data
attn.system @data {
  // CHECK: %src = attn.data "src" : !attn.array<["S"], i64>
  %0 = attn.data "src" : !attn.array<["S"], i64>
  // CHECK: %seed.nll = attn.data "seed.nll" : !attn.array<[], f64>
  %1 = attn.data "seed.nll" : !attn.array<[], f64>
}
