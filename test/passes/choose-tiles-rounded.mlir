// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-choose-precision,attn-choose-tiles))" | FileCheck %s

// On a machine with groups of four warps, these multiply copies of both factors.
// With 2048 columns, and as many rows as there are words, tiles are wide; the
// gradient of 300 rows has none that are. Blocks share what they fetch by twos.

// CHECK-LABEL: attn.program @groups
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", copy_rows = 128, group_columns = 256, cluster_blocks = 2>} {
attn.program @groups {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 300], f64>
  %w = attn.param "w" : !attn.array<[2048, 300], f64>
  %v = attn.param "v" : !attn.array<[2047, 300], f64>
  // CHECK: attn.compute "y"
  // CHECK: attn.config = #nvidia.tiles<wide, cluster = 2>
  %y = attn.compute "y" (%i: "S", %n: 2048) sum (%k: 300) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 300], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[2048, 300], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 2048], f64>
  // CHECK: attn.compute "z"
  // CHECK: attn.config = #nvidia.tiles<group, cluster = 2>
  %z = attn.compute "z" (%i: "S", %n: 2047) sum (%k: 300) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 300], f64>
    %1 = attn.read %v[%n, %k] : !attn.array<[2047, 300], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 2047], f64>
  // CHECK: attn.compute "dx"
  // CHECK: attn.config = #nvidia.tiles<group, cluster = 2>, {{.*}}attn.product = #attn.product<examples
  %dx = attn.compute "dx" (%k: 300, %n: 2048) sum (%i: "S") {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 300], f64>
    %1 = attn.read %y[%i, %n] : !attn.array<["S", 2048], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[300, 2048], f64>
  attn.output "y" %y : !attn.array<["S", 2048], f64>
  attn.output "z" %z : !attn.array<["S", 2047], f64>
  attn.output "grad/w" %dx : !attn.array<[300, 2048], f64>
}
}

// -----

// What is read as it lies is multiplied by warps: a product of few columns, or
// of a window, whose copy would be as large as all windows; in a loop by tiles
// of 64 x 64.

// CHECK-LABEL: attn.program @warps
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", copy_rows = 128, group_columns = 256, cluster_blocks = 2>} {
attn.program @warps {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 256], f64>
  %w = attn.param "w" : !attn.array<[128, 256], f64>
  %v = attn.param "v" : !attn.array<[2048, 3, 256], f64>
  %u = attn.param "u" : !attn.array<[64, 256], f64>
  %r = attn.param "r" : !attn.array<[256, 256], f64>
  // CHECK:      attn.compute "few"
  // CHECK:      attn.config = #nvidia.tiles<large>
  %few = attn.compute "few" (%i: "S", %n: 128) sum (%k: 256) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[128, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 128], f64>
  // CHECK:      attn.compute "window"
  // CHECK:      attn.config = #nvidia.tiles<large>, {{.*}}run({{[0-9]}})>
  %window = attn.compute "window" (%i: "S", %n: 2048) sum (%j: 3, %k: 256) {
    %0 = arith.addi %i, %j : index
    %zero = arith.constant 0.0 : f64
    %1 = attn.read %x[%0, %k] default %zero : f64 : !attn.array<["S", 256], f64>
    %2 = attn.read %v[%n, %j, %k] : !attn.array<[2048, 3, 256], f64>
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["S", 2048], f64>
  // CHECK:      attn.compute "narrow"
  // CHECK-NOT:  attn.config
  // CHECK:      attn.compute "zero"
  %narrow = attn.compute "narrow" (%i: "S", %n: 64) sum (%k: 256) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %u[%n, %k] : !attn.array<[64, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 64], f64>
  %zero = attn.compute "zero" (%n: 256) {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[256], f64>
  // CHECK:      attn.scan
  // CHECK-NOT:  attn.config
  // CHECK:      attn.output
  %last = attn.scan "S" (%t) carries (%before = %zero : !attn.array<[256], f64>) axes [] {
    %h = attn.compute "h" (%n: 256) sum (%k: 256) {
      %0 = attn.read %before[%k] : !attn.array<[256], f64>
      %1 = attn.read %r[%n, %k] : !attn.array<[256, 256], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[256], f64>
    attn.yield %h : !attn.array<[256], f64>
  } : !attn.array<[256], f64>
  attn.output "few" %few : !attn.array<["S", 128], f64>
  attn.output "window" %window : !attn.array<["S", 2048], f64>
  attn.output "narrow" %narrow : !attn.array<["S", 64], f64>
  attn.output "last" %last : !attn.array<[256], f64>
}
}

// -----

// A machine without such groups, and factors that are not rounded.

// CHECK-LABEL: attn.program @no_groups
module attributes {attn.precision = bf16, attn.target = #nvidia.target<"chip", copy_rows = 128>} {
attn.program @no_groups {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 256], f64>
  %w = attn.param "w" : !attn.array<[2048, 256], f64>
  // CHECK:     attn.config = #nvidia.tiles<large>
  %y = attn.compute "y" (%i: "S", %n: 2048) sum (%k: 256) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[2048, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 2048], f64>
  attn.output "y" %y : !attn.array<["S", 2048], f64>
}
}

// -----

// CHECK-LABEL: attn.program @exact
module attributes {attn.target = #nvidia.target<"chip", copy_rows = 128, group_columns = 256, cluster_blocks = 2>} {
attn.program @exact {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 256], f64>
  %w = attn.param "w" : !attn.array<[2048, 256], f64>
  // CHECK:     attn.config = #nvidia.tiles<any>
  %y = attn.compute "y" (%i: "S", %n: 2048) sum (%k: 256) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[2048, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 2048], f64>
  attn.output "y" %y : !attn.array<["S", 2048], f64>
}
}
