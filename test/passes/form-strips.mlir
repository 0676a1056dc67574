// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn-order-sums,attn.program(attn-form-strips))" | FileCheck %s

// Scores, softmax and what is read: one kernel, which gives the last alone.
// What adds up over the queries takes strips as they come.

// CHECK-LABEL: attn.program @attention
attn.program @attention {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["S", 64], f64>
  %g = attn.data "g" : !attn.array<["T", 64], f64>
  // CHECK:      %[[C:.*]]:2 = attn.kernel strips over "T" {
  // CHECK:        %[[E:.*]] = attn.compute "e" (%{{.*}}: "T", %{{.*}}: "S") sum
  // CHECK:        attn.shared = array<i64: 0>
  // CHECK:        %[[W:.*]] = attn.compute "w" (%{{.*}}: "T") softmax
  // CHECK:          attn.read %[[E]]
  // CHECK:        attn.shared = array<i64: 0>
  // CHECK:        %[[READ:.*]] = attn.compute "c"
  // CHECK:          attn.read %[[W]]
  // CHECK:        attn.shared = array<i64: 0>
  // CHECK:        %[[BACK:.*]] = attn.compute "d v" (%{{.*}}: "S", %{{.*}}: 64) sum (%{{.*}}: "T")
  // CHECK:          attn.read %[[W]]
  // CHECK:        attn.shared = array<i64: 2>
  // CHECK:        attn.yield %[[READ]], %[[BACK]]
  // CHECK:      }
  // CHECK:      attn.output "c" %[[C]]#0
  // CHECK:      attn.output "dv" %[[C]]#1
  %e = attn.compute "e" (%t: "T", %u: "S") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  %w = attn.compute "w" (%t: "T") softmax (%u: "S") {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "S"], f64>
  %c = attn.compute "c" (%t: "T", %a: 64) sum (%u: "S") {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "S"], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %dv = attn.compute "d v" (%u: "S", %a: 64) sum (%t: "T") {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "S"], f64>
    %1 = attn.read %g[%t, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 64], f64>
  attn.output "c" %c : !attn.array<["T", 64], f64>
  attn.output "dv" %dv : !attn.array<["S", 64], f64>
}

// -----

// A score that is no product, with its softmax.

// CHECK-LABEL: attn.program @additive
attn.program @additive {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["S", 64], f64>
  // CHECK:      attn.kernel strips over "T" {
  // CHECK:        attn.compute "e"
  // CHECK:          math.tanh
  // CHECK:        attn.compute "w"
  // CHECK:        attn.compute "c"
  // CHECK:        attn.yield
  // CHECK:      }
  %e = attn.compute "e" (%t: "T", %u: "S") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 64], f64>
    %2 = arith.addf %0, %1 : f64
    %3 = math.tanh %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["T", "S"], f64>
  %w = attn.compute "w" (%t: "T") softmax (%u: "S") {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "S"], f64>
  %c = attn.compute "c" (%t: "T", %a: 64) sum (%u: "S") {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "S"], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "c" %c : !attn.array<["T", 64], f64>
}

// -----

// The scores of a vocabulary are the rows of all examples. The terms of what an
// example adds up of them are rows too (-attn-order-sums); their sum is outside.

// CHECK-LABEL: attn.program @vocabulary
attn.program @vocabulary {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 32], f64>
  %b = attn.param "b" : !attn.array<[32], f64>
  %out = attn.param "out" : !attn.array<[100, 32], f64>
  %h = attn.compute "h" (%t: "T", %k: 32) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 32], f64>
    %1 = attn.read %b[%k] : !attn.array<[32], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 32], f64>
  // CHECK:      %[[OWN:.*]] = attn.kernel strips over "T" {
  // CHECK:        %[[LOGITS:.*]] = attn.compute "logits"
  // CHECK:        attn.product = #attn.product<weights
  // CHECK:        attn.compute "total" (%{{.*}}: "T") {
  // CHECK:          attn.read %[[LOGITS]]
  // CHECK:      }
  // CHECK:      attn.compute "total" () sum
  // CHECK:        attn.read %[[OWN]]
  %logits = attn.compute "logits" (%t: "T", %v: 100) sum (%k: 32) {
    %0 = attn.read %h[%t, %k] : !attn.array<["T", 32], f64>
    %1 = attn.read %out[%v, %k] : !attn.array<[100, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 100], f64>
  %total = attn.compute "total" () sum (%t: "T") {
    %three = arith.constant 3 : index
    %0 = attn.read %logits[%t, %three] : !attn.array<["T", 100], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "total" %total : !attn.array<[], f64>
}

// -----

// What adds up rows that are no pairs stays the sum that it is.

// CHECK-LABEL: attn.program @picked
attn.program @picked {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 32], f64>
  %b = attn.param "b" : !attn.array<[32], f64>
  %out = attn.param "out" : !attn.array<[100, 32], f64>
  %h = attn.compute "h" (%t: "T", %k: 32) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 32], f64>
    %1 = attn.read %b[%k] : !attn.array<[32], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 32], f64>
  // CHECK:      %[[PICKED:.*]] = attn.kernel strips over "T" {
  // CHECK:        attn.compute "logits"
  // CHECK:        attn.compute "picked"
  // CHECK:      }
  // CHECK-NOT:  attn.compute "total" (
  // CHECK:      attn.compute "total" () sum
  // CHECK:        attn.read %[[PICKED]]
  // CHECK-NOT:  attn.compute
  %logits = attn.compute "logits" (%t: "T", %v: 100) sum (%k: 32) {
    %0 = attn.read %h[%t, %k] : !attn.array<["T", 32], f64>
    %1 = attn.read %out[%v, %k] : !attn.array<[100, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 100], f64>
  %picked = attn.compute "picked" (%t: "T") {
    %three = arith.constant 3 : index
    %0 = attn.read %logits[%t, %three] : !attn.array<["T", 100], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %total = attn.compute "total" () sum (%t: "T") {
    %0 = attn.read %picked[%t] : !attn.array<["T"], f64>
    %1 = arith.mulf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[], f64>
  attn.output "total" %total : !attn.array<[], f64>
}

// -----

// Where no kernel is formed, sums are added up in the same order.

// CHECK-LABEL: attn.program @whole
// CHECK-NOT: attn.kernel
// CHECK: attn.compute "logits"
// CHECK: attn.compute "total" (%
// CHECK: attn.compute "total" () sum (%[[T:.*]]: "T") order(lanes %[[T]]) {
attn.program @whole {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 32], f64>
  %b = attn.param "b" : !attn.array<[32], f64>
  %out = attn.param "out" : !attn.array<[100, 32], f64>
  %h = attn.compute "h" (%t: "T", %k: 32) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 32], f64>
    %1 = attn.read %b[%k] : !attn.array<[32], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 32], f64>
  %logits = attn.compute "logits" (%t: "T", %v: 100) sum (%k: 32) {
    %0 = attn.read %h[%t, %k] : !attn.array<["T", 32], f64>
    %1 = attn.read %out[%v, %k] : !attn.array<[100, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 100], f64>
  %total = attn.compute "total" () sum (%t: "T") {
    %three = arith.constant 3 : index
    %0 = attn.read %logits[%t, %three] : !attn.array<["T", 100], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "logits" %logits : !attn.array<["T", 100], f64>
  attn.output "total" %total : !attn.array<[], f64>
}

// -----

// Where the scores themselves are wanted, nothing is gained.

// CHECK-LABEL: attn.program @shown
// CHECK-NOT: attn.kernel
attn.program @shown {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["S", 64], f64>
  %e = attn.compute "e" (%t: "T", %u: "S") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  attn.output "e" %e : !attn.array<["T", "S"], f64>
}

// -----

// A machine with memory on its chip: what a later kernel reads of the weights
// is computed again there, and they are in memory for neither of both. The
// product of `y` stands between, whose rows are those of all examples.

// CHECK-LABEL: attn.program @on_chip
module attributes {attn.target = #nvidia.target<"chip", shared_bytes = 65536>} {
attn.program @on_chip {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 8], f64>
  %k = attn.data "k" : !attn.array<["S", 8], f64>
  %o = attn.param "o" : !attn.array<[8, 8], f64>
  // CHECK:      %[[C:.*]] = attn.kernel strips over "T" {
  // CHECK:        attn.compute "e"
  // CHECK:        %[[W:.*]] = attn.compute "w"
  // CHECK:        %[[READ:.*]] = attn.compute "c"
  // CHECK:          attn.read %[[W]]
  // CHECK:        attn.yield %[[READ]] :
  // CHECK:      %[[Y:.*]] = attn.compute "y"
  // CHECK:        attn.read %[[C]]
  // CHECK:      attn.kernel strips over "T" {
  // CHECK:        %[[E:.*]] = attn.compute "e"
  // CHECK:        %[[AGAIN:.*]] = attn.compute "w"
  // CHECK:          attn.read %[[E]]
  // CHECK:        attn.compute "d v"
  // CHECK:          attn.read %[[AGAIN]]
  // CHECK:        attn.yield
  %e = attn.compute "e" (%t: "T", %u: "S") sum (%a: 8) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 8], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  %w = attn.compute "w" (%t: "T") softmax (%u: "S") {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "S"], f64>
  %c = attn.compute "c" (%t: "T", %a: 8) sum (%u: "S") {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "S"], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 8], f64>
  %y = attn.compute "y" (%t: "T", %n: 8) sum (%a: 8) {
    %0 = attn.read %c[%t, %a] : !attn.array<["T", 8], f64>
    %1 = attn.read %o[%n, %a] : !attn.array<[8, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 8], f64>
  %g = attn.compute "g" (%t: "T", %n: 8) {
    %0 = attn.read %y[%t, %n] : !attn.array<["T", 8], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %dv = attn.compute "d v" (%u: "S", %a: 8) sum (%t: "T") {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "S"], f64>
    %1 = attn.read %g[%t, %a] : !attn.array<["T", 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 8], f64>
  attn.output "y" %y : !attn.array<["T", 8], f64>
  attn.output "dv" %dv : !attn.array<["S", 8], f64>
}
}

// -----

// Not: weights that somebody asks for, who has them in memory anyway; scores
// that are no product, which cost more than they take; and the scores of a
// vocabulary, of which a row is too long for a chip.

// CHECK-LABEL: attn.program @shown
module attributes {attn.target = #nvidia.target<"chip", shared_bytes = 65536>} {
attn.program @shown {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 8], f64>
  %k = attn.data "k" : !attn.array<["S", 8], f64>
  %o = attn.param "o" : !attn.array<[100, 8], f64>
  // CHECK:      %[[KERNEL:.*]]:2 = attn.kernel strips over "T" {
  // CHECK:        attn.compute "e"
  // CHECK:        %[[W:.*]] = attn.compute "w"
  // CHECK:        %[[READ:.*]] = attn.compute "c"
  // CHECK:        attn.yield %[[W]], %[[READ]]
  // CHECK-NOT:  attn.compute "e"
  // CHECK-NOT:  attn.kernel
  // CHECK:      attn.compute "logits"
  // CHECK-NOT:  attn.kernel
  // CHECK:      attn.compute "d v"
  // CHECK:        attn.read %[[KERNEL]]#0
  // CHECK:      attn.output "w" %[[KERNEL]]#0
  %e = attn.compute "e" (%t: "T", %u: "S") sum (%a: 8) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 8], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  %w = attn.compute "w" (%t: "T") softmax (%u: "S") {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "S"], f64>
  %c = attn.compute "c" (%t: "T", %a: 8) sum (%u: "S") {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "S"], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 8], f64>
  %y = attn.compute "logits" (%t: "T", %n: 100) sum (%a: 8) {
    %0 = attn.read %c[%t, %a] : !attn.array<["T", 8], f64>
    %1 = attn.read %o[%n, %a] : !attn.array<[100, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 100], f64>
  %g = attn.compute "g" (%t: "T", %n: 8) {
    %0 = attn.read %y[%t, %n] : !attn.array<["T", 100], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %dv = attn.compute "d v" (%u: "S", %a: 8) sum (%t: "T") {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "S"], f64>
    %1 = attn.read %g[%t, %a] : !attn.array<["T", 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 8], f64>
  attn.output "w" %w : !attn.array<["T", "S"], f64>
  attn.output "dv" %dv : !attn.array<["S", 8], f64>
}
}

// -----

// CHECK-LABEL: attn.program @additive_on_chip
module attributes {attn.target = #nvidia.target<"chip", shared_bytes = 65536>} {
attn.program @additive_on_chip {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 8], f64>
  %k = attn.data "k" : !attn.array<["S", 8], f64>
  %o = attn.param "o" : !attn.array<[8, 8], f64>
  // CHECK:      %[[KERNEL:.*]]:2 = attn.kernel strips over "T" {
  // CHECK:        attn.compute "e"
  // CHECK:        %[[W:.*]] = attn.compute "w"
  // CHECK:        attn.yield %[[W]],
  // CHECK-NOT:  attn.compute "e"
  // CHECK:      attn.compute "d v"
  // CHECK:        attn.read %[[KERNEL]]#0
  %e = attn.compute "e" (%t: "T", %u: "S") sum (%a: 8) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 8], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 8], f64>
    %2 = arith.addf %0, %1 : f64
    %3 = math.tanh %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["T", "S"], f64>
  %w = attn.compute "w" (%t: "T") softmax (%u: "S") {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "S"], f64>
  %c = attn.compute "c" (%t: "T", %a: 8) sum (%u: "S") {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "S"], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 8], f64>
  %y = attn.compute "y" (%t: "T", %n: 8) sum (%a: 8) {
    %0 = attn.read %c[%t, %a] : !attn.array<["T", 8], f64>
    %1 = attn.read %o[%n, %a] : !attn.array<[8, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 8], f64>
  %g = attn.compute "g" (%t: "T", %n: 8) {
    %0 = attn.read %y[%t, %n] : !attn.array<["T", 8], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %dv = attn.compute "d v" (%u: "S", %a: 8) sum (%t: "T") {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "S"], f64>
    %1 = attn.read %g[%t, %a] : !attn.array<["T", 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 8], f64>
  attn.output "y" %y : !attn.array<["T", 8], f64>
  attn.output "dv" %dv : !attn.array<["S", 8], f64>
}
}
