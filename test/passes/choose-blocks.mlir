// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-divide-work,attn-choose-blocks))" | FileCheck %s

// A gradient of a bias is a sum over the rows of all examples: a block that
// computes some of its numbers is a warp. What each example has, a gradient of
// weights, which has tiles, and a sum in a loop have the blocks of the GPU.

// CHECK-LABEL: attn.program @gradient
attn.program @gradient attributes {attn.target = #nvidia.target<"sm_80", shared_bytes = 64512>} {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 64], f64>
  %w = attn.param "w" : !attn.array<[64], f64>
  // CHECK:     attn.compute "y"
  // CHECK-NOT: attn.config
  // CHECK:     attn.compute "db"
  %y = attn.compute "y" (%t: "S", %k: 64) {
    %0 = attn.read %x[%t, %k] : !attn.array<["S", 64], f64>
    %1 = attn.read %w[%k] : !attn.array<[64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 64], f64>
  // CHECK:     attn.batch = "sum", attn.config = #nvidia.block<32>
  %db = attn.compute "db" (%k: 64) sum (%t: "S") {
    %0 = attn.read %y[%t, %k] : !attn.array<["S", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<[64], f64>
  // CHECK:     attn.compute "dw"
  // CHECK-NOT: attn.config
  // CHECK:     attn.output
  %dw = attn.compute "dw" (%k: 64, %n: 64) sum (%t: "S") {
    %0 = attn.read %y[%t, %k] : !attn.array<["S", 64], f64>
    %1 = attn.read %x[%t, %n] : !attn.array<["S", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[64, 64], f64>
  attn.output "y" %y : !attn.array<["S", 64], f64>
  attn.output "grad/b" %db : !attn.array<[64], f64>
  attn.output "grad/w" %dw : !attn.array<[64, 64], f64>
}

// -----

// A CPU has no blocks.

// CHECK-LABEL: attn.program @packed
// CHECK-NOT:   attn.config
attn.program @packed attributes {attn.target = #cpu.target<"x86-64-v3", lanes = 8, tile_rows = 6, tile_vectors = 2>} {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 64], f64>
  %db = attn.compute "db" (%k: 64) sum (%t: "S") {
    %0 = attn.read %x[%t, %k] : !attn.array<["S", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<[64], f64>
  attn.output "grad/b" %db : !attn.array<[64], f64>
}
