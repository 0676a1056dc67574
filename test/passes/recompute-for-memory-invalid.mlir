// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-recompute-for-memory{bytes=1 lengths=T}))"

// expected-error @+1 {{a length is given as 'S=100', not 'T'}}
attn.program @text {
  attn.length "T"
}

// -----

attn.program @unbatched {
  // expected-error @+1 {{'attn.data' op has no 'attn.batch', which 'attn-batch' gives it}}
  %x = attn.data "x" : !attn.array<[4], f64>
  attn.output "y" %x : !attn.array<[4], f64>
}
