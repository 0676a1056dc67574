// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-form-epilogues,attn-share-loops,attn-form-rows))" | FileCheck %s

// Equations of a step are one kernel, with the view that one of them reads; what
// nobody else reads is not given. The view that the next step takes comes after.

// CHECK-LABEL: attn.program @step
attn.program @step {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 2, 4], f64>
  %init = attn.param "init" : !attn.array<[8], f64>
  %start = attn.compute "start" (%k: 8) {
    %0 = attn.read %init[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } : !attn.array<[8], f64>
  // CHECK:      attn.scan "T" (%[[T:.*]])
  // CHECK:        %[[C:.*]] = attn.kernel rows {
  // CHECK-NEXT:     %[[A:.*]] = attn.compute "a"
  // CHECK:          %[[V:.*]] = attn.reshape %[[A]]
  // CHECK-NEXT:     %[[B:.*]] = attn.compute "b"
  // CHECK:            attn.read %[[V]]
  // CHECK:          %[[OWN:.*]] = attn.compute "c"
  // CHECK:            attn.read %[[B]]
  // CHECK:          attn.yield %[[OWN]] :
  // CHECK-NEXT:   }
  // CHECK-NEXT:   %[[NEXT:.*]] = attn.reshape %[[C]]
  // CHECK-NEXT:   attn.yield %[[NEXT]]
  %last = attn.scan "T" (%t) carries (%before = %start : !attn.array<[8], f64>) axes [] {
    %a = attn.compute "a" (%k: 8) {
      %0 = attn.read %before[%k] : !attn.array<[8], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[8], f64>
    %v = attn.reshape %a keep 0 : !attn.array<[8], f64> -> !attn.array<[2, 4], f64>
    %b = attn.compute "b" (%i: 2) sum (%j: 4) {
      %0 = attn.read %v[%i, %j] : !attn.array<[2, 4], f64>
      attn.yield %0 : f64
    } : !attn.array<[2], f64>
    %c = attn.compute "c" (%i: 2, %j: 4) {
      %0 = attn.read %b[%i] : !attn.array<[2], f64>
      %1 = attn.read %x[%t, %i, %j] : !attn.array<["T", 2, 4], f64>
      %2 = arith.addf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[2, 4], f64>
    %next = attn.reshape %c keep 0 : !attn.array<[2, 4], f64> -> !attn.array<[8], f64>
    attn.yield %next : !attn.array<[8], f64>
  } : !attn.array<[8], f64>
  attn.output "last" %last : !attn.array<[8], f64>
}

// -----

// A product needs the rows of all examples and stands between two kernels; an
// equation alone is none.

// CHECK-LABEL: attn.program @product
attn.program @product {
  attn.length "T"
  %w = attn.param "w" : !attn.array<[12, 12], f64>
  %init = attn.param "init" : !attn.array<[12], f64>
  %x = attn.data "x" : !attn.array<["T", 12], f64>
  %start = attn.compute "start" (%k: 12) {
    %0 = attn.read %init[%k] : !attn.array<[12], f64>
    attn.yield %0 : f64
  } : !attn.array<[12], f64>
  // CHECK:      attn.scan
  // CHECK:        %[[B:.*]] = attn.kernel rows {
  // CHECK:          attn.compute "a"
  // CHECK:          attn.compute "b"
  // CHECK:        }
  // CHECK:        %[[Z:.*]] = attn.compute "z"
  // CHECK:          attn.read %[[B]]
  // CHECK:        attn.product
  // CHECK-NEXT:   attn.compute "h"
  // CHECK-NOT:    attn.kernel
  // CHECK:      attn.output
  %last = attn.scan "T" (%t) carries (%before = %start : !attn.array<[12], f64>) axes [] {
    %a = attn.compute "a" (%k: 12) {
      %0 = attn.read %before[%k] : !attn.array<[12], f64>
      %1 = attn.read %x[%t, %k] : !attn.array<["T", 12], f64>
      %2 = arith.addf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[12], f64>
    %b = attn.compute "b" () softmax (%k: 12) {
      %0 = attn.read %a[%k] : !attn.array<[12], f64>
      attn.yield %0 : f64
    } : !attn.array<[12], f64>
    %z = attn.compute "z" (%n: 12) sum (%k: 12) {
      %0 = attn.read %b[%k] : !attn.array<[12], f64>
      %1 = attn.read %w[%n, %k] : !attn.array<[12, 12], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[12], f64>
    %h = attn.compute "h" (%k: 12) {
      %0 = attn.read %z[%k] : !attn.array<[12], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[12], f64>
    attn.yield %h : !attn.array<[12], f64>
  } : !attn.array<[12], f64>
  attn.output "last" %last : !attn.array<[12], f64>
}

// -----

// Outside of loops, in a program that runs once, and what a batch has once.

// CHECK-LABEL: attn.program @apart
// CHECK-NOT: attn.kernel
attn.program @apart {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  %w = attn.param "w" : !attn.array<[4, 16], f64>
  %a = attn.compute "a" (%t: "T", %k: 16) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 16], f64>
  %b = attn.compute "b" (%t: "T") sum (%k: 16) {
    %0 = attn.read %a[%t, %k] : !attn.array<["T", 16], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %rows = attn.scan 4 (%i) axes [0] {
    %p = attn.compute "p" (%k: 16) {
      %0 = attn.read %w[%i, %k] : !attn.array<[4, 16], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[16], f64>
    %q = attn.compute "q" () sum (%k: 16) {
      %0 = attn.read %p[%k] : !attn.array<[16], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    attn.yield %q : !attn.array<[], f64>
  } : !attn.array<[4], f64>
  attn.output "b" %b : !attn.array<["T"], f64>
  attn.output "rows" %rows : !attn.array<[4], f64>
}

// -----

// In a program that runs again and again, the threads share the rows of a long
// equation. Equations whose examples are units become a kernel, with the row that is appended; what an
// output between them takes ends it. What a batch has once is apart.

// CHECK-LABEL: attn.program @again
// CHECK:      attn.compute "a"
// CHECK:      attn.scan 4
// CHECK-NOT:  attn.kernel
// CHECK:      attn.compute "q"
// CHECK:      %[[R:.*]]:2 = attn.kernel rows {
// CHECK-NEXT:   %[[K:.*]] = attn.compute "k"
// CHECK:        %[[OWN:.*]] = attn.append %{{.*}} axis 0 = %[[K]]
// CHECK:        attn.compute "e"
// CHECK:          attn.read %[[OWN]]
// CHECK:        %[[IN:.*]] = attn.compute "c"
// CHECK:        attn.yield %[[OWN]], %[[IN]]
// CHECK:      attn.output "c" %[[R]]#1
// CHECK-NEXT: attn.compute "d"
// CHECK-NOT:  attn.kernel
// CHECK:      attn.output "keys" %[[R]]#0
// CHECK:      %[[F:.*]] = attn.kernel rows {
// CHECK:      %[[PAIRS:.*]] = attn.reshape %[[F]]
// CHECK-NEXT: attn.reshape %[[PAIRS]]
attn.program @again attributes {attn.prepares} {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  %past = attn.data "past" : !attn.array<["T", 16], f64>
  %w = attn.param "w" : !attn.array<[4, 16], f64>
  %at = arith.constant 0 : index
  %a = attn.compute "a" (%t: "T", %k: 16) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 16], f64>
  %rows = attn.scan 4 (%i) axes [0] {
    %p = attn.compute "p" (%k: 16) {
      %0 = attn.read %w[%i, %k] : !attn.array<[4, 16], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[16], f64>
    %q = attn.compute "q" () sum (%k: 16) {
      %0 = attn.read %p[%k] : !attn.array<[16], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    attn.yield %q : !attn.array<[], f64>
  } : !attn.array<[4], f64>
  %key = attn.compute "k" (%k: 16) sum (%t: "T") {
    %0 = attn.read %a[%t, %k] : !attn.array<["T", 16], f64>
    attn.yield %0 : f64
  } : !attn.array<[16], f64>
  %keys = attn.append %past[%at] axis 0 = %key : !attn.array<["T", 16], f64>, !attn.array<[16], f64>
  %e = attn.compute "e" (%t: "T") sum (%k: 16) {
    %0 = attn.read %keys[%t, %k] : !attn.array<["T", 16], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %c = attn.compute "c" () sum (%t: "T") {
    %0 = attn.read %e[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "c" %c : !attn.array<[], f64>
  %d = attn.compute "d" () {
    %0 = attn.read %c[] : !attn.array<[], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[], f64>
  attn.output "d" %d : !attn.array<[], f64>
  attn.output "keys" %keys : !attn.array<["T", 16], f64>
  %g = attn.compute "g" () {
    %0 = attn.read %d[] : !attn.array<[], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[], f64>
  %f = attn.compute "f" (%j: 16) {
    %0 = attn.read %g[] : !attn.array<[], f64>
    attn.yield %0 : f64
  } : !attn.array<[16], f64>
  %pairs = attn.reshape %f keep 0 : !attn.array<[16], f64> -> !attn.array<[8, 2], f64>
  %fours = attn.reshape %pairs keep 0 : !attn.array<[8, 2], f64> -> !attn.array<[4, 4], f64>
  attn.output "fours" %fours : !attn.array<[4, 4], f64>
  attn.output "rows" %rows : !attn.array<[4], f64>
}
