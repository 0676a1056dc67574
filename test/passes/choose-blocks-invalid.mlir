// RUN: fovea-opt %s --verify-diagnostics --split-input-file

// The blocks that an equation can have, and which ops can have blocks.

attn.program @many {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{block size must be 32 (one warp), got 48}}
  %y = attn.compute () sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.config = #nvidia.block<48>} : !attn.array<[], f64>
}

// -----

attn.program @product {
  %x = attn.data "x" : !attn.array<[8], f64>
  %w = attn.param "w" : !attn.array<[8, 8], f64>
  // expected-error @+1 {{only an equation computed without tiles can have blocks of one warp}}
  %y = attn.compute (%n: 8) sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[8, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.product = #attn.product<weights, left = 0, columns(0), terms(1)>, attn.config = #nvidia.block<32>} : !attn.array<[8], f64>
}

// -----

attn.program @member {
  %x = attn.data "x" : !attn.array<["S", 8], f64>
  attn.length "S"
  %y = attn.kernel rows {
    // expected-error @+1 {{has blocks of a warp but is part of 'attn.kernel', whose blocks have one size}}
    %own = attn.compute (%k: 8) sum (%t: "S") {
      %0 = attn.read %x[%t, %k] : !attn.array<["S", 8], f64>
      attn.yield %0 : f64
    } {attn.config = #nvidia.block<32>} : !attn.array<[8], f64>
    attn.yield %own : !attn.array<[8], f64>
  } : !attn.array<[8], f64>
}
