// RUN: fovea-opt %s --verify-diagnostics "--pass-pipeline=builtin.module(attn.program(attn-run-target-passes))"

// A pass of a target runs on a batched program, as any pass after the phase `batch`.

attn.program @unbatched {
  // expected-error @+1 {{has no 'attn.batch', which 'attn-batch' adds}}
  %x = attn.data "x" : !attn.array<[8], f64>
  attn.output "y" %x : !attn.array<[8], f64>
}
