// RUN: fovea-opt %s | FileCheck %s

// CHECK: module attributes {attn.target = #cpu.target<"none", lanes = 4, tile_rows = 2, tile_vectors = 1>}
module attributes {attn.target = #cpu.target<"none", lanes = 4, tile_rows = 2, tile_vectors = 1>} {
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
    // CHECK: attn.kernel strips over "T" outer [3] keys 64 {
    attn.kernel strips over "T" outer [3] keys 64 {
      attn.yield
    }
    // Row by row; conditions read a row at its own place, too.
    // CHECK: attn.kernel places over "T" {
    %z = attn.kernel places over "T" {
      %m = attn.compute "m" (%t: "T") mean (%k: 8) {
        %zero = arith.constant 0 : index
        %0 = attn.read %x[%zero, %t, %k] : !attn.array<[3, "T", 8], f64>
        attn.yield %0 : f64
      } : !attn.array<["T"], f64>
      %d = attn.compute "z" (%t: "T", %k: 8) where {
        %zero = arith.constant 0.0 : f64
        %1 = attn.read %m[%t] : !attn.array<["T"], f64>
        %2 = arith.cmpf ogt, %1, %zero : f64
        attn.yield %2 : i1
      } {
        %zero = arith.constant 0 : index
        %0 = attn.read %x[%zero, %t, %k] : !attn.array<[3, "T", 8], f64>
        %1 = attn.read %m[%t] : !attn.array<["T"], f64>
        %2 = arith.divf %0, %1 : f64
        attn.yield %2 : f64
      } : !attn.array<["T", 8], f64>
      attn.yield %d : !attn.array<["T", 8], f64>
    } : !attn.array<["T", 8], f64>
    attn.output "z" %z : !attn.array<["T", 8], f64>
    // Two sums in one loop, by themselves and in strips.
    // CHECK: attn.kernel loop {
    // CHECK:   attn.compute "a"
    // CHECK:   attn.compute "b"
    // CHECK: }
    %sums:2 = attn.kernel loop {
      %a = attn.compute "a" (%k: 8) sum (%h: 3, %t: "T") {
        %0 = attn.read %x[%h, %t, %k] : !attn.array<[3, "T", 8], f64>
        %1 = math.exp %0 : f64
        attn.yield %1 : f64
      } : !attn.array<[8], f64>
      %b = attn.compute "b" (%k: 8) sum (%h: 3, %t: "T") {
        %0 = attn.read %x[%h, %t, %k] : !attn.array<[3, "T", 8], f64>
        %1 = math.exp %0 : f64
        %2 = arith.mulf %0, %1 : f64
        attn.yield %2 : f64
      } : !attn.array<[8], f64>
      attn.yield %a, %b : !attn.array<[8], f64>, !attn.array<[8], f64>
    } : !attn.array<[8], f64>, !attn.array<[8], f64>
    // CHECK: attn.kernel strips over "T" {
    // CHECK:   attn.kernel loop {
    // CHECK:     attn.compute "r"
    // CHECK:     attn.yield
    // CHECK:   }
    // CHECK:   attn.yield
    // CHECK: }
    %rows = attn.kernel strips over "T" {
      %inner = attn.kernel loop {
        %r = attn.compute "r" (%t: "T") sum (%h: 3, %k: 8) {
          %0 = attn.read %x[%h, %t, %k] : !attn.array<[3, "T", 8], f64>
          %1 = math.exp %0 : f64
          attn.yield %1 : f64
        } {attn.shared = array<i64: 0>} : !attn.array<["T"], f64>
        attn.yield %r : !attn.array<["T"], f64>
      } : !attn.array<["T"], f64>
      attn.yield %inner : !attn.array<["T"], f64>
    } : !attn.array<["T"], f64>
    attn.output "rows" %rows : !attn.array<["T"], f64>
    // A view of what an equation gives, for the next one.
    // CHECK: attn.kernel rows {
    // CHECK:   attn.compute "one"
    // CHECK:   attn.reshape
    // CHECK:   attn.compute "two"
    // CHECK: }
    %two = attn.kernel rows {
      %one = attn.compute "one" (%k: 8) {
        %0 = attn.read %sums#0[%k] : !attn.array<[8], f64>
        %1 = math.tanh %0 : f64
        attn.yield %1 : f64
      } : !attn.array<[8], f64>
      %view = attn.reshape %one keep 0 : !attn.array<[8], f64> -> !attn.array<[2, 4], f64>
      %own = attn.compute "two" (%m: 4) sum (%n: 2) {
        %0 = attn.read %view[%n, %m] : !attn.array<[2, 4], f64>
        attn.yield %0 : f64
      } : !attn.array<[4], f64>
      attn.yield %own : !attn.array<[4], f64>
    } : !attn.array<[4], f64>
    attn.output "two" %two : !attn.array<[4], f64>
    attn.output "b" %sums#1 : !attn.array<[8], f64>
  }
}
