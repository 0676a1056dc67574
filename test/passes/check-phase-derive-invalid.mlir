// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-check-phase=phase=derive

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
