// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-choose-precision))" | FileCheck %s

// Where a machine may round factors, those of large products are rounded:
// products with weights, of each example, and sums over the examples.

// CHECK-LABEL: attn.program @products
attn.program @products attributes {attn.precision = bf16} {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 32], f64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  // CHECK: attn.compute "h"
  // CHECK: attn.precision = bf16, attn.product = #attn.product<weights
  %h = attn.compute "h" (%i: "S", %n: 64) sum (%k: 32) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 64], f64>
  // CHECK: attn.compute "e"
  // CHECK: attn.precision = bf16, attn.product = #attn.product<each
  %e = attn.compute "e" (%i: "S", %j: "S") sum (%n: 64) {
    %0 = attn.read %h[%i, %n] : !attn.array<["S", 64], f64>
    %1 = attn.read %h[%j, %n] : !attn.array<["S", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", "S"], f64>
  attn.output "e" %e : !attn.array<["S", "S"], f64>
}

// -----

// Less than an instruction multiplies at once: eight terms, and four columns.

// CHECK-LABEL: attn.program @small attributes {attn.precision = bf16} {
attn.program @small attributes {attn.precision = bf16} {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 8], f64>
  %w = attn.param "w" : !attn.array<[64, 8], f64>
  // CHECK: attn.compute "h"
  // CHECK-NOT: attn.precision
  // CHECK: attn.product
  // CHECK-NOT: attn.precision
  // CHECK: attn.output "h"
  %h = attn.compute "h" (%i: "S", %n: 64) sum (%k: 8) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 8], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 64], f64>
  attn.output "h" %h : !attn.array<["S", 64], f64>
}

// -----

// A sum that is no product keeps its precision, though it multiplies: the norm
// of a row.

// CHECK-LABEL: attn.program @norm attributes {attn.precision = bf16} {
attn.program @norm attributes {attn.precision = bf16} {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 64], f64>
  // CHECK-NOT: attn.precision
  // CHECK: attn.output
  %n = attn.compute "n" (%i: "S") sum (%k: 64) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 64], f64>
    %1 = arith.mulf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["S"], f64>
  attn.output "n" %n : !attn.array<["S"], f64>
}

// -----

// A program that does not ask for it.

// CHECK-LABEL: attn.program @exact
attn.program @exact {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 32], f64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  // CHECK-NOT: attn.precision
  // CHECK: attn.output
  %h = attn.compute "h" (%i: "S", %n: 64) sum (%k: 32) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 64], f64>
  attn.output "h" %h : !attn.array<["S", 64], f64>
}

// -----

// Weights in a loop are multiplied as elsewhere; the module may ask, too.

module attributes {attn.precision = bf16} {
  // CHECK-LABEL: attn.program @loop
  attn.program @loop {
    attn.length "S"
    %x = attn.data "x" : !attn.array<["S", 32], f64>
    %w = attn.param "w" : !attn.array<[32, 32], f64>
    %zero = attn.compute "zero" (%n: 32) {
      %0 = arith.constant 0.0 : f64
      attn.yield %0 : f64
    } : !attn.array<[32], f64>
    %last = attn.scan "S" (%t) carries (%before = %zero : !attn.array<[32], f64>) axes [] {
      // CHECK: attn.compute "z"
      // CHECK: attn.precision = bf16, attn.product
      %z = attn.compute "z" (%n: 32) sum (%k: 32) {
        %0 = attn.read %before[%k] : !attn.array<[32], f64>
        %1 = attn.read %w[%n, %k] : !attn.array<[32, 32], f64>
        %2 = arith.mulf %0, %1 : f64
        attn.yield %2 : f64
      } : !attn.array<[32], f64>
      attn.yield %z : !attn.array<[32], f64>
    } : !attn.array<[32], f64>
    attn.output "last" %last : !attn.array<[32], f64>
  }
}
