// RUN: fovea-opt %s --split-input-file | FileCheck %s

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

// -----

// CHECK-LABEL: attn.program @runs
attn.program @runs {
  %x = attn.data "x" : !attn.array<[8, 8], f64>
  %w = attn.param "w" : !attn.array<[8, 3, 8], f64>
  // CHECK: attn.product = #attn.product<weights, left = 0, rows(0), columns(1), terms(2, 3), run(3)>
  %y = attn.compute (%i: 8, %n: 8) sum (%j: 3, %k: 8) {
    %0 = arith.addi %i, %j : index
    %zero = arith.constant 0.0 : f64
    %1 = attn.read %x[%0, %k] default %zero : f64 : !attn.array<[8, 8], f64>
    %2 = attn.read %w[%n, %j, %k] : !attn.array<[8, 3, 8], f64>
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } {attn.product = #attn.product<weights, left = 0, rows(0), columns(1), terms(2, 3), run(3)>} : !attn.array<[8, 8], f64>
}
