// RUN: fovea-opt %s --verify-diagnostics --split-input-file

attn.system @c1 {
  %u = attn.compute (%t: 3) {
    // expected-error @+1 {{takes word 4 of a place, which has four}}
    %0 = attn.random [%t] ordinal 0 word 4
    attn.yield %0 : f64
  } : !attn.array<[3], f64>
}

// -----

attn.system @c2 {
  %u = attn.compute (%t: 3) {
    // expected-error @+1 {{is shared by all samples but names one}}
    %0 = attn.random [%t] sample %t shared ordinal 0 word 0
    attn.yield %0 : f64
  } : !attn.array<[3], f64>
}

// -----

attn.system @type {
  %u = attn.compute (%t: 3) {
    // expected-error @+1 {{result #0 must be 64-bit float or 64-bit signless integer}}
    %0 = attn.random [%t] ordinal 0 word 0 : i32
    %1 = arith.constant 0.0 : f64
    attn.yield %1 : f64
  } : !attn.array<[3], f64>
}
