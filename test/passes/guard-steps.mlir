// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-guard-steps))" | FileCheck %s

// A step has one row of each example. All readers look at the product under a
// condition, so it has this condition, and so does what is between them.

// CHECK-LABEL: attn.program @step
attn.program @step {
  %x = attn.data "x" : !attn.array<[32], f64>
  %g = attn.data "g" : !attn.array<[4], f64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  // CHECK: attn.compute "h"
  // CHECK-SAME: where {
  // CHECK: attn.read %g[%c3]
  // CHECK: arith.cmpf ogt
  // CHECK: attn.product = #attn.product<weights, left = 0, columns(0), terms(1)>
  // CHECK: attn.compute "r"
  // CHECK-SAME: where {
  // CHECK: attn.compute "y"
  // CHECK-NOT: where
  // CHECK: scf.if
  %h = attn.compute "h" (%n: 64) sum (%k: 32) {
    %0 = attn.read %x[%k] : !attn.array<[32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[64], f64>
  %r = attn.compute "r" (%n: 64) {
    %0 = attn.read %h[%n] : !attn.array<[64], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[64], f64>
  %y = attn.compute "y" (%n: 64) {
    %zero = arith.constant 0.0 : f64
    %three = arith.constant 3 : index
    %0 = attn.read %g[%three] : !attn.array<[4], f64>
    %1 = arith.cmpf ogt, %0, %zero : f64
    %2 = scf.if %1 -> (f64) {
      %3 = attn.read %r[%n] : !attn.array<[64], f64>
      scf.yield %3 : f64
    } else {
      scf.yield %zero : f64
    }
    attn.yield %2 : f64
  } : !attn.array<[64], f64>
  attn.output "y" %y : !attn.array<[64], f64>
}

// -----

// No kernel in columns computes 63 columns: all rows would be computed.

// CHECK-LABEL: attn.program @narrow
attn.program @narrow {
  %x = attn.data "x" : !attn.array<[32], f64>
  %g = attn.data "g" : !attn.array<[4], f64>
  %w = attn.param "w" : !attn.array<[63, 32], f64>
  // CHECK: attn.compute "h"
  // CHECK-NOT: where
  // CHECK: attn.compute "y"
  %h = attn.compute "h" (%n: 63) sum (%k: 32) {
    %0 = attn.read %x[%k] : !attn.array<[32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[63, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[63], f64>
  %r = attn.compute "r" (%n: 63) {
    %0 = attn.read %h[%n] : !attn.array<[63], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[63], f64>
  %y = attn.compute "y" (%n: 63) {
    %zero = arith.constant 0.0 : f64
    %three = arith.constant 3 : index
    %0 = attn.read %g[%three] : !attn.array<[4], f64>
    %1 = arith.cmpf ogt, %0, %zero : f64
    %2 = scf.if %1 -> (f64) {
      %3 = attn.read %r[%n] : !attn.array<[63], f64>
      scf.yield %3 : f64
    } else {
      scf.yield %zero : f64
    }
    attn.yield %2 : f64
  } : !attn.array<[63], f64>
  attn.output "y" %y : !attn.array<[63], f64>
}

// -----

// An output shows the product.

// CHECK-LABEL: attn.program @output
attn.program @output {
  %x = attn.data "x" : !attn.array<[32], f64>
  %g = attn.data "g" : !attn.array<[4], f64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  // CHECK: attn.compute "h"
  // CHECK-NOT: where
  // CHECK: attn.compute "y"
  %h = attn.compute "h" (%n: 64) sum (%k: 32) {
    %0 = attn.read %x[%k] : !attn.array<[32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[64], f64>
  %r = attn.compute "r" (%n: 64) {
    %0 = attn.read %h[%n] : !attn.array<[64], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[64], f64>
  %y = attn.compute "y" (%n: 64) {
    %zero = arith.constant 0.0 : f64
    %three = arith.constant 3 : index
    %0 = attn.read %g[%three] : !attn.array<[4], f64>
    %1 = arith.cmpf ogt, %0, %zero : f64
    %2 = scf.if %1 -> (f64) {
      %3 = attn.read %r[%n] : !attn.array<[64], f64>
      scf.yield %3 : f64
    } else {
      scf.yield %zero : f64
    }
    attn.yield %2 : f64
  } : !attn.array<[64], f64>
  attn.output "y" %y : !attn.array<[64], f64>
  attn.output "h" %h : !attn.array<[64], f64>
}
