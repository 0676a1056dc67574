// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn-recompute-for-memory{bytes=1 lengths=T})"

// expected-error @+1 {{expected a length such as 'S=100', found 'T'}}
attn.program @text {
  attn.length "T"
}

// -----

attn.program @unbatched {
  // expected-error @+1 {{'attn.data' op has no 'attn.batch', which 'attn-batch' adds}}
  %x = attn.data "x" : !attn.array<[4], f64>
  attn.output "y" %x : !attn.array<[4], f64>
}
