// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-choose-precision,attn-place-arrays,attn-gather-copies),attn-check-phase{phase=memory})" | FileCheck %s

// An equation stores the rows that two products read, so that weights alone are
// left to be copied for them: one launch does that ahead of the first product,
// and copies the weights of the third one as well. The rows of that, which are
// data, and those of `t`, which are no parameter, are copied where they are read.

// CHECK-LABEL: attn.program @layers
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", copy_rows = 128>} {
attn.program @layers {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 256], f64>
  %w = attn.param "w" : !attn.array<[300, 256], f64>
  %v = attn.param "v" : !attn.array<[300, 256], f64>
  %u = attn.param "u" : !attn.array<[300, 256], f64>
  %h = attn.compute "h" (%i: "S", %k: 256) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["S", 256], f64>
  // CHECK:      attn.compute "y"
  // CHECK:      attn.gathered_copies = [#attn.location<packed [[W:[0-9]+]]>, #attn.location<packed [[V:[0-9]+]]>, #attn.location<packed [[U:[0-9]+]]>]
  // CHECK-SAME: attn.packed = #attn.location<packed [[W]]>
  %y = attn.compute "y" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %h[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 300], f64>
  // CHECK-NOT:  attn.gathered_copies
  // CHECK:      attn.compute "z"
  // CHECK:      attn.packed = #attn.location<packed [[V]]>
  %z = attn.compute "z" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %h[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %v[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 300], f64>
  // CHECK:      attn.compute "r"
  // CHECK:      attn.packed = #attn.location<packed [[U]]>
  %r = attn.compute "r" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %u[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 300], f64>
  %twice = attn.compute "twice" (%n: 300, %k: 256) {
    %0 = attn.read %w[%n, %k] : !attn.array<[300, 256], f64>
    %1 = arith.addf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[300, 256], f64>
  // CHECK:      attn.compute "t"
  // CHECK-NOT:  attn.packed = #attn.location<packed {{([[W]]|[[V]]|[[U]])}}>
  // CHECK:      attn.output
  %t = attn.compute "t" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %h[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %twice[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 300], f64>
  attn.output "y" %y : !attn.array<["S", 300], f64>
  attn.output "z" %z : !attn.array<["S", 300], f64>
  attn.output "r" %r : !attn.array<["S", 300], f64>
  attn.output "t" %t : !attn.array<["S", 300], f64>
}
}

// -----

// Each of these products has rows to copy, and takes its weights along; the last
// one has a launch of its own, with or without the others.

// CHECK-LABEL: attn.program @rows
// CHECK-NOT:   attn.gathered_copies
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", copy_rows = 128>} {
attn.program @rows {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 256], f64>
  %y = attn.data "y" : !attn.array<["S", 256], f64>
  %w = attn.param "w" : !attn.array<[300, 256], f64>
  %v = attn.param "v" : !attn.array<[300, 256], f64>
  %u = attn.param "u" : !attn.array<[300, 256], f64>
  %a = attn.compute "a" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 300], f64>
  %b = attn.compute "b" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %y[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %v[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 300], f64>
  %c = attn.compute "c" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %y[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %u[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 300], f64>
  attn.output "a" %a : !attn.array<["S", 300], f64>
  attn.output "b" %b : !attn.array<["S", 300], f64>
  attn.output "c" %c : !attn.array<["S", 300], f64>
}
}
