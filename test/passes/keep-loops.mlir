// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-divide-work,attn-choose-tiles,attn-place-arrays,attn-keep-loops))" | FileCheck %s

// Two products of a step read the state before it: they are of one phase. What
// needs both is of the next one. The new state needs what the same block has
// done before: it is of the next turn. The weights of both stay on the chip, in
// two strips of 32 columns each.

// CHECK-LABEL: attn.program @step
attn.program @step attributes {attn.target = #nvidia.target<"sm_80", shared_bytes = 64512>} {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 64], f64>
  %u = attn.param "u" : !attn.array<[64, 64], f64>
  %w = attn.param "w" : !attn.array<[64, 64], f64>
  %zero = attn.compute "zero" (%n: 64) {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[64], f64>
  %last = attn.scan "S" (%t) carries (%before = %zero : !attn.array<[64], f64>) axes [] {
    // CHECK: attn.compute "z"
    // CHECK: attn.kept_columns = 0 : i64
    // CHECK-SAME: attn.phase = 0 : i64
    %z = attn.compute "z" (%n: 64) sum (%k: 64) {
      %0 = attn.read %before[%k] : !attn.array<[64], f64>
      %1 = attn.read %u[%n, %k] : !attn.array<[64, 64], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[64], f64>
    // CHECK: attn.compute "r"
    // CHECK: attn.kept_columns = 2 : i64
    // CHECK-SAME: attn.phase = 0 : i64
    %r = attn.compute "r" (%n: 64) sum (%k: 64) {
      %0 = attn.read %before[%k] : !attn.array<[64], f64>
      %1 = attn.read %w[%n, %k] : !attn.array<[64, 64], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[64], f64>
    // CHECK: attn.compute "both"
    // CHECK: attn.phase = 1 : i64
    %both = attn.compute "both" (%n: 64) {
      %0 = attn.read %z[%n] : !attn.array<[64], f64>
      %1 = attn.read %r[%n] : !attn.array<[64], f64>
      %2 = arith.addf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[64], f64>
    // CHECK: attn.compute "h"
    // CHECK: attn.phase = 1 : i64, attn.turn = 1 : i64
    %h = attn.compute "h" (%n: 64) {
      %0 = attn.read %both[%n] : !attn.array<[64], f64>
      %1 = attn.read %x[%t, %n] : !attn.array<["S", 64], f64>
      %2 = arith.addf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[64], f64>
    // CHECK: attn.yield
    // CHECK: attn.stays
    attn.yield %h : !attn.array<[64], f64>
  } : !attn.array<[64], f64>
  attn.output "last" %last : !attn.array<[64], f64>
}

// -----

// A loop with a loop in it is a loop of launches; the inner one is not.

// CHECK-LABEL: attn.program @nested
attn.program @nested attributes {attn.target = #nvidia.target<"sm_80", shared_bytes = 64512>} {
  attn.length "S"
  attn.length "T"
  %x = attn.data "x" : !attn.array<["S", 4], f64>
  %zero = attn.compute "zero" (%n: 4) {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[4], f64>
  %last = attn.scan "T" (%t) carries (%before = %zero : !attn.array<[4], f64>) axes [] {
    // CHECK: attn.scan "T"
    // CHECK: attn.scan "S"
    // CHECK: attn.phase = 0 : i64
    // CHECK: attn.stays
    %inner = attn.scan "S" (%s) carries (%state = %before : !attn.array<[4], f64>) axes [] {
      %h = attn.compute "h" (%n: 4) {
        %0 = attn.read %state[%n] : !attn.array<[4], f64>
        %1 = attn.read %x[%s, %n] : !attn.array<["S", 4], f64>
        %2 = arith.addf %0, %1 : f64
        attn.yield %2 : f64
      } : !attn.array<[4], f64>
      attn.yield %h : !attn.array<[4], f64>
    } : !attn.array<[4], f64>
    // CHECK-NOT: attn.stays
    // CHECK: attn.output
    attn.yield %inner : !attn.array<[4], f64>
  } : !attn.array<[4], f64>
  attn.output "last" %last : !attn.array<[4], f64>
}

// -----

// Rows of a product that lie in what the loop stacks are listed: in the last
// phase of the step before, where no product reads a list.

// CHECK-LABEL: attn.program @lists
attn.program @lists attributes {attn.target = #nvidia.target<"sm_80", shared_bytes = 64512>} {
  attn.length "S"
  %u = attn.param "u" : !attn.array<[64, 64], f64>
  %zero = attn.data "zero" : !attn.array<[64], f64>
  // CHECK: attn.scan "S"
  %last:2 = attn.scan "S" (%t) carries (%before = %zero : !attn.array<[64], f64>) axes [0] {
    // CHECK: attn.compute "z"
    // CHECK: attn.kept_columns = 0 : i64
    // CHECK-SAME: attn.list = {{.*}}, attn.phase = 0 : i64
    %z = attn.compute "z" (%n: 64) sum (%k: 64) {
      %0 = attn.read %before[%k] : !attn.array<[64], f64>
      %1 = attn.read %u[%n, %k] : !attn.array<[64, 64], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[64], f64>
    // CHECK: attn.phase = 1 : i64
    // CHECK: attn.lists_ahead
    // CHECK-SAME: attn.stays
    %h = attn.compute "h" (%n: 64) {
      %0 = attn.read %z[%n] : !attn.array<[64], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[64], f64>
    attn.yield %h, %h : !attn.array<[64], f64>, !attn.array<[64], f64>
  } : !attn.array<[64], f64>, !attn.array<["S", 64], f64>
  attn.output "all" %last#1 : !attn.array<["S", 64], f64>
}

// -----

// CHECK-LABEL: attn.program @read_last
attn.program @read_last attributes {attn.target = #nvidia.target<"sm_80", shared_bytes = 64512>} {
  attn.length "S"
  %u = attn.param "u" : !attn.array<[64, 64], f64>
  %zero = attn.data "zero" : !attn.array<[64], f64>
  // CHECK: attn.scan "S"
  %last:3 = attn.scan "S" (%t) carries (%before = %zero : !attn.array<[64], f64>) axes [0, 0] {
    %h = attn.compute "h" (%n: 64) {
      %0 = attn.read %before[%n] : !attn.array<[64], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[64], f64>
    // CHECK: attn.compute "z"
    // CHECK: attn.list = {{.*}}, attn.phase = 1 : i64
    %z = attn.compute "z" (%n: 64) sum (%k: 64) {
      %0 = attn.read %h[%k] : !attn.array<[64], f64>
      %1 = attn.read %u[%n, %k] : !attn.array<[64, 64], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[64], f64>
    // CHECK-NOT: attn.lists_ahead
    // CHECK: attn.stays
    attn.yield %h, %h, %z : !attn.array<[64], f64>, !attn.array<[64], f64>, !attn.array<[64], f64>
  } : !attn.array<[64], f64>, !attn.array<["S", 64], f64>, !attn.array<["S", 64], f64>
  attn.output "all" %last#1 : !attn.array<["S", 64], f64>
  attn.output "products" %last#2 : !attn.array<["S", 64], f64>
}

// -----

// Weights that a step computes are other ones in each.

// CHECK-LABEL: attn.program @written
attn.program @written attributes {attn.target = #nvidia.target<"sm_80", shared_bytes = 64512>} {
  attn.length "S"
  %u = attn.param "u" : !attn.array<[64, 64], f64>
  %zero = attn.data "zero" : !attn.array<[64], f64>
  // CHECK: attn.scan "S"
  // CHECK-NOT: attn.kept_columns
  // CHECK: attn.stays
  %last = attn.scan "S" (%t) carries (%before = %zero : !attn.array<[64], f64>) axes [] {
    %w = attn.compute "w" (%n: 64, %k: 64) {
      %0 = attn.read %u[%n, %k] : !attn.array<[64, 64], f64>
      %1 = arith.index_cast %t : index to i64
      %2 = arith.sitofp %1 : i64 to f64
      %3 = arith.mulf %0, %2 : f64
      attn.yield %3 : f64
    } : !attn.array<[64, 64], f64>
    %z = attn.compute "z" (%n: 64) sum (%k: 64) {
      %0 = attn.read %before[%k] : !attn.array<[64], f64>
      %1 = attn.read %w[%n, %k] : !attn.array<[64, 64], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[64], f64>
    attn.yield %z : !attn.array<[64], f64>
  } : !attn.array<[64], f64>
  attn.output "last" %last : !attn.array<[64], f64>
}

// -----

// Tiles of rounded factors are computed by blocks of the same size. Those of a
// product of many columns are not, two steps are not worth it, and a CPU has no
// launches.

// CHECK-LABEL: attn.program @rounded
attn.program @rounded attributes {attn.precision = bf16, attn.target = #nvidia.target<"sm_80", shared_bytes = 64512>} {
  attn.length "S"
  %u = attn.param "u" : !attn.array<[64, 64], f64>
  %zero = attn.data "zero" : !attn.array<[64], f64>
  // CHECK: attn.stays
  // CHECK: attn.output
  %last = attn.scan "S" (%t) carries (%before = %zero : !attn.array<[64], f64>) axes [] {
    %z = attn.compute "z" (%n: 64) sum (%k: 64) {
      %0 = attn.read %before[%k] : !attn.array<[64], f64>
      %1 = attn.read %u[%n, %k] : !attn.array<[64, 64], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } {attn.precision = bf16, attn.product = #attn.product<weights, left = 0, columns(0), terms(1)>} : !attn.array<[64], f64>
    attn.yield %z : !attn.array<[64], f64>
  } : !attn.array<[64], f64>
  attn.output "last" %last : !attn.array<[64], f64>
}

// -----

// CHECK-LABEL: attn.program @many_columns
attn.program @many_columns attributes {attn.target = #nvidia.target<"sm_80", shared_bytes = 64512>} {
  attn.length "S"
  %u = attn.param "u" : !attn.array<[4096, 4096], f64>
  %zero = attn.data "zero" : !attn.array<[4096], f64>
  // CHECK-NOT: attn.stays
  // CHECK: attn.output
  %last = attn.scan "S" (%t) carries (%before = %zero : !attn.array<[4096], f64>) axes [] {
    %z = attn.compute "z" (%n: 4096) sum (%k: 4096) {
      %0 = attn.read %before[%k] : !attn.array<[4096], f64>
      %1 = attn.read %u[%n, %k] : !attn.array<[4096, 4096], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[4096], f64>
    attn.yield %z : !attn.array<[4096], f64>
  } : !attn.array<[4096], f64>
  attn.output "last" %last : !attn.array<[4096], f64>
}

// -----

// CHECK-LABEL: attn.program @short
attn.program @short attributes {attn.target = #nvidia.target<"sm_80", shared_bytes = 64512>} {
  %zero = attn.data "zero" : !attn.array<[4], f64>
  // CHECK-NOT: attn.stays
  // CHECK: attn.output
  %last = attn.scan 2 (%t) carries (%before = %zero : !attn.array<[4], f64>) axes [] {
    %h = attn.compute "h" (%n: 4) {
      %0 = attn.read %before[%n] : !attn.array<[4], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[4], f64>
    attn.yield %h : !attn.array<[4], f64>
  } : !attn.array<[4], f64>
  attn.output "last" %last : !attn.array<[4], f64>
}

// -----

// CHECK-LABEL: attn.program @cpu
attn.program @cpu attributes {attn.target = #cpu.target<"x86-64-v3", lanes = 8, tile_rows = 6, tile_vectors = 2>} {
  attn.length "S"
  %zero = attn.data "zero" : !attn.array<[4], f64>
  // CHECK-NOT: attn.stays
  // CHECK: attn.output
  %last = attn.scan "S" (%t) carries (%before = %zero : !attn.array<[4], f64>) axes [] {
    %h = attn.compute "h" (%n: 4) {
      %0 = attn.read %before[%n] : !attn.array<[4], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[4], f64>
    attn.yield %h : !attn.array<[4], f64>
  } : !attn.array<[4], f64>
  attn.output "last" %last : !attn.array<[4], f64>
}
