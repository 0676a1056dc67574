// RUN: fovea-opt %s --verify-diagnostics --split-input-file

// What `attn.tile` and `attn.cluster` may say, and of what.

attn.program @unknown {
  %x = attn.data "x" : !attn.array<[8], f64>
  %w = attn.param "w" : !attn.array<[8, 8], f64>
  // expected-error @+1 {{unsupported tile "huge"; expected "small", "large", "any", "group" or "wide"}}
  %y = attn.compute (%n: 8) sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[8, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.product = #attn.product<weights, left = 0, columns(0), terms(1)>, attn.tile = "huge"} : !attn.array<[8], f64>
}

// -----

attn.program @sum {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{only a matrix product can have a tile size}}
  %y = attn.compute () sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.tile = "small"} : !attn.array<[], f64>
}

// -----

attn.program @three {
  %x = attn.data "x" : !attn.array<[8], f64>
  %w = attn.param "w" : !attn.array<[8, 8], f64>
  // expected-error @+1 {{cluster size must be 2, got 3 : i64}}
  %y = attn.compute (%n: 8) sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[8, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.cluster = 3, attn.product = #attn.product<weights, left = 0, columns(0), terms(1)>, attn.tile = "wide"} : !attn.array<[8], f64>
}

// -----

attn.program @alone {
  %x = attn.data "x" : !attn.array<[8], f64>
  %w = attn.param "w" : !attn.array<[8, 8], f64>
  // expected-error @+1 {{a cluster needs the tile "group" or "wide"}}
  %y = attn.compute (%n: 8) sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[8, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.cluster = 2, attn.product = #attn.product<weights, left = 0, columns(0), terms(1)>, attn.tile = "large"} : !attn.array<[8], f64>
}
