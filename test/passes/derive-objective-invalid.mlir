// RUN: fovea-opt %s --split-input-file --verify-diagnostics --attn-derive-objective=get=a

// expected-error @+1 {{there is no equation 'a'}}
attn.system @training {
}

// -----

attn.system @training {
  %p = attn.param "p" : !attn.array<["T", 3], f64>
  // expected-error @+1 {{'place' is a latent choice, in the place of which attn-draw-latents puts equations}}
  %place = attn.choice "place" categorical ["probs"] (%p : !attn.array<["T", 3], f64>) latent -> !attn.array<["T"], i64>
  attn.equation "a" %place : !attn.array<["T"], i64>
}
