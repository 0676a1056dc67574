// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn-order-sums,attn.program(attn-choose-precision,attn-split-adjoints))" | FileCheck %s

// Attention and its backward pass, of queries up to the key. The forward pass
// keeps a number of each query; sums over keys and sums over queries have pairs
// of their own, the latter with keys as rows and their bands turned.

// CHECK-LABEL: attn.program @causal
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", shared_bytes = 65536>} {
attn.program @causal {
  attn.length "T"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["T", 64], f64>
  %v = attn.data "v" : !attn.array<["T", 64], f64>
  %d = attn.data "d" : !attn.array<["T", 64], f64>
  // CHECK:      %[[E:.*]] = attn.compute "e" (%{{.*}}: "T", %{{.*}}: "T") sum
  // CHECK:      %[[S:.*]] = attn.compute "w" (%{{.*}}: "T", %{{.*}}: "T") where
  // CHECK:        attn.read %[[E]]
  // CHECK-NEXT:   math.tanh
  // CHECK:      %[[W:.*]] = attn.compute "w" (%{{.*}}: "T") softmax (%[[WU:.*]]: "T") order(lanes %[[WU]]) where
  // CHECK:        attn.read %[[S]]
  // CHECK-NEXT:   attn.yield
  // CHECK:      %[[SUMS:.*]] = attn.compute "w" (%[[T:.*]]: "T") logsumexp (%[[U:.*]]: "T") order(lanes %[[U]]) where
  // CHECK-NEXT:   arith.cmpi sle, %[[U]], %[[T]]
  // CHECK:        attn.read %[[S]]
  // CHECK-NEXT:   attn.yield
  // CHECK:      %[[C:.*]] = attn.compute "c"
  // CHECK:        attn.read %[[W]]
  // CHECK:      %[[L:.*]] = attn.compute "adjoint of w" (%[[T:.*]]: "T") sum (%[[A:.*]]: 64) order(lanes %[[A]], fused) {
  // CHECK-NEXT:   attn.read %d[%[[T]], %[[A]]]
  // CHECK-NEXT:   attn.read %[[C]][%[[T]], %[[A]]]
  // CHECK:      %[[E:.*]] = attn.compute "e" (%[[T:.*]]: "T", %[[U:.*]]: "T") sum (%[[A:.*]]: 64) order(chain, fused) {
  // CHECK-NEXT:   attn.read %q[%[[T]], %[[A]]]
  // CHECK:        left = 0, rows(0), columns(1), terms(2)>
  // CHECK:      %[[S:.*]] = attn.compute "w" (%{{.*}}: "T", %{{.*}}: "T") where
  // CHECK:        attn.read %[[E]]
  // CHECK:      %[[W:.*]] = attn.compute "w" (%[[T:.*]]: "T", %[[U:.*]]: "T") where
  // CHECK:        %[[SCORE:.*]] = attn.read %[[S]][%[[T]], %[[U]]]
  // CHECK:        %[[SUM:.*]] = attn.read %[[SUMS]][%[[T]]]
  // CHECK:        %[[LESS:.*]] = arith.subf %[[SCORE]], %[[SUM]]
  // CHECK:        math.exp %[[LESS]]
  // CHECK:      %[[DW:.*]] = attn.compute "d w" (%{{.*}}: "T", %{{.*}}: "T") sum
  // CHECK:      %[[DE:.*]] = attn.compute "d e" (%[[T:.*]]: "T", %[[U:.*]]: "T") where {
  // CHECK-NEXT:   arith.cmpi sle, %[[U]], %[[T]]
  // CHECK:        attn.read %[[W]][%[[T]], %[[U]]]
  // CHECK:        attn.read %[[DW]][%[[T]], %[[U]]]
  // CHECK:        attn.read %[[L]][%[[T]]]
  // CHECK:      attn.compute "d q" (%[[T:.*]]: "T", %{{.*}}: 64) sum (%[[U:.*]]: "T") order(chain, fused) {
  // CHECK-NEXT:   attn.read %[[DE]][%[[T]], %[[U]]]
  // CHECK:      %[[E:.*]] = attn.compute "e" (%[[U:.*]]: "T", %[[T:.*]]: "T") sum (%[[A:.*]]: 64) order(chain, fused) {
  // CHECK-NEXT:   attn.read %q[%[[T]], %[[A]]]
  // CHECK-NEXT:   attn.read %k[%[[U]], %[[A]]]
  // CHECK:        left = 1, rows(0), columns(1), terms(2)>
  // CHECK:      %[[S:.*]] = attn.compute "w" (%{{.*}}: "T", %{{.*}}: "T") where
  // CHECK:        attn.read %[[E]]
  // CHECK:      %[[W:.*]] = attn.compute "w" (%[[U:.*]]: "T", %[[T:.*]]: "T") where {
  // CHECK-NEXT:   arith.cmpi sle, %[[U]], %[[T]]
  // CHECK:        attn.read %[[S]][%[[U]], %[[T]]]
  // CHECK:        attn.read %[[SUMS]][%[[T]]]
  // CHECK:      attn.compute "d w" (%{{.*}}: "T", %{{.*}}: "T") sum
  // CHECK:        left = 1, rows(0), columns(1 in 0 to *), terms(2)>
  // CHECK:      %[[DE:.*]] = attn.compute "d e" (%[[U:.*]]: "T", %[[T:.*]]: "T") where {
  // CHECK-NEXT:   arith.cmpi sle, %[[U]], %[[T]]
  // CHECK:      attn.compute "d v" (%[[U:.*]]: "T", %{{.*}}: 64) sum (%[[T:.*]]: "T") order(chain, fused) where
  // CHECK:        attn.read %[[W]][%[[U]], %[[T]]]
  // CHECK:      attn.compute "d k" (%[[U:.*]]: "T", %{{.*}}: 64) sum (%[[T:.*]]: "T") order(chain, fused) {
  // CHECK-NEXT:   attn.read %[[DE]][%[[U]], %[[T]]]
  %e = attn.compute "e" (%t: "T", %u: "T") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %w = attn.compute "w" (%t: "T") softmax (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "T"], f64>
  %c = attn.compute "c" (%t: "T", %a: 64) sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %v[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %dw = attn.compute "d w" (%t: "T", %u: "T") sum (%a: 64) where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %d[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %v[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %dv = attn.compute "d v" (%u: "T", %a: 64) sum (%t: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %d[%t, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %l = attn.compute "adjoint of w" (%t: "T") sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %dw[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %de = attn.compute "d e" (%t: "T", %u: "T") {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %dw[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = attn.read %l[%t] : !attn.array<["T"], f64>
    %3 = arith.subf %1, %2 : f64
    %4 = arith.mulf %0, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["T", "T"], f64>
  %dq = attn.compute "d q" (%t: "T", %a: 64) sum (%u: "T") {
    %0 = attn.read %de[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %dk = attn.compute "d k" (%u: "T", %a: 64) sum (%t: "T") {
    %0 = attn.read %de[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "c" %c : !attn.array<["T", 64], f64>
  attn.output "dq" %dq : !attn.array<["T", 64], f64>
  attn.output "dk" %dk : !attn.array<["T", 64], f64>
  attn.output "dv" %dv : !attn.array<["T", 64], f64>
}
}

// -----

// Not: factors as they are, whose sums have the order of the equations.

// CHECK-LABEL: attn.program @exact
module attributes {attn.target = #nvidia.target<"chip", shared_bytes = 65536>} {
attn.program @exact {
  attn.length "T"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["T", 64], f64>
  %v = attn.data "v" : !attn.array<["T", 64], f64>
  %d = attn.data "d" : !attn.array<["T", 64], f64>
  // CHECK-NOT: logsumexp
  // CHECK:     attn.output "c"
  %e = attn.compute "e" (%t: "T", %u: "T") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %w = attn.compute "w" (%t: "T") softmax (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "T"], f64>
  %c = attn.compute "c" (%t: "T", %a: 64) sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %v[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %dw = attn.compute "d w" (%t: "T", %u: "T") sum (%a: 64) where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %d[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %v[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %dv = attn.compute "d v" (%u: "T", %a: 64) sum (%t: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %d[%t, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %l = attn.compute "adjoint of w" (%t: "T") sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %dw[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %de = attn.compute "d e" (%t: "T", %u: "T") {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %dw[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = attn.read %l[%t] : !attn.array<["T"], f64>
    %3 = arith.subf %1, %2 : f64
    %4 = arith.mulf %0, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["T", "T"], f64>
  %dq = attn.compute "d q" (%t: "T", %a: 64) sum (%u: "T") {
    %0 = attn.read %de[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %dk = attn.compute "d k" (%u: "T", %a: 64) sum (%t: "T") {
    %0 = attn.read %de[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "c" %c : !attn.array<["T", 64], f64>
  attn.output "dq" %dq : !attn.array<["T", 64], f64>
  attn.output "dk" %dk : !attn.array<["T", 64], f64>
  attn.output "dv" %dv : !attn.array<["T", 64], f64>
}
}

// -----

// Nor weights that are asked for: they are in memory.

// CHECK-LABEL: attn.program @shown
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", shared_bytes = 65536>} {
attn.program @shown {
  attn.length "T"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["T", 64], f64>
  %v = attn.data "v" : !attn.array<["T", 64], f64>
  %d = attn.data "d" : !attn.array<["T", 64], f64>
  // CHECK-NOT: logsumexp
  // CHECK:     attn.output "c"
  %e = attn.compute "e" (%t: "T", %u: "T") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %w = attn.compute "w" (%t: "T") softmax (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "T"], f64>
  %c = attn.compute "c" (%t: "T", %a: 64) sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %v[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %dw = attn.compute "d w" (%t: "T", %u: "T") sum (%a: 64) where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %d[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %v[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %dv = attn.compute "d v" (%u: "T", %a: 64) sum (%t: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %d[%t, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %l = attn.compute "adjoint of w" (%t: "T") sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %dw[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %de = attn.compute "d e" (%t: "T", %u: "T") {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %dw[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = attn.read %l[%t] : !attn.array<["T"], f64>
    %3 = arith.subf %1, %2 : f64
    %4 = arith.mulf %0, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["T", "T"], f64>
  %dq = attn.compute "d q" (%t: "T", %a: 64) sum (%u: "T") {
    %0 = attn.read %de[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %dk = attn.compute "d k" (%u: "T", %a: 64) sum (%t: "T") {
    %0 = attn.read %de[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "c" %c : !attn.array<["T", 64], f64>
  attn.output "dq" %dq : !attn.array<["T", 64], f64>
  attn.output "dk" %dk : !attn.array<["T", 64], f64>
  attn.output "dv" %dv : !attn.array<["T", 64], f64>
  attn.output "w" %w : !attn.array<["T", "T"], f64>
}
}

// -----

// Nor an attention without a backward pass.

// CHECK-LABEL: attn.program @forward
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", shared_bytes = 65536>} {
attn.program @forward {
  attn.length "T"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["T", 64], f64>
  %v = attn.data "v" : !attn.array<["T", 64], f64>
  %d = attn.data "d" : !attn.array<["T", 64], f64>
  // CHECK-NOT: logsumexp
  // CHECK:     attn.output "c"
  %e = attn.compute "e" (%t: "T", %u: "T") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %w = attn.compute "w" (%t: "T") softmax (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "T"], f64>
  %c = attn.compute "c" (%t: "T", %a: 64) sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %v[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "c" %c : !attn.array<["T", 64], f64>
}
}

// -----

// Nor what is read of more keys than have weights; it is no product of what
// the adjoint takes off.

// CHECK-LABEL: attn.program @another
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", shared_bytes = 65536>} {
attn.program @another {
  attn.length "T"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["T", 64], f64>
  %v = attn.data "v" : !attn.array<["T", 64], f64>
  %d = attn.data "d" : !attn.array<["T", 64], f64>
  // CHECK-NOT: logsumexp
  // CHECK:     attn.output "c"
  %e = attn.compute "e" (%t: "T", %u: "T") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %w = attn.compute "w" (%t: "T") softmax (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "T"], f64>
  %c = attn.compute "c" (%t: "T", %a: 64) sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %v[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %dw = attn.compute "d w" (%t: "T", %u: "T") sum (%a: 64) where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %d[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %dv = attn.compute "d v" (%u: "T", %a: 64) sum (%t: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %d[%t, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %l = attn.compute "adjoint of w" (%t: "T") sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %dw[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %de = attn.compute "d e" (%t: "T", %u: "T") {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %dw[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = attn.read %l[%t] : !attn.array<["T"], f64>
    %3 = arith.subf %1, %2 : f64
    %4 = arith.mulf %0, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["T", "T"], f64>
  %dq = attn.compute "d q" (%t: "T", %a: 64) sum (%u: "T") {
    %0 = attn.read %de[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %dk = attn.compute "d k" (%u: "T", %a: 64) sum (%t: "T") {
    %0 = attn.read %de[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "c" %c : !attn.array<["T", 64], f64>
  attn.output "dq" %dq : !attn.array<["T", 64], f64>
  attn.output "dk" %dk : !attn.array<["T", 64], f64>
  attn.output "dv" %dv : !attn.array<["T", 64], f64>
}
}

// -----

// Nor another normaliser.

// CHECK-LABEL: attn.program @logs
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", shared_bytes = 65536>} {
attn.program @logs {
  attn.length "T"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["T", 64], f64>
  %v = attn.data "v" : !attn.array<["T", 64], f64>
  %d = attn.data "d" : !attn.array<["T", 64], f64>
  // CHECK-NOT: logsumexp
  // CHECK:     attn.output "c"
  %e = attn.compute "e" (%t: "T", %u: "T") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %w = attn.compute "w" (%t: "T") log_softmax (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "T"], f64>
  %c = attn.compute "c" (%t: "T", %a: 64) sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %v[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %dw = attn.compute "d w" (%t: "T", %u: "T") sum (%a: 64) where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %d[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %v[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %dv = attn.compute "d v" (%u: "T", %a: 64) sum (%t: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %d[%t, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %l = attn.compute "adjoint of w" (%t: "T") sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %dw[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %de = attn.compute "d e" (%t: "T", %u: "T") {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %dw[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = attn.read %l[%t] : !attn.array<["T"], f64>
    %3 = arith.subf %1, %2 : f64
    %4 = arith.mulf %0, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["T", "T"], f64>
  %dq = attn.compute "d q" (%t: "T", %a: 64) sum (%u: "T") {
    %0 = attn.read %de[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %dk = attn.compute "d k" (%u: "T", %a: 64) sum (%t: "T") {
    %0 = attn.read %de[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "c" %c : !attn.array<["T", 64], f64>
  attn.output "dq" %dq : !attn.array<["T", 64], f64>
  attn.output "dk" %dk : !attn.array<["T", 64], f64>
  attn.output "dv" %dv : !attn.array<["T", 64], f64>
}
}
