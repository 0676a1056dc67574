// RUN: fovea-opt %s --attn-check-phase=phase=derive

// Must not fire: decoding replaces the equation by another one (`decode { set .. }`).

attn.system @loss {
  %w = attn.param "w" : !attn.array<[8], f64>
  %x = attn.compute "x" () sum (%k: 8) order(chain) {
    %0 = attn.read %w[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "nll" %x : !attn.array<[], f64>
  attn.output "logp" %x : !attn.array<[], f64>
  attn.output "choices" %x : !attn.array<[], f64>
  attn.output "penalty" %x : !attn.array<[], f64>
}
attn.system @decode {
  %w = attn.param "w" : !attn.array<[8], f64>
  %x = attn.compute "x" () sum (%k: 8) order(chain, fused) {
    %0 = attn.read %w[%k] : !attn.array<[8], f64>
    %1 = arith.mulf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[], f64>
}
