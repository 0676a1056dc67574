// RUN: fovea-opt %s | FileCheck %s

// CHECK: module attributes {attn.machine = #attn.machine<"none", lanes = 4, tile_rows = 2, tile_vectors = 1>}
module attributes {attn.machine = #attn.machine<"none", lanes = 4, tile_rows = 2, tile_vectors = 1>} {
  // CHECK-LABEL: attn.program @kernels
  attn.program @kernels {
    attn.length "T"
    %x = attn.data "x" : !attn.array<[3, "T", 8], f64>
    // CHECK: %[[Y:.*]] = attn.kernel strips over "T" outer [3] {
    // CHECK:   attn.compute "s"
    // CHECK:   %[[OWN:.*]] = attn.compute "y"
    // CHECK:   attn.yield %[[OWN]]
    // CHECK: } : !attn.array<[3, "T"], f64>
    %y = attn.kernel strips over "T" outer [3] {
      %s = attn.compute "s" (%h: 3, %t: "T") softmax (%k: 8) {
        %0 = attn.read %x[%h, %t, %k] : !attn.array<[3, "T", 8], f64>
        attn.yield %0 : f64
      } {attn.shared = array<i64: 0, 1>} : !attn.array<[3, "T", 8], f64>
      %own = attn.compute "y" (%h: 3, %t: "T") sum (%k: 8) {
        %0 = attn.read %s[%h, %t, %k] : !attn.array<[3, "T", 8], f64>
        %1 = attn.read %x[%h, %t, %k] : !attn.array<[3, "T", 8], f64>
        %2 = arith.mulf %0, %1 : f64
        attn.yield %2 : f64
      } {attn.shared = array<i64: 0, 1>} : !attn.array<[3, "T"], f64>
      attn.yield %own : !attn.array<[3, "T"], f64>
    } : !attn.array<[3, "T"], f64>
    // CHECK: attn.output "y" %[[Y]]
    attn.output "y" %y : !attn.array<[3, "T"], f64>
    // CHECK: attn.kernel columns {
    // CHECK-NEXT: attn.yield
    // CHECK-NEXT: }
    attn.kernel columns {
      attn.yield
    }
  }
}
