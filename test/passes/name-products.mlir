// RUN: fovea-opt %s --split-input-file --attn-batch --attn-name-products | FileCheck %s

// A layer, whose weights the batch has once: all rows at once, whichever way
// the weights lie and whichever factor comes first.

// CHECK-LABEL: attn.program @weights
attn.program @weights {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 32], f64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  %v = attn.param "v" : !attn.array<[32, 64], f64>
  // CHECK: attn.compute "h"
  // CHECK: attn.product = #attn.product<weights, left = 0, rows(0), columns(1), terms(2)>
  %h = attn.compute "h" (%i: "S", %n: 64) sum (%k: 32) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 64], f64>
  // CHECK: attn.compute "g"
  // CHECK: attn.product = #attn.product<weights, left = 1, rows(0), columns(1), terms(2)>
  %g = attn.compute "g" (%i: "S", %n: 64) sum (%k: 32) {
    %0 = attn.read %v[%k, %n] : !attn.array<[32, 64], f64>
    %1 = attn.read %x[%i, %k] : !attn.array<["S", 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 64], f64>
  attn.output "h" %h : !attn.array<["S", 64], f64>
  attn.output "g" %g : !attn.array<["S", 64], f64>
}

// -----

// Where a condition leaves some columns only, the others are zero.

// CHECK-LABEL: attn.program @columns
attn.program @columns {
  %x = attn.data "x" : !attn.array<[32], f64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  // CHECK: attn.product = #attn.product<weights, left = 0, columns(0 from 4 to 40), terms(1)>
  %h = attn.compute "h" (%n: 4 to 64) sum (%k: 32) where {
    %end = arith.constant 40 : index
    %0 = arith.cmpi slt, %n, %end : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %x[%k] : !attn.array<[32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[64], f64>
  attn.output "h" %h : !attn.array<[64], f64>
}

// -----

// Weights that are one of several matrices, or some of its rows. A matrix that
// the example chooses is not one that the batch has once.

// CHECK-LABEL: attn.program @matrix
attn.program @matrix {
  %x = attn.data "x" : !attn.array<[32], f64>
  %i = attn.data "i" : !attn.array<[], i64>
  %w = attn.param "w" : !attn.array<[2, 3, 64, 32], f64>
  // CHECK: attn.compute "h"
  // CHECK: attn.product = #attn.product<weights, left = 0, columns(0), terms(1)>
  %h = attn.compute "h" (%n: 16) sum (%k: 32) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c48 = arith.constant 48 : index
    %row = arith.addi %n, %c48 : index
    %0 = attn.read %x[%k] : !attn.array<[32], f64>
    %1 = attn.read %w[%c1, %c2, %row, %k] : !attn.array<[2, 3, 64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[16], f64>
  // CHECK: attn.compute "g"
  // CHECK-NOT: attn.product
  %g = attn.compute "g" (%n: 64) sum (%k: 32) {
    %c1 = arith.constant 1 : index
    %number = attn.read %i[] : !attn.array<[], i64>
    %at = arith.index_cast %number : i64 to index
    %0 = attn.read %x[%k] : !attn.array<[32], f64>
    %1 = attn.read %w[%at, %c1, %n, %k] : !attn.array<[2, 3, 64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[64], f64>
  attn.output "h" %h : !attn.array<[16], f64>
  attn.output "g" %g : !attn.array<[64], f64>
}

// -----

// At one place of the left side.

// CHECK-LABEL: attn.program @place
attn.program @place {
  %x = attn.data "x" : !attn.array<[5, 32], f64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  // CHECK: attn.product = #attn.product<place, left = 0, columns(0), terms(1)>
  %h = attn.compute "h" (%n: 64) sum (%k: 32) {
    %last = arith.constant 4 : index
    %0 = attn.read %x[%last, %k] : !attn.array<[5, 32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[64], f64>
  attn.output "h" %h : !attn.array<[64], f64>
}

// -----

// The gradient of the weights: the rows of all examples are the terms.

// CHECK-LABEL: attn.program @grad
attn.program @grad {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 32], f64>
  %d = attn.data "d" : !attn.array<["S", 64], f64>
  // CHECK: attn.product = #attn.product<examples, left = 0, rows(0), columns(1), terms(2)>
  %w = attn.compute "d w" (%n: 64, %k: 32) sum (%i: "S") {
    %0 = attn.read %d[%i, %n] : !attn.array<["S", 64], f64>
    %1 = attn.read %x[%i, %k] : !attn.array<["S", 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[64, 32], f64>
  attn.output "grad/w" %w : !attn.array<[64, 32], f64>
}

// -----

// Scores of several heads, each example by itself; keys up to the query alone.
// The terms of the read end where the weights are zero.

// CHECK-LABEL: attn.program @attention
attn.program @attention {
  attn.length "T"
  %q = attn.data "q" : !attn.array<["T", 8, 64], f64>
  // CHECK: attn.product = #attn.product<each, left = 0, batch(0), rows(1), columns(2 in * to 0), terms(3)>
  %e = attn.compute "e" (%h: 8, %t: "T", %u: "T") sum (%k: 64) where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %q[%t, %h, %k] : !attn.array<["T", 8, 64], f64>
    %1 = attn.read %q[%u, %h, %k] : !attn.array<["T", 8, 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[8, "T", "T"], f64>
  %w = attn.compute "w" (%h: 8, %t: "T") softmax (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %e[%h, %t, %u] : !attn.array<[8, "T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<[8, "T", "T"], f64>
  // CHECK: attn.product = #attn.product<each, left = 0, batch(0), rows(1), columns(2), terms(3 in * to 0)>
  %c = attn.compute "c" (%h: 8, %t: "T", %k: 64) sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %w[%h, %t, %u] : !attn.array<[8, "T", "T"], f64>
    %1 = attn.read %q[%u, %h, %k] : !attn.array<["T", 8, 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[8, "T", 64], f64>
  attn.output "c" %c : !attn.array<[8, "T", 64], f64>
}

// -----

// A length that follows from another is a length like any.

// CHECK-LABEL: attn.program @half
attn.program @half {
  attn.length "S"
  attn.length "(S+1)//2" is affine_map<()[s0] -> ((s0 + 1) floordiv 2)> ["S"]
  attn.length "T"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["(S+1)//2", 64], f64>
  // CHECK: attn.product = #attn.product<each, left = 0, rows(0), columns(1), terms(2)>
  %e = attn.compute "e" (%t: "T", %u: "(S+1)//2") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["(S+1)//2", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "(S+1)//2"], f64>
  attn.output "e" %e : !attn.array<["T", "(S+1)//2"], f64>
}

// -----

// In a loop: one of each step, also of what is kept for all steps.

// CHECK-LABEL: attn.program @loop
attn.program @loop {
  attn.length "T"
  %f = attn.data "f" : !attn.array<["T", 16, 32], f64>
  %start = attn.data "start" : !attn.array<[32, 24], f64>
  %few = attn.data "few" : !attn.array<[32, 15], f64>
  // CHECK: attn.compute "near" (%{{.*}}: 16, %{{.*}}: 24) sum (%{{.*}}: 32)
  // CHECK: attn.product = #attn.product<each, left = 0, rows(0), columns(1), terms(2)>
  // CHECK: attn.compute "back" (%{{.*}}: 32, %{{.*}}: 24) sum (%{{.*}}: 16)
  // CHECK: attn.product = #attn.product<each, left = 0, rows(0), columns(1), terms(2)>
  %last, %all = attn.scan "T" (%step) carries (%carry = %start : !attn.array<[32, 24], f64>) axes [0] {
    %near = attn.compute "near" (%j: 16, %x: 24) sum (%y: 32) {
      %0 = attn.read %f[%step, %j, %y] : !attn.array<["T", 16, 32], f64>
      %1 = attn.read %carry[%y, %x] : !attn.array<[32, 24], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[16, 24], f64>
    %back = attn.compute "back" (%y: 32, %x: 24) sum (%j: 16) {
      %0 = attn.read %f[%step, %j, %y] : !attn.array<["T", 16, 32], f64>
      %1 = attn.read %near[%j, %x] : !attn.array<[16, 24], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[32, 24], f64>
    // Less than 8192 multiply-adds are computed as they are written.
    // CHECK:     attn.compute "small" (%{{.*}}: 16, %{{.*}}: 15) sum (%{{.*}}: 32)
    // CHECK-NOT: attn.product
    // CHECK:     attn.yield %{{.*}}, %{{.*}} :
    %small = attn.compute "small" (%j: 16, %x: 15) sum (%y: 32) {
      %0 = attn.read %f[%step, %j, %y] : !attn.array<["T", 16, 32], f64>
      %1 = attn.read %few[%y, %x] : !attn.array<[32, 15], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[16, 15], f64>
    attn.yield %back, %near : !attn.array<[32, 24], f64>, !attn.array<[16, 24], f64>
  } : !attn.array<[32, 24], f64>, !attn.array<["T", 16, 24], f64>
  attn.output "last" %last : !attn.array<[32, 24], f64>
  attn.output "all" %all : !attn.array<["T", 16, 24], f64>
}

// -----

// Rows that stand anywhere are gathered, here one run for each.

// CHECK-LABEL: attn.program @gathered
attn.program @gathered {
  attn.length "N"
  %x = attn.data "x" : !attn.array<["N", 32], f64>
  %token = attn.data "token" : !attn.array<["N"], i64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  // CHECK: attn.compute "gathered"
  // CHECK: attn.product = #attn.product<weights, left = 0, rows(0), columns(1), terms(2), run(2)>
  %6 = attn.compute "gathered" (%i: "N", %n: 64) sum (%k: 32) {
    %t = attn.read %token[%i] : !attn.array<["N"], i64>
    %row = arith.index_cast %t : i64 to index
    %1 = attn.read %x[%row, %k] : !attn.array<["N", 32], f64>
    %2 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["N", 64], f64>
  attn.output "6" %6 : !attn.array<["N", 64], f64>
}

// -----

// What is none: too narrow, three factors, a length that varies inside of an
// example, a condition on the terms.

// CHECK-LABEL: attn.program @none
// CHECK-NOT: attn.product
attn.program @none {
  attn.length "N"
  attn.length "W" over "N"
  %x = attn.data "x" : !attn.array<["N", 32], f64>
  %y = attn.data "y" : !attn.array<["N", "W", 32], f64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  %narrow = attn.param "narrow" : !attn.array<[7, 32], f64>
  %0 = attn.compute "narrow" (%i: "N", %n: 7) sum (%k: 32) {
    %1 = attn.read %x[%i, %k] : !attn.array<["N", 32], f64>
    %2 = attn.read %narrow[%n, %k] : !attn.array<[7, 32], f64>
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["N", 7], f64>
  %4 = attn.compute "three" (%i: "N", %n: 64) sum (%k: 32) {
    %1 = attn.read %x[%i, %k] : !attn.array<["N", 32], f64>
    %2 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %3 = arith.mulf %1, %2 : f64
    %5 = arith.mulf %3, %1 : f64
    attn.yield %5 : f64
  } : !attn.array<["N", 64], f64>
  %7 = attn.compute "nested" (%i: "N", %m: "N", %u: "W") sum (%k: 32) {
    %1 = attn.read %x[%m, %k] : !attn.array<["N", 32], f64>
    %2 = attn.read %y[%i, %u, %k] : !attn.array<["N", "W", 32], f64>
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["N", "N", "W"], f64>
  %8 = attn.compute "triangle" (%i: "N", %n: 64) sum (%k: 32) where {
    %1 = arith.cmpi slt, %k, %n : index
    attn.yield %1 : i1
  } {
    %1 = attn.read %x[%i, %k] : !attn.array<["N", 32], f64>
    %2 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["N", 64], f64>
  attn.output "0" %0 : !attn.array<["N", 7], f64>
  attn.output "4" %4 : !attn.array<["N", 64], f64>
  attn.output "7" %7 : !attn.array<["N", "N", "W"], f64>
  attn.output "8" %8 : !attn.array<["N", 64], f64>
}
