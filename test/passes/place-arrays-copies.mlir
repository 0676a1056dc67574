// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-choose-precision,attn-place-arrays),attn-check-phase{phase=memory})" | FileCheck %s

// A machine with tiles of 128 rows. Both factors of large products in bf16 are
// copied: rows that several products read once, also of the gradient, whose terms
// they are, and each of the weights.

// CHECK-LABEL: attn.program @layers
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", copy_rows = 128>} {
attn.program @layers {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 256], f64>
  %w = attn.param "w" : !attn.array<[300, 256], f64>
  %v = attn.param "v" : !attn.array<[300, 256], f64>
  // CHECK:      attn.compute "y"
  // CHECK:      attn.packed = #attn.location<packed [[W:[0-9]+]]>
  // CHECK-SAME: attn.packed_left = #attn.location<packed [[X:[0-9]+]]>
  %y = attn.compute "y" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 300], f64>
  // CHECK:      attn.compute "z"
  // CHECK-NOT:  attn.packed = #attn.location<packed [[W]]>
  // CHECK:      attn.packed_left = #attn.location<packed [[X]]>
  %z = attn.compute "z" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %v[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 300], f64>
  // CHECK:      attn.compute "dw"
  // CHECK:      attn.packed = #attn.location<packed [[X]]>
  // CHECK-SAME: attn.packed_left = #attn.location<packed [[Z:[0-9]+]]>
  // CHECK-SAME: attn.product = #attn.product<examples
  %dw = attn.compute "dw" (%n: 300, %k: 256) sum (%i: "S") {
    %0 = attn.read %z[%i, %n] : !attn.array<["S", 300], f64>
    %1 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[300, 256], f64>
  // CHECK:      attn.compute "dx"
  // CHECK:      attn.packed = #attn.location<packed [[W]]>
  // CHECK-SAME: attn.packed_left = #attn.location<packed [[Z]]>
  %dx = attn.compute "dx" (%i: "S", %k: 256) sum (%n: 300) {
    %0 = attn.read %z[%i, %n] : !attn.array<["S", 300], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 256], f64>
  attn.output "y" %y : !attn.array<["S", 300], f64>
  attn.output "dx" %dx : !attn.array<["S", 256], f64>
  attn.output "grad/w" %dw : !attn.array<[300, 256], f64>
}
}

// -----

// What is not copied: factors of fewer than two tiles of columns, and of a row
// for each example, of which nobody knows whether there are many.

// CHECK-LABEL: attn.program @small
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", copy_rows = 128>} {
attn.program @small {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 256], f64>
  %a = attn.data "a" : !attn.array<[256], f64>
  %w = attn.param "w" : !attn.array<[192, 256], f64>
  %v = attn.param "v" : !attn.array<[300, 256], f64>
  // CHECK:     attn.compute "y"
  // CHECK-NOT: attn.packed
  %y = attn.compute "y" (%i: "S", %n: 192) sum (%k: 256) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[192, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 192], f64>
  // CHECK:     attn.compute "b"
  // CHECK-NOT: attn.packed
  // CHECK:     attn.output
  %b = attn.compute "b" (%n: 300) sum (%k: 256) {
    %0 = attn.read %a[%k] : !attn.array<[256], f64>
    %1 = attn.read %v[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[300], f64>
  attn.output "y" %y : !attn.array<["S", 192], f64>
  attn.output "b" %b : !attn.array<[300], f64>
}
}

// -----

// A convolution is read as it lies: a copy would be as large as all windows, and
// each place is read by three of them.

// CHECK-LABEL: attn.program @windows
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", copy_rows = 128>} {
attn.program @windows {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 256], f64>
  %w = attn.param "w" : !attn.array<[300, 3, 256], f64>
  // CHECK:     attn.compute "y"
  // CHECK:     attn.precision = bf16, attn.product = {{.*}}run(
  // CHECK-NOT: attn.packed
  // CHECK:     attn.output
  %y = attn.compute "y" (%i: "S", %n: 300) sum (%j: 3, %k: 256) {
    %0 = arith.addi %i, %j : index
    %zero = arith.constant 0.0 : f64
    %1 = attn.read %x[%0, %k] default %zero : f64 : !attn.array<["S", 256], f64>
    %2 = attn.read %w[%n, %j, %k] : !attn.array<[300, 3, 256], f64>
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["S", 300], f64>
  attn.output "y" %y : !attn.array<["S", 300], f64>
}
}

// -----

// Nor in loops, whose factors change with each step; and on no machine that does
// not ask for it.

// CHECK-LABEL: attn.program @loop
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", copy_rows = 128>} {
attn.program @loop {
  attn.length "S"
  %zero = attn.param "zero" : !attn.array<[512, 256], f64>
  %w = attn.param "w" : !attn.array<[256, 256], f64>
  // CHECK:     attn.scan
  // CHECK-NOT: attn.packed
  // CHECK:     attn.output
  %last, %all = attn.scan "S" (%i) carries (%before = %zero : !attn.array<[512, 256], f64>) axes [0] {
    %z = attn.compute "z" (%j: 512, %n: 256) sum (%k: 256) {
      %0 = attn.read %before[%j, %k] : !attn.array<[512, 256], f64>
      %1 = attn.read %w[%n, %k] : !attn.array<[256, 256], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[512, 256], f64>
    attn.yield %z, %z : !attn.array<[512, 256], f64>, !attn.array<[512, 256], f64>
  } : !attn.array<[512, 256], f64>, !attn.array<["S", 512, 256], f64>
  attn.output "all" %all : !attn.array<["S", 512, 256], f64>
}
}

// -----

// CHECK-LABEL: attn.program @other
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip">} {
attn.program @other {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 256], f64>
  %w = attn.param "w" : !attn.array<[300, 256], f64>
  // CHECK:     attn.precision = bf16
  // CHECK-NOT: attn.packed
  // CHECK:     attn.output
  %y = attn.compute "y" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 300], f64>
  attn.output "y" %y : !attn.array<["S", 300], f64>
}
}

// -----

// An equation that gives a factor, element by element, stores the copy that its
// products read, whether terms are its columns or its rows.

// CHECK-LABEL: attn.program @stored
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", copy_rows = 128>} {
attn.program @stored {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 256], f64>
  %w = attn.param "w" : !attn.array<[300, 256], f64>
  // CHECK:      attn.compute "h"
  // CHECK:      attn.stored_copy = #attn.location<packed [[H:[0-9]+]]>
  %h = attn.compute "h" (%i: "S", %k: 4, %d: 64) {
    %0 = arith.constant 64 : index
    %1 = arith.muli %k, %0 : index
    %2 = arith.addi %1, %d : index
    %3 = attn.read %x[%i, %2] : !attn.array<["S", 256], f64>
    %4 = arith.negf %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["S", 4, 64], f64>
  %rows = attn.reshape %h keep 1 : !attn.array<["S", 4, 64], f64> -> !attn.array<["S", 256], f64>
  // CHECK:      attn.compute "y"
  // CHECK:      attn.packed_left = #attn.location<packed [[H]]>
  %y = attn.compute "y" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %rows[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 300], f64>
  // CHECK:      attn.compute "dw"
  // CHECK:      attn.packed = #attn.location<packed [[H]]>
  %dw = attn.compute "dw" (%n: 300, %k: 256) sum (%i: "S") {
    %0 = attn.read %y[%i, %n] : !attn.array<["S", 300], f64>
    %1 = attn.read %rows[%i, %k] : !attn.array<["S", 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[300, 256], f64>
  attn.output "grad/w" %dw : !attn.array<[300, 256], f64>
  attn.output "y" %y : !attn.array<["S", 300], f64>
}
}

// -----

// A member of a kernel of rows stores one as well; not where the rows of a
// product come by a list.

// CHECK-LABEL: attn.program @members
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", copy_rows = 128>} {
attn.program @members {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 256], f64>
  %v = attn.param "v" : !attn.array<[300, 256], f64>
  // CHECK: attn.compute "h"
  // CHECK: attn.stored_copy = #attn.location<packed [[H:[0-9]+]]>
  %h = attn.kernel rows {
    %m = attn.compute "m" (%i: "S") sum (%k: 256) {
      %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
      attn.yield %0 : f64
    } {attn.batch = "each"} : !attn.array<["S"], f64>
    %own = attn.compute "h" (%i: "S", %k: 256) {
      %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
      %1 = attn.read %m[%i] : !attn.array<["S"], f64>
      %2 = arith.subf %0, %1 : f64
      attn.yield %2 : f64
    } {attn.batch = "each"} : !attn.array<["S", 256], f64>
    attn.yield %own : !attn.array<["S", 256], f64>
  } : !attn.array<["S", 256], f64>
  // CHECK: attn.compute "y"
  // CHECK: attn.packed_left = #attn.location<packed [[H]]>
  %y = attn.compute "y" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %h[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %v[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 300], f64>
  // CHECK:     attn.compute "p"
  // CHECK-NOT: attn.stored_copy
  // CHECK:     attn.compute "z"
  // CHECK:     attn.list
  %p = attn.compute "p" (%a: 3, %i: "S", %k: 256) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    attn.yield %0 : f64
  } : !attn.array<[3, "S", 256], f64>
  %two = arith.constant 2 : index
  %z = attn.compute "z" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %p[%two, %i, %k] : !attn.array<[3, "S", 256], f64>
    %1 = attn.read %v[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 300], f64>
  attn.output "y" %y : !attn.array<["S", 300], f64>
  attn.output "z" %z : !attn.array<["S", 300], f64>
}
}

// -----

// Who stores none: data; rows that do not fill tiles of 64 terms; an equation
// whose condition leaves elements out; a sum; and a loop.

// CHECK-LABEL: attn.program @launched
// CHECK-NOT:   attn.stored_copy
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", copy_rows = 128>} {
attn.program @launched {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 256], f64>
  %w = attn.param "w" : !attn.array<[300, 260], f64>
  %v = attn.param "v" : !attn.array<[300, 256], f64>
  %init = attn.param "init" : !attn.array<[256], f64>
  %y = attn.compute "y" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %v[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 300], f64>
  %narrow = attn.compute "narrow" (%i: "S", %k: 260) {
    %0 = attn.read %y[%i, %k] : !attn.array<["S", 300], f64>
    attn.yield %0 : f64
  } : !attn.array<["S", 260], f64>
  %z = attn.compute "z" (%i: "S", %n: 300) sum (%k: 260) {
    %0 = attn.read %narrow[%i, %k] : !attn.array<["S", 260], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[300, 260], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 300], f64>
  %some = attn.compute "some" (%i: "S", %k: 256) where {
    %0 = arith.cmpi sle, %k, %i : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    attn.yield %0 : f64
  } : !attn.array<["S", 256], f64>
  %u = attn.compute "u" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %some[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %v[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 300], f64>
  %added = attn.compute "added" (%i: "S", %k: 256) sum (%n: 300) {
    %0 = attn.read %z[%i, %n] : !attn.array<["S", 300], f64>
    %1 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 256], f64>
  %t = attn.compute "t" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %added[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %v[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 300], f64>
  %last, %all = attn.scan "S" (%i) carries (%before = %init : !attn.array<[256], f64>) axes [0] {
    %next = attn.compute "next" (%k: 256) {
      %0 = attn.read %before[%k] : !attn.array<[256], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[256], f64>
    attn.yield %next, %next : !attn.array<[256], f64>, !attn.array<[256], f64>
  } : !attn.array<[256], f64>, !attn.array<["S", 256], f64>
  %r = attn.compute "r" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %all[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %v[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 300], f64>
  attn.output "u" %u : !attn.array<["S", 300], f64>
  attn.output "t" %t : !attn.array<["S", 300], f64>
  attn.output "r" %r : !attn.array<["S", 300], f64>
}
}
