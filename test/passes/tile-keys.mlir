// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn-order-sums,attn.program(attn-choose-precision,attn-form-strips,attn-tile-keys))" | FileCheck %s

// Scores, something of each, their softmax and what it reads, with factors that
// are rounded: some keys at a time. A division by a constant is a product.

// CHECK-LABEL: attn.program @attention
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", shared_bytes = 65536>} {
attn.program @attention {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["S", 64], f64>
  // CHECK: attn.kernel strips over "T" keys 64 {
  %e = attn.compute "e" (%t: "T", %u: "S") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  %s = attn.compute "s" (%t: "T", %u: "S") {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "S"], f64>
    %root = arith.constant 1.250000e+00 : f64
    // CHECK:     %[[SHARE:.*]] = arith.constant 8.000000e-01 : f64
    // CHECK:     arith.mulf %{{.*}}, %[[SHARE]] : f64
    // CHECK-NOT: arith.divf
    %scaled = arith.divf %0, %root : f64
    %1 = math.tanh %scaled : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "S"], f64>
  %w = attn.compute "w" (%t: "T") softmax (%u: "S") {
    %0 = attn.read %s[%t, %u] : !attn.array<["T", "S"], f64>
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
}

// -----

// Not: factors as they are, whose sums have the order of the equation.

// CHECK-LABEL: attn.program @exact
module attributes {attn.target = #nvidia.target<"chip", shared_bytes = 65536>} {
attn.program @exact {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["S", 64], f64>
  // CHECK: attn.kernel strips over "T" {
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
  attn.output "c" %c : !attn.array<["T", 64], f64>
}
}

// -----

// Nor weights that are asked for, whose sum has to be known before any of them.

// CHECK-LABEL: attn.program @shown
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", shared_bytes = 65536>} {
attn.program @shown {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["S", 64], f64>
  // CHECK: attn.kernel strips over "T" {
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
  attn.output "w" %w : !attn.array<["T", "S"], f64>
  attn.output "c" %c : !attn.array<["T", 64], f64>
}
}

// -----

// Nor another normaliser; nor what a sum over the rows reads as well.

// CHECK-LABEL: attn.program @logs
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", shared_bytes = 65536>} {
attn.program @logs {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["S", 64], f64>
  // CHECK: attn.kernel strips over "T" {
  %e = attn.compute "e" (%t: "T", %u: "S") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  %w = attn.compute "w" (%t: "T") log_softmax (%u: "S") {
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
}

// -----

// CHECK-LABEL: attn.program @adjoint
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", shared_bytes = 65536>} {
attn.program @adjoint {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["S", 64], f64>
  // CHECK: attn.kernel strips over "T" {
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
    %1 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 64], f64>
  attn.output "c" %c : !attn.array<["T", 64], f64>
  attn.output "dv" %dv : !attn.array<["S", 64], f64>
}
}

// -----

// Pairs without a softmax, as in the backward pass; a sum of the terms that they
// have is a sum of all.

// CHECK-LABEL: attn.program @pairs
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", shared_bytes = 65536>} {
attn.program @pairs {
  attn.length "T"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["T", 64], f64>
  // CHECK: attn.kernel strips over "T" keys 64 {
  %e = attn.compute "e" (%t: "T", %u: "T") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %s = attn.compute "s" (%t: "T", %u: "T") where {
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
    %0 = attn.read %s[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "c" %c : !attn.array<["T", 64], f64>
}
}

// -----

// Not a sum that leaves out pairs which are not zero.

// CHECK-LABEL: attn.program @part
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", shared_bytes = 65536>} {
attn.program @part {
  attn.length "T"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["T", 64], f64>
  // CHECK: attn.kernel strips over "T" {
  %e = attn.compute "e" (%t: "T", %u: "T") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %s = attn.compute "s" (%t: "T", %u: "T") {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "T"], f64>
  %c = attn.compute "c" (%t: "T", %a: 64) sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %s[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "c" %c : !attn.array<["T", 64], f64>
}
}

// -----

// Not: more columns than the registers of a block hold.

// CHECK-LABEL: attn.program @wide
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", shared_bytes = 65536>} {
attn.program @wide {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 192], f64>
  %k = attn.data "k" : !attn.array<["S", 192], f64>
  // CHECK: attn.kernel strips over "T" {
  %e = attn.compute "e" (%t: "T", %u: "S") sum (%a: 192) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 192], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 192], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  %w = attn.compute "w" (%t: "T") softmax (%u: "S") {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "S"], f64>
  %c = attn.compute "c" (%t: "T", %a: 192) sum (%u: "S") {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "S"], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 192], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 192], f64>
  attn.output "c" %c : !attn.array<["T", 192], f64>
}
}
