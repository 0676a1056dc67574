// RUN: fovea-opt %s | FileCheck %s

// A body yields a scalar, a loop arrays, a loop without results nothing.
// CHECK-LABEL: attn.program @yields
attn.program @yields {
  // CHECK: attn.scan "S" (%{{.+}}) axes [0]
  %0 = attn.scan "S" (%i) axes [0] {
    // CHECK: %[[ROW:.+]] = attn.compute (%k: 8)
    %1 = attn.compute (%k: 8) {
      %2 = arith.constant 0.0 : f64
      // CHECK: attn.yield %{{.+}} : f64
      attn.yield %2 : f64
    } : !attn.array<[8], f64>
    // CHECK: attn.yield %[[ROW]] : !attn.array<[8], f64>
    attn.yield %1 : !attn.array<[8], f64>
  } : !attn.array<["S", 8], f64>
  // CHECK: attn.scan "S" (%{{.+}}) axes [] {
  // CHECK-NEXT: attn.yield{{$}}
  attn.scan "S" (%i) axes [] {
    attn.yield
  }
}
