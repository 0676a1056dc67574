// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.system @random
attn.system @random {
  attn.length "T"
  %coins = attn.compute "coins" (%t: "T", %k: 4) {
    // CHECK: attn.random[%t] sample %k ordinal 3 word 1
    %0 = attn.random [%t] sample %k ordinal 3 word 1
    // CHECK: attn.random[%t] shared ordinal 4 word 0
    %5 = attn.random [%t] shared ordinal 4 word 0
    // CHECK: attn.random[%t] ordinal 2 word 0
    %1 = attn.random [%t] ordinal 2 word 0
    // The word itself.
    // CHECK: attn.random[%t] ordinal 5 word 2 : i64
    %6 = attn.random [%t] ordinal 5 word 2 : i64
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 4], f64>
  attn.output "coins" %coins : !attn.array<["T", 4], f64>
}
