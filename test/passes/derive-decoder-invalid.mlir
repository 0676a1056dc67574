// RUN: fovea-opt %s --split-input-file --verify-diagnostics --attn-derive-decoder=show=align

// expected-error @+1 {{there is no equation 'align'}}
attn.system @decoding {
}

// -----

attn.system @decoding {
  %p = attn.param "p" : !attn.array<[3], f64>
  // expected-error @+1 {{'place' is a latent choice, in the place of which attn-draw-latents puts equations}}
  %place = attn.choice "place" categorical ["probs"] (%p : !attn.array<[3], f64>) latent -> !attn.array<[], i64>
  attn.equation "align" %place : !attn.array<[], i64>
}
