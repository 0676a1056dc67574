// RUN: fovea-opt %s --split-input-file --attn-batch --attn-name-products --attn-order-sums | FileCheck %s

// Neighbours along the index of a sum are read one beside the other: they have
// partial results. Nothing else of the equation changes.

// CHECK-LABEL: attn.program @neighbours
attn.program @neighbours {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 33], f64>
  // CHECK: attn.compute "norm" (%{{.*}}: "S") sum (%[[K:.*]]: 33) order(lanes %[[K]], fused)
  %n = attn.compute "norm" (%i: "S") sum (%k: 33) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 33], f64>
    %1 = arith.mulf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["S"], f64>
  attn.output "norm" %n : !attn.array<["S"], f64>
}

// -----

// Results that lie one beside the other serve vectors better: each element is
// one chain, on every machine.

// CHECK-LABEL: attn.program @results
attn.program @results {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 33], f64>
  // CHECK: attn.compute "total" (%{{.*}}: 33) sum (%{{.*}}: "S") order(chain) {
  %n = attn.compute "total" (%k: 33) sum (%i: "S") {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 33], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[33], f64>
  attn.output "total" %n : !attn.array<[33], f64>
}

// -----

// A matrix product is one chain for each element, whatever it reads.

// CHECK-LABEL: attn.program @product
attn.program @product {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 32], f64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  // CHECK: attn.compute "h" {{.*}} order(chain, fused)
  // CHECK: attn.product
  %h = attn.compute "h" (%i: "S", %n: 64) sum (%k: 32) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 64], f64>
  attn.output "h" %h : !attn.array<["S", 64], f64>
}

// -----

// The log-likelihood of a sentence: its terms are an equation, which may be
// computed with the rows that they read, and their sum has partial results.

// CHECK-LABEL: attn.program @likelihood
attn.program @likelihood {
  attn.length "T"
  %word = attn.data "word" : !attn.array<["T"], i64>
  %logp = attn.data "logp" : !attn.array<["T", 50], f64>
  // CHECK: %[[TERMS:.*]] = attn.compute "p" (%[[T:.*]]: "T") {
  // CHECK-NEXT: %[[W:.*]] = attn.read %{{.*}}[%[[T]]]
  // CHECK-NEXT: arith.index_cast %[[W]]
  // CHECK: attn.compute "p" () sum (%[[U:.*]]: "T") order(lanes %[[U]]) {
  // CHECK-NEXT: attn.read %[[TERMS]][%[[U]]]
  %p = attn.compute "p" () sum (%t: "T") {
    %0 = attn.read %word[%t] : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %logp[%t, %1] : !attn.array<["T", 50], f64>
    attn.yield %2 : f64
  } : !attn.array<[], f64>
  attn.output "p" %p : !attn.array<[], f64>
}

// -----

// A condition says which terms count: the sum stays as it is, a chain.

// CHECK-LABEL: attn.program @masked
attn.program @masked {
  attn.length "T"
  %word = attn.data "word" : !attn.array<["T"], i64>
  %logp = attn.data "logp" : !attn.array<["T", 50], f64>
  // CHECK: attn.compute "p" () sum (%{{.*}}: "T") order(chain) where
  %p = attn.compute "p" () sum (%t: "T") where {
    %c = arith.constant 3 : index
    %0 = arith.cmpi slt, %t, %c : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %word[%t] : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %logp[%t, %1] : !attn.array<["T", 50], f64>
    attn.yield %2 : f64
  } : !attn.array<[], f64>
  attn.output "p" %p : !attn.array<[], f64>
}

// -----

// The sum over the examples of a product that each of them has: the chain ends
// with the example, wherever examples are computed.

// CHECK-LABEL: attn.program @examples
attn.program @examples {
  %q = attn.data "q" : !attn.array<[16, 8], f64>
  %k = attn.data "k" : !attn.array<[24, 8], f64>
  // CHECK: %[[EACH:.*]] = attn.compute "s" (%{{.*}}: 16, %{{.*}}: 24) sum (%{{.*}}: 8)
  // CHECK: attn.batch = "each"
  // CHECK-SAME: attn.product = #attn.product<each
  // CHECK: attn.compute "s" (%[[I:.*]]: 16, %[[J:.*]]: 24) {
  // CHECK-NEXT: attn.read %[[EACH]][%[[I]], %[[J]]]
  // CHECK: attn.batch = "sum"
  %s = attn.compute "s" (%i: 16, %j: 24) sum (%n: 8) {
    %0 = attn.read %q[%i, %n] : !attn.array<[16, 8], f64>
    %1 = attn.read %k[%j, %n] : !attn.array<[24, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[16, 24], f64>
  attn.output "grad/s" %s : !attn.array<[16, 24], f64>
}

// -----

// What has an order keeps it, and is named a product only where it is a chain
// with one rounding for a product and its addition.

// CHECK-LABEL: attn.program @kept
attn.program @kept {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 32], f64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  // CHECK: attn.compute "h" {{.*}} order(chain) {
  // CHECK-NOT: attn.product
  // CHECK: attn.output
  %h = attn.compute "h" (%i: "S", %n: 64) sum (%k: 32) order(chain) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 64], f64>
  attn.output "h" %h : !attn.array<["S", 64], f64>
}

// -----

// A fused sum keeps its products: as an equation of their own, they would be
// rounded.

// CHECK-LABEL: attn.program @fused
attn.program @fused {
  attn.length "S"
  %a = attn.data "a" : !attn.array<["S"], f64>
  %h = attn.data "h" : !attn.array<["S", 5], f64>
  // CHECK: attn.compute "z" () sum (%[[U:.*]]: "S") order(chain, fused) {
  // CHECK: arith.mulf
  %z = attn.compute "z" () sum (%i: "S") order(chain, fused) {
    %c0 = arith.constant 0 : index
    %0 = attn.read %a[%i] : !attn.array<["S"], f64>
    %1 = attn.read %h[%i, %c0] : !attn.array<["S", 5], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[], f64>
  attn.output "z" %z : !attn.array<[], f64>
}
