// RUN: fovea-opt %s | FileCheck %s

// A sum with factors in i8 is exact with one term, and with as many as 1024.

// CHECK-LABEL: attn.program @terms
// CHECK: sum (%{{.*}}: 1) {
// CHECK: } {attn.precision = i8}
// CHECK: sum (%{{.*}}: 1024) {
// CHECK: } {attn.precision = i8}
attn.program @terms {
  attn.length "S"
  %x1 = attn.data "x1" : !attn.array<["S", 1], f64>
  %w1 = attn.param "w1" : !attn.array<[64, 1], f64>
  %h1 = attn.compute "h1" (%i: "S", %n: 64) sum (%k: 1) {
    %0 = attn.read %x1[%i, %k] : !attn.array<["S", 1], f64>
    %1 = attn.read %w1[%n, %k] : !attn.array<[64, 1], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.precision = i8} : !attn.array<["S", 64], f64>
  attn.output "h1" %h1 : !attn.array<["S", 64], f64>
  %x1024 = attn.data "x1024" : !attn.array<["S", 1024], f64>
  %w1024 = attn.param "w1024" : !attn.array<[64, 1024], f64>
  %h1024 = attn.compute "h1024" (%i: "S", %n: 64) sum (%k: 1024) {
    %0 = attn.read %x1024[%i, %k] : !attn.array<["S", 1024], f64>
    %1 = attn.read %w1024[%n, %k] : !attn.array<[64, 1024], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.precision = i8} : !attn.array<["S", 64], f64>
  attn.output "h1024" %h1024 : !attn.array<["S", 64], f64>
}

// The least and the most terms of a group, digits of its sum, and places of 0.

// CHECK: attn.program @least attributes {attn.sums = array<i64: 1, 1, -149>}
attn.program @least attributes {attn.sums = array<i64: 1, 1, -149>} {
}
// CHECK: attn.program @most attributes {attn.sums = array<i64: 16, 25, -126>}
attn.program @most attributes {attn.sums = array<i64: 16, 25, -126>} {
}

// A chain whose factors are rounded, which need be no product of a name.

// CHECK-LABEL: attn.program @single
attn.program @single {
  %x = attn.data "x" : !attn.array<[8], f64>
  // CHECK: attn.compute () sum (%{{.*}}: 8) order(chain, fused) {
  // CHECK: {attn.precision = bf16, attn.sums = array<i64: 1>}
  %y = attn.compute () sum (%k: 8) order(chain, fused) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    %1 = arith.mulf %0, %0 : f64
    attn.yield %1 : f64
  } {attn.precision = bf16, attn.sums = array<i64: 1>} : !attn.array<[], f64>
  attn.output "y" %y : !attn.array<[], f64>
}
