// RUN: fovea-opt %s --attn-round-rows --split-input-file | FileCheck %s

// Scores read a key for each query, and a query for each key: both are rounded.
// The layer that reads a query at its own place alone takes it as it is.

// CHECK-LABEL: attn.system @loss
attn.system @loss {
  attn.length "T"
  attn.length "S"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  %h = attn.data "h" : !attn.array<["S", 16], f64>
  // CHECK: %[[Q:.*]] = attn.compute "q" (%t: "T", %n: 16)
  %q = attn.compute "q" (%t: "T", %n: 16) {
    %0 = attn.read %x[%t, %n] : !attn.array<["T", 16], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 16], f64>
  // CHECK: %[[ROWS:.*]] = attn.compute "q" (%p0: "T", %p1: 16) {
  // CHECK-NEXT: %[[READ:.*]] = attn.read %[[Q]][%p0, %p1]
  // CHECK-NEXT: %[[ROUNDED:.*]] = attn.rounded %[[READ]] to bf16
  // CHECK-NEXT: attn.yield %[[ROUNDED]]
  // CHECK: %[[K:.*]] = attn.compute "k" (%i: "S", %n: 16)
  // CHECK: %[[KEYS:.*]] = attn.compute "k" (%p0: "S", %p1: 16)
  // CHECK: attn.rounded
  %k = attn.compute "k" (%i: "S", %n: 16) {
    %0 = attn.read %h[%i, %n] : !attn.array<["S", 16], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["S", 16], f64>
  // CHECK: attn.compute "e"
  // CHECK: attn.read %[[ROWS]]
  // CHECK: attn.read %[[KEYS]]
  %e = attn.compute "e" (%t: "T", %i: "S") sum (%n: 16) order(chain, fused) {
    %0 = attn.read %q[%t, %n] : !attn.array<["T", 16], f64>
    %1 = attn.read %k[%i, %n] : !attn.array<["S", 16], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  // CHECK: attn.compute "own"
  // CHECK: attn.read %[[Q]]
  %own = attn.compute "own" (%t: "T") sum (%n: 16) order(chain) {
    %0 = attn.read %q[%t, %n] : !attn.array<["T", 16], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "e" %e : !attn.array<["T", "S"], f64>
  attn.output "own" %own : !attn.array<["T"], f64>
}

// -----

// Data are as they are given, weights over two lengths are nothing that a
// decoder keeps, and a row of 8 numbers is small.

// CHECK-LABEL: attn.system @loss
// CHECK-NOT: attn.rounded
attn.system @loss {
  attn.length "T"
  attn.length "S"
  %x = attn.data "x" : !attn.array<["T", "S"], f64>
  %h = attn.data "h" : !attn.array<["S", 16], f64>
  %small = attn.compute "small" (%i: "S", %n: 8) {
    %0 = attn.read %h[%i, %n] : !attn.array<["S", 16], f64>
    attn.yield %0 : f64
  } : !attn.array<["S", 8], f64>
  %w = attn.compute "w" (%t: "T", %i: "S") {
    %0 = attn.read %x[%t, %i] : !attn.array<["T", "S"], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "S"], f64>
  %c = attn.compute "c" (%t: "T", %n: 16) sum (%i: "S") order(chain, fused) {
    %0 = attn.read %w[%t, %i] : !attn.array<["T", "S"], f64>
    %1 = attn.read %h[%i, %n] : !attn.array<["S", 16], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 16], f64>
  %d = attn.compute "d" (%t: "T", %n: 8) sum (%i: "S") order(chain, fused) {
    %0 = attn.read %w[%t, %i] : !attn.array<["T", "S"], f64>
    %1 = attn.read %small[%i, %n] : !attn.array<["S", 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 8], f64>
  attn.output "c" %c : !attn.array<["T", 16], f64>
  attn.output "d" %d : !attn.array<["T", 8], f64>
}
