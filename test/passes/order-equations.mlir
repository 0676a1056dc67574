// RUN: fovea-opt %s --split-input-file --attn-order-equations | FileCheck %s

// The score of a query and a key: each depends on an index that the other
// lacks. The product with weights, of an example with no index of its own: the
// example is one. Additive scores have partial results.

// CHECK-LABEL: attn.system @loss
attn.system @loss {
  attn.length "T"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %x = attn.data "x" : !attn.array<[64], f64>
  %w = attn.param "w" : !attn.array<[32, 64], f64>
  %v = attn.param "v" : !attn.array<[64], f64>
  // CHECK: attn.compute "score" {{.*}} sum (%{{.*}}: 64) order(chain, fused) {
  %score = attn.compute "score" (%t: "T", %u: "T") sum (%k: 64) {
    %0 = attn.read %q[%t, %k] : !attn.array<["T", 64], f64>
    %1 = attn.read %q[%u, %k] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  // CHECK: attn.compute "layer" {{.*}} order(chain, fused) {
  %layer = attn.compute "layer" (%n: 32) sum (%k: 64) {
    %0 = attn.read %w[%n, %k] : !attn.array<[32, 64], f64>
    %1 = attn.read %x[%k] : !attn.array<[64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[32], f64>
  // CHECK: attn.compute "additive" {{.*}} sum (%[[A:.*]]: 64) order(lanes %[[A]], fused) {
  %additive = attn.compute "additive" (%t: "T") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = math.tanh %0 : f64
    %2 = attn.read %v[%a] : !attn.array<[64], f64>
    %3 = arith.mulf %2, %1 : f64
    attn.yield %3 : f64
  } : !attn.array<["T"], f64>
  // Too few columns to be a product.
  // CHECK: attn.compute "gates" {{.*}} sum (%[[K:.*]]: 64) order(lanes %[[K]], fused) {
  %two = attn.param "two" : !attn.array<[2, 64], f64>
  %gates = attn.compute "gates" (%t: "T", %n: 2) sum (%k: 64) {
    %0 = attn.read %two[%n, %k] : !attn.array<[2, 64], f64>
    %1 = attn.read %q[%t, %k] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 2], f64>
  attn.output "score" %score : !attn.array<["T", "T"], f64>
  attn.output "layer" %layer : !attn.array<[32], f64>
  attn.output "additive" %additive : !attn.array<["T"], f64>
  attn.output "gates" %gates : !attn.array<["T", 2], f64>
}

// -----

// A product that is an equation of its own is written into the sum, whoever
// else reads it; one with a name is not, where it is no larger than what it is
// made of.

// CHECK-LABEL: attn.system @loss
attn.system @loss {
  attn.length "T"
  %w = attn.data "w" : !attn.array<["T", "T"], f64>
  %v = attn.data "v" : !attn.array<["T", 32], f64>
  %0 = attn.compute (%t: "T", %u: "T", %d: 32) {
    %1 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = attn.read %v[%u, %d] : !attn.array<["T", 32], f64>
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["T", "T", 32], f64>
  // CHECK: attn.compute "read" {{.*}} order(chain, fused) {
  // CHECK-NEXT: attn.read %w
  // CHECK-NEXT: attn.read %v
  // CHECK-NEXT: arith.mulf
  %read = attn.compute "read" (%t: "T", %d: 32) sum (%u: "T") {
    %1 = attn.read %0[%t, %u, %d] : !attn.array<["T", "T", 32], f64>
    attn.yield %1 : f64
  } : !attn.array<["T", 32], f64>
  %square = attn.compute "square" (%t: "T", %d: 32) {
    %1 = attn.read %v[%t, %d] : !attn.array<["T", 32], f64>
    %2 = arith.mulf %1, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 32], f64>
  // CHECK: attn.compute "norm" {{.*}} sum (%[[D:.*]]: 32) order(lanes %[[D]]) {
  // CHECK-NEXT: attn.read %square
  %norm = attn.compute "norm" (%t: "T") sum (%d: 32) {
    %1 = attn.read %square[%t, %d] : !attn.array<["T", 32], f64>
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  attn.output "read" %read : !attn.array<["T", 32], f64>
  attn.output "norm" %norm : !attn.array<["T"], f64>
}

// -----

// What a search carries from step to step is added up one by one, and what has
// an order keeps it.

// CHECK-LABEL: attn.system @loss
attn.system @loss {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 32], f64>
  %g = attn.data "g" : !attn.array<["T"], f64>
  // CHECK: attn.compute "running" {{.*}} order(chain) where
  %running = attn.compute "running" (%t: "T", %d: 32) sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %x[%u, %d] : !attn.array<["T", 32], f64>
    %1 = attn.read %g[%u] : !attn.array<["T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 32], f64>
  // CHECK: attn.compute "kept" {{.*}} order(chain, fused) {
  %kept = attn.compute "kept" (%t: "T") sum (%d: 32) order(chain, fused) {
    %0 = attn.read %x[%t, %d] : !attn.array<["T", 32], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "running" %running : !attn.array<["T", 32], f64>
  attn.output "kept" %kept : !attn.array<["T"], f64>
}

// -----

// The channels of a convolution are the last index of its sum.

// CHECK-LABEL: attn.system @decode
attn.system @decode {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 32], f64>
  %w = attn.param "w" : !attn.array<[16, 32, 3], f64>
  // CHECK: attn.compute "h" (%{{.*}}: "T", %[[N:.*]]: 16) sum (%[[K:.*]]: 3, %[[C:.*]]: 32) order(chain, fused) {
  // CHECK: attn.read %w[%[[N]], %[[C]], %[[K]]]
  %h = attn.compute "h" (%t: "T", %n: 16) sum (%c: 32, %k: 3) {
    %zero = arith.constant 0.0 : f64
    %at = arith.subi %t, %k : index
    %0 = attn.read %w[%n, %c, %k] : !attn.array<[16, 32, 3], f64>
    %1 = attn.read %x[%at, %c] default %zero : f64 : !attn.array<["T", 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 16], f64>
  attn.output "h" %h : !attn.array<["T", 16], f64>
}

// -----

// A sum over earlier places and another index: a step of decoding adds what
// its place gives as one number, and so does training.

// CHECK-LABEL: attn.system @running
attn.system @running {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  %g = attn.data "g" : !attn.array<[16], f64>
  // CHECK:      %[[TERMS:.*]] = attn.compute (%{{.*}}: "T") sum (%[[K:.*]]: 16) order(lanes %[[K]], fused) where {
  // CHECK:        arith.cmpf ogt
  // CHECK-NEXT:   attn.yield
  // CHECK:      attn.compute "s" (%[[T:[a-z]+]]: "T") sum (%[[J:[a-z]+]]: "T") order(chain) where {
  // CHECK-NOT:    cmpf
  // CHECK:        arith.cmpi slt, %[[J]], %[[T]]
  // CHECK:        attn.read %[[TERMS]][%[[J]]]
  %s = attn.compute "s" (%t: "T") sum (%j: "T", %k: 16) where {
    %zero = arith.constant 0.0 : f64
    %0 = arith.cmpi slt, %j, %t : index
    %1 = attn.read %g[%k] : !attn.array<[16], f64>
    %2 = arith.cmpf ogt, %1, %zero : f64
    %3 = arith.andi %0, %2 : i1
    attn.yield %3 : i1
  } {
    %0 = attn.read %x[%j, %k] : !attn.array<["T", 16], f64>
    %1 = attn.read %g[%k] : !attn.array<[16], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  attn.output "s" %s : !attn.array<["T"], f64>
}

// -----

// A search completes blocks one by one: the sums over them are chains.

// CHECK-LABEL: attn.system @blocks
attn.system @blocks {
  attn.length "T"
  attn.length "T//4" is affine_map<()[s0] -> (s0 floordiv 4)> ["T"] blocks
  attn.length "T//2" is affine_map<()[s0] -> (s0 floordiv 2)> ["T"]
  %x = attn.data "x" : !attn.array<["T//4"], f64>
  %y = attn.data "y" : !attn.array<["T//2"], f64>
  // CHECK: attn.compute "a" () softmax (%{{.*}}: "T//4") order(chain)
  %a = attn.compute "a" () softmax (%m: "T//4") {
    %0 = attn.read %x[%m] : !attn.array<["T//4"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T//4"], f64>
  // CHECK: attn.compute "b" () softmax (%[[M:.*]]: "T//2") order(lanes %[[M]])
  %b = attn.compute "b" () softmax (%m: "T//2") {
    %0 = attn.read %y[%m] : !attn.array<["T//2"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T//2"], f64>
  attn.output "a" %a : !attn.array<["T//4"], f64>
  attn.output "b" %b : !attn.array<["T//2"], f64>
}
