// RUN: fovea-opt %s --split-input-file --attn-batch --attn-guard-rows --attn-name-products | FileCheck %s

// A layer of which a branch reads some rows is computed for these rows: a
// product whose rows are gathered. So is what only that layer reads.

// CHECK-LABEL: attn.program @branch
attn.program @branch {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 32], f64>
  %g = attn.data "g" : !attn.array<["T"], f64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  // CHECK: attn.compute "h"
  // CHECK-SAME: where {
  // CHECK: attn.read %g
  // CHECK: arith.cmpf ogt
  // CHECK: attn.product = #attn.product<weights, left = 0, rows(0), columns(1), terms(2), run(2)>
  %h = attn.compute "h" (%i: "T", %n: 64) sum (%k: 32) {
    %0 = attn.read %x[%i, %k] : !attn.array<["T", 32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  // CHECK: attn.compute "r"
  // CHECK-SAME: where {
  %r = attn.compute "r" (%i: "T", %n: 64) {
    %0 = attn.read %h[%i, %n] : !attn.array<["T", 64], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 64], f64>
  // CHECK: attn.compute "y"
  // CHECK-NOT: where
  // CHECK: scf.if
  %y = attn.compute "y" (%i: "T", %n: 64) {
    %zero = arith.constant 0.0 : f64
    %0 = attn.read %g[%i] : !attn.array<["T"], f64>
    %1 = arith.cmpf ogt, %0, %zero : f64
    %2 = scf.if %1 -> (f64) {
      %3 = attn.read %r[%i, %n] : !attn.array<["T", 64], f64>
      scf.yield %3 : f64
    } else {
      scf.yield %zero : f64
    }
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "y" %y : !attn.array<["T", 64], f64>
}

// -----

// A product with rows that are zero elsewhere adds nothing there.

// CHECK-LABEL: attn.program @zeros
attn.program @zeros {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 32], f64>
  %g = attn.data "g" : !attn.array<["T"], f64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  %d = attn.compute "d" (%i: "T", %k: 32) where {
    %zero = arith.constant 0.0 : f64
    %0 = attn.read %g[%i] : !attn.array<["T"], f64>
    %1 = arith.cmpf ogt, %0, %zero : f64
    attn.yield %1 : i1
  } {
    %0 = attn.read %x[%i, %k] : !attn.array<["T", 32], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 32], f64>
  // CHECK: attn.compute "h"
  // CHECK-SAME: where {
  // CHECK: #attn.product<weights, left = 0, rows(0), columns(1), terms(2), run(2)>
  %h = attn.compute "h" (%i: "T", %n: 64) sum (%k: 32) {
    %0 = attn.read %d[%i, %k] : !attn.array<["T", 32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "h" %h : !attn.array<["T", 64], f64>
}

// -----

// An output shows all rows, so all are computed.

// CHECK-LABEL: attn.program @output
attn.program @output {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 32], f64>
  %g = attn.data "g" : !attn.array<["T"], f64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  // CHECK-NOT: where
  // CHECK: #attn.product<weights, left = 0, rows(0), columns(1), terms(2)>
  %h = attn.compute "h" (%i: "T", %n: 64) sum (%k: 32) {
    %0 = attn.read %x[%i, %k] : !attn.array<["T", 32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %y = attn.compute "y" (%i: "T", %n: 64) where {
    %zero = arith.constant 0.0 : f64
    %0 = attn.read %g[%i] : !attn.array<["T"], f64>
    %1 = arith.cmpf ogt, %0, %zero : f64
    attn.yield %1 : i1
  } {
    %0 = attn.read %h[%i, %n] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "h" %h : !attn.array<["T", 64], f64>
  attn.output "y" %y : !attn.array<["T", 64], f64>
}

// -----

// The guard is computed after the layer, but does not need it: it moves ahead.

// CHECK-LABEL: attn.program @late
attn.program @late {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 32], f64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  // CHECK: attn.compute "half"
  // CHECK: attn.compute "g"
  // CHECK: attn.compute "h"
  // CHECK-SAME: where {
  // CHECK: #attn.product<weights, left = 0, rows(0), columns(1), terms(2), run(2)>
  %h = attn.compute "h" (%i: "T", %n: 64) sum (%k: 32) {
    %0 = attn.read %x[%i, %k] : !attn.array<["T", 32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %half = attn.compute "half" (%i: "T") {
    %zero = arith.constant 0 : index
    %0 = attn.read %x[%i, %zero] : !attn.array<["T", 32], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %g = attn.compute "g" (%i: "T") {
    %0 = attn.read %half[%i] : !attn.array<["T"], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %y = attn.compute "y" (%i: "T", %n: 64) where {
    %zero = arith.constant 0.0 : f64
    %0 = attn.read %g[%i] : !attn.array<["T"], f64>
    %1 = arith.cmpf ogt, %0, %zero : f64
    attn.yield %1 : i1
  } {
    %0 = attn.read %h[%i, %n] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "y" %y : !attn.array<["T", 64], f64>
}

// -----

// The guard is computed from the layer.

// CHECK-LABEL: attn.program @own
attn.program @own {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 32], f64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  // CHECK: attn.compute "h"
  // CHECK-NOT: where
  // CHECK: #attn.product<weights, left = 0, rows(0), columns(1), terms(2)>
  %h = attn.compute "h" (%i: "T", %n: 64) sum (%k: 32) {
    %0 = attn.read %x[%i, %k] : !attn.array<["T", 32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %g = attn.compute "g" (%i: "T") sum (%n: 64) {
    %0 = attn.read %h[%i, %n] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %y = attn.compute "y" (%i: "T", %n: 64) where {
    %zero = arith.constant 0.0 : f64
    %0 = attn.read %g[%i] : !attn.array<["T"], f64>
    %1 = arith.cmpf ogt, %0, %zero : f64
    attn.yield %1 : i1
  } {
    %0 = attn.read %h[%i, %n] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "y" %y : !attn.array<["T", 64], f64>
}
