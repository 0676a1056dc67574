// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-check-phase=phase=derive

// Training and decoding add up in the same order.

attn.system @loss {
  %w = attn.param "w" : !attn.array<[8], f64>
  // expected-note @+1 {{this is the equation of training}}
  %x = attn.compute "x" () sum (%k: 8) order(chain) {
    %0 = attn.read %w[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
}
attn.system @decode {
  %w = attn.param "w" : !attn.array<[8], f64>
  // expected-error @+1 {{'attn.compute' op has another order than in training after phase 'derive'}}
  %x = attn.compute "x" () sum (%k: 8) order(lanes %k) {
    %0 = attn.read %w[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
}

// -----

// Each sum of training and decoding has an order.

attn.system @decode {
  %w = attn.param "w" : !attn.array<[8], f64>
  // expected-error @+1 {{'attn.compute' op has no order after phase 'derive'}}
  %x = attn.compute () sum (%k: 8) {
    %0 = attn.read %w[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "x" %x : !attn.array<[], f64>
}
