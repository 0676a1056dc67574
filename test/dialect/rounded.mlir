// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.system @rounded
attn.system @rounded {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 64], f64>
  %k = attn.compute "k" (%i: "S", %n: 64) {
    %0 = attn.read %x[%i, %n] : !attn.array<["S", 64], f64>
    // CHECK: attn.rounded %{{.+}} to bf16
    %1 = attn.rounded %0 to bf16
    attn.yield %1 : f64
  // CHECK: } : !attn.array<["S", 64], bf16>
  } : !attn.array<["S", 64], bf16>
  attn.compute (%i: "S", %n: 64) {
    // CHECK: attn.read %k[%i, %n] : !attn.array<["S", 64], bf16>
    %0 = attn.read %k[%i, %n] : !attn.array<["S", 64], bf16>
    %1 = arith.addf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["S", 64], f64>
}
