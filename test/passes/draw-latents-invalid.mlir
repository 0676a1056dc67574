// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-draw-latents

attn.system @training {
  %p = attn.data "p" : !attn.array<[3], f64>
  // expected-error @+1 {{'place' is a latent choice that nothing says how to treat}}
  %place = attn.choice "place" categorical ["probs"] (%p : !attn.array<[3], f64>) latent -> !attn.array<[], i64>
}

// -----

attn.system @training {
  %p = attn.data "p" : !attn.array<[3], f64>
  // expected-error @+1 {{'expected' of 'place' takes the mean of what is read at a place, so 'place' stands only in brackets of arrays of numbers; 'reinforce' has no such limit}}
  %place = attn.choice "place" categorical ["probs"] (%p : !attn.array<[3], f64>) latent treated {kind = "expected"} -> !attn.array<[], i64>
  %twice = attn.compute "twice" () {
    %0 = attn.read %place[] : !attn.array<[], i64>
    // expected-note @+1 {{it is used otherwise here}}
    %1 = arith.addi %0, %0 : i64
    attn.yield %1 : i64
  } : !attn.array<[], i64>
  attn.output "twice" %twice : !attn.array<[], i64>
}
