// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-form-epilogues))" | FileCheck %s

// The gates of a recurrence and its next state, with the product that they
// read through a view: one kernel, which gives the state alone.

// CHECK-LABEL: attn.program @gates
module attributes {attn.target = #cpu.target<"none", lanes = 16, tile_rows = 2, tile_vectors = 1>} {
attn.program @gates {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 2, 32], f64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  %init = attn.param "init" : !attn.array<[32], f64>
  %start = attn.compute "start" (%n: 32) {
    %0 = attn.read %init[%n] : !attn.array<[32], f64>
    attn.yield %0 : f64
  } : !attn.array<[32], f64>
  // CHECK:      attn.scan "S"
  // CHECK-NEXT:   %[[NEXT:.*]] = attn.kernel columns {
  // CHECK-NEXT:     %[[Z:.*]] = attn.compute "z" (%{{.*}}: 64) sum (%{{.*}}: 32)
  // CHECK:          %[[V:.*]] = attn.reshape %[[Z]]
  // CHECK:          %[[OWN:.*]] = attn.compute "h" (%{{.*}}: 32)
  // CHECK:            attn.read %[[V]]
  // CHECK:          attn.yield %[[OWN]]
  // CHECK:        }
  // CHECK:        attn.yield %[[NEXT]]
  %last = attn.scan "S" (%i) carries (%before = %start : !attn.array<[32], f64>) axes [] {
    %z = attn.compute "z" (%n: 64) sum (%k: 32) {
      %0 = attn.read %before[%k] : !attn.array<[32], f64>
      %1 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[64], f64>
    %v = attn.reshape %z keep 0 : !attn.array<[64], f64> -> !attn.array<[2, 32], f64>
    %h = attn.compute "h" (%n: 32) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %0 = attn.read %v[%zero, %n] : !attn.array<[2, 32], f64>
      %1 = attn.read %v[%one, %n] : !attn.array<[2, 32], f64>
      %2 = attn.read %x[%i, %zero, %n] : !attn.array<["S", 2, 32], f64>
      %3 = arith.addf %0, %2 : f64
      %4 = attn.sigmoid %3 : f64
      %5 = math.tanh %1 : f64
      %6 = arith.mulf %4, %5 : f64
      attn.yield %6 : f64
    } : !attn.array<[32], f64>
    attn.yield %h : !attn.array<[32], f64>
  } : !attn.array<[32], f64>
  attn.output "last" %last : !attn.array<[32], f64>
}
}

// -----

// A machine whose vectors do not fit into the width computes them apart, and
// so does every machine where somebody else reads the sums.

// CHECK-LABEL: attn.program @apart
// CHECK-NOT: attn.kernel
module attributes {attn.target = #cpu.target<"none", lanes = 64, tile_rows = 2, tile_vectors = 1>} {
attn.program @apart {
  %x = attn.data "x" : !attn.array<[32], f64>
  %w = attn.param "w" : !attn.array<[32, 32], f64>
  %y = attn.compute "y" (%k: 32) {
    %0 = attn.read %x[%k] : !attn.array<[32], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[32], f64>
  %z = attn.compute "z" (%n: 32) sum (%k: 32) {
    %0 = attn.read %y[%k] : !attn.array<[32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[32, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[32], f64>
  %h = attn.compute "h" (%n: 32) {
    %0 = attn.read %z[%n] : !attn.array<[32], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[32], f64>
  attn.output "h" %h : !attn.array<[32], f64>
}
}

// -----

// CHECK-LABEL: attn.program @shown
// CHECK-NOT: attn.kernel
module attributes {attn.target = #cpu.target<"none", lanes = 16, tile_rows = 2, tile_vectors = 1>} {
attn.program @shown {
  %x = attn.data "x" : !attn.array<[32], f64>
  %w = attn.param "w" : !attn.array<[32, 32], f64>
  %y = attn.compute "y" (%k: 32) {
    %0 = attn.read %x[%k] : !attn.array<[32], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[32], f64>
  %z = attn.compute "z" (%n: 32) sum (%k: 32) {
    %0 = attn.read %y[%k] : !attn.array<[32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[32, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[32], f64>
  %h = attn.compute "h" (%n: 32) {
    %0 = attn.read %z[%n] : !attn.array<[32], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[32], f64>
  attn.output "h" %h : !attn.array<[32], f64>
  attn.output "z" %z : !attn.array<[32], f64>
}
}

// -----

// A reader that lacks the first columns is computed apart as well.

// CHECK-LABEL: attn.program @later
// CHECK-NOT: attn.kernel
module attributes {attn.target = #cpu.target<"none", lanes = 16, tile_rows = 2, tile_vectors = 1>} {
attn.program @later {
  %x = attn.data "x" : !attn.array<[32], f64>
  %w = attn.param "w" : !attn.array<[32, 32], f64>
  %y = attn.compute "y" (%k: 32) {
    %0 = attn.read %x[%k] : !attn.array<[32], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[32], f64>
  %z = attn.compute "z" (%n: 32) sum (%k: 32) {
    %0 = attn.read %y[%k] : !attn.array<[32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[32, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[32], f64>
  %h = attn.compute "h" (%n: 16 to 32) {
    %0 = attn.read %z[%n] : !attn.array<[32], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[32], f64>
  attn.output "h" %h : !attn.array<[32], f64>
}
}
