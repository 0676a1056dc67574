// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-choose-tiles))" | FileCheck %s

// A product of the rows of a step has as many rows as there are examples: of 64
// and with 512 columns, 8 tiles of 64 x 64. A product of all words of all
// examples has as many as it has words, which the launch knows. With 4096 columns
// there are 64 tiles.

// CHECK-LABEL: attn.program @loop
attn.program @loop attributes {attn.target = #nvidia.target<"sm_80", shared_bytes = 64512>} {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 512], f64>
  %w = attn.param "w" : !attn.array<[512, 512], f64>
  %v = attn.param "v" : !attn.array<[4096, 512], f64>
  // CHECK: attn.compute "words"
  // CHECK: attn.config = #nvidia.tiles<any>, {{.*}}attn.product = 
  // CHECK: attn.compute "zero"
  %words = attn.compute "words" (%t: "S", %n: 512) sum (%k: 512) {
    %0 = attn.read %x[%t, %k] : !attn.array<["S", 512], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[512, 512], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 512], f64>
  %zero = attn.compute "zero" (%n: 512) {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[512], f64>
  %last = attn.scan "S" (%t) carries (%before = %zero : !attn.array<[512], f64>) axes [] {
    // CHECK: attn.compute "z"
    // CHECK: attn.config = #nvidia.tiles<small>, {{.*}}attn.product = 
    %z = attn.compute "z" (%n: 512) sum (%k: 512) {
      %0 = attn.read %before[%k] : !attn.array<[512], f64>
      %1 = attn.read %w[%n, %k] : !attn.array<[512, 512], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[512], f64>
    %h = attn.compute "h" (%n: 512) {
      %0 = attn.read %z[%n] : !attn.array<[512], f64>
      %1 = attn.read %words[%t, %n] : !attn.array<["S", 512], f64>
      %2 = arith.addf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[512], f64>
    attn.yield %h : !attn.array<[512], f64>
  } : !attn.array<[512], f64>
  // CHECK: attn.compute "wide"
  // CHECK-NOT: attn.config
  // CHECK: attn.output
  %wide = attn.compute "wide" (%n: 4096) sum (%k: 512) {
    %0 = attn.read %last[%k] : !attn.array<[512], f64>
    %1 = attn.read %v[%n, %k] : !attn.array<[4096, 512], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[4096], f64>
  attn.output "wide" %wide : !attn.array<[4096], f64>
}

// -----

// A gradient of weights has their rows and columns, whatever the batch: here
// four tiles of 64 x 64.

// CHECK-LABEL: attn.program @gradient
attn.program @gradient attributes {attn.target = #nvidia.target<"sm_80", shared_bytes = 64512>} {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 128], f64>
  %y = attn.data "y" : !attn.array<["S", 128], f64>
  %w = attn.param "w" : !attn.array<[128, 128], f64>
  // CHECK: attn.compute "dw"
  // CHECK: attn.config = #nvidia.tiles<small>, {{.*}}attn.product = #attn.product<examples
  %dw = attn.compute "dw" (%m: 128, %n: 128) sum (%t: "S") {
    %0 = attn.read %x[%t, %m] : !attn.array<["S", 128], f64>
    %1 = attn.read %y[%t, %n] : !attn.array<["S", 128], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[128, 128], f64>
  attn.output "grad/w" %dw : !attn.array<[128, 128], f64>
}

// -----

// 2048 rows and 1024 columns are 128 tiles of 128 x 128. With 100 columns a fifth of
// each would be for nothing, however many rows there are.

// CHECK-LABEL: attn.program @many
attn.program @many attributes {attn.target = #nvidia.target<"sm_80", shared_bytes = 64512>} {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 2048], f64>
  %y = attn.data "y" : !attn.array<["S", 1024], f64>
  %v = attn.data "v" : !attn.array<["S", 10240], f64>
  %z = attn.data "z" : !attn.array<["S", 100], f64>
  // CHECK: attn.compute "dw"
  // CHECK: attn.config = #nvidia.tiles<large>, {{.*}}attn.product = 
  %dw = attn.compute "dw" (%m: 2048, %n: 1024) sum (%t: "S") {
    %0 = attn.read %x[%t, %m] : !attn.array<["S", 2048], f64>
    %1 = attn.read %y[%t, %n] : !attn.array<["S", 1024], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[2048, 1024], f64>
  // CHECK: attn.compute "narrow"
  // CHECK-NOT: attn.config = #nvidia.tiles<large>
  // CHECK: attn.output
  %narrow = attn.compute "narrow" (%m: 10240, %n: 100) sum (%t: "S") {
    %0 = attn.read %v[%t, %m] : !attn.array<["S", 10240], f64>
    %1 = attn.read %z[%t, %n] : !attn.array<["S", 100], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[10240, 100], f64>
  attn.output "grad/w" %dw : !attn.array<[2048, 1024], f64>
  attn.output "narrow" %narrow : !attn.array<[10240, 100], f64>
}

// -----

// A CPU multiplies packed panels.

// CHECK-LABEL: attn.program @packed
attn.program @packed attributes {attn.target = #cpu.target<"x86-64-v3", lanes = 8, tile_rows = 6, tile_vectors = 2>} {
  %x = attn.data "x" : !attn.array<[512], f64>
  %w = attn.param "w" : !attn.array<[512, 512], f64>
  // CHECK-NOT: attn.config
  // CHECK: attn.output
  %z = attn.compute "z" (%n: 512) sum (%k: 512) {
    %0 = attn.read %x[%k] : !attn.array<[512], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[512, 512], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[512], f64>
  attn.output "z" %z : !attn.array<[512], f64>
}
