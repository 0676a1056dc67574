// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.program @grows
attn.program @grows {
  %k = attn.data "k" : !attn.array<["T", 64], f64>
  %row = attn.data "row" : !attn.array<[64], f64>
  // CHECK: attn.scan "T" (%[[STEP:.+]]) carries (%[[CACHE:.+]] = %k
  %last = attn.scan "T" (%t) carries (%cache = %k : !attn.array<["T", 64], f64>) axes [] {
    // CHECK: attn.append %[[CACHE]][%[[STEP]]] axis 0 = %row : !attn.array<["T", 64], f64>, !attn.array<[64], f64>
    %next = attn.append %cache[%t] axis 0 = %row : !attn.array<["T", 64], f64>, !attn.array<[64], f64>
    attn.yield %next : !attn.array<["T", 64], f64>
  } : !attn.array<["T", 64], f64>
}
