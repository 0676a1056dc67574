// RUN: fovea-opt %s --verify-diagnostics --split-input-file

// The tiles that a product can have, and which ops can have tiles.

attn.program @unknown {
  %x = attn.data "x" : !attn.array<[8], f64>
  %w = attn.param "w" : !attn.array<[8, 8], f64>
  %y = attn.compute (%n: 8) sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[8, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  // expected-error @+2 {{expected ::fovea::attn::Tiles to be one of: small, medium, large, any, group, wide}}
  // expected-error @+1 {{failed to parse Nvidia_Tiles parameter 'kind'}}
  } {attn.config = #nvidia.tiles<huge>} : !attn.array<[8], f64>
}

// -----

attn.program @sum {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{only a matrix product can have a tile size}}
  %y = attn.compute () sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.config = #nvidia.tiles<small>} : !attn.array<[], f64>
}

// -----

attn.program @three {
  %x = attn.data "x" : !attn.array<[8], f64>
  %w = attn.param "w" : !attn.array<[8, 8], f64>
  // expected-error @+1 {{cluster size must be 2, got 3}}
  %y = attn.compute (%n: 8) sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[8, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.config = #nvidia.tiles<wide, cluster = 3>, attn.product = #attn.product<weights, left = 0, columns(0), terms(1)>} : !attn.array<[8], f64>
}

// -----

attn.program @alone {
  %x = attn.data "x" : !attn.array<[8], f64>
  %w = attn.param "w" : !attn.array<[8, 8], f64>
  // expected-error @+1 {{a cluster needs the tiles 'group' or 'wide'}}
  %y = attn.compute (%n: 8) sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[8, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.config = #nvidia.tiles<large, cluster = 2>, attn.product = #attn.product<weights, left = 0, columns(0), terms(1)>} : !attn.array<[8], f64>
}

// -----

// Warp groups attend in kernels that take some keys at a time, with a limited
// number of stages.

attn.program @groups {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{only a kernel in strips that has 'keys' can have warp groups}}
  %y = attn.compute (%n: 8) {
    %0 = attn.read %x[%n] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.config = #nvidia.groups<stages = 2, ahead = false>} : !attn.array<[8], f64>
}

// -----

attn.program @stages {
  attn.length "T"
  // expected-error @+1 {{has 5 stages, not 2 to 4}}
  attn.kernel strips over "T" outer [3] keys 64 {
    attn.yield
  } {attn.config = #nvidia.groups<stages = 5, ahead = false>}
}
