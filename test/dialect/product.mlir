// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.program @bands
attn.program @bands {
  attn.length "T"
  %q = attn.data "q" : !attn.array<["T", 8, 64], f64>
  // CHECK: attn.product = #attn.product<each, left = 1, batch(0), rows(1), columns(2 from 0 to 9 in -3 to 0), terms(3 in * to 2)>
  %e = attn.compute (%h: 8, %t: "T", %u: "T") sum (%k: 64) {
    %0 = attn.read %q[%u, %h, %k] : !attn.array<["T", 8, 64], f64>
    %1 = attn.read %q[%t, %h, %k] : !attn.array<["T", 8, 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.product = #attn.product<each, left = 1, batch(0), rows(1), columns(2 from 0 to 9 in -3 to 0), terms(3 in * to 2)>} : !attn.array<[8, "T", "T"], f64>
}
