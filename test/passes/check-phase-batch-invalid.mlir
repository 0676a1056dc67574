// RUN: fovea-opt %s --verify-diagnostics --attn-check-phase=phase=batch

attn.program @grad {
  %x = attn.data "x" {attn.batch = "each"} : !attn.array<[], f64>
  // expected-error @+1 {{'attn.output' op is not a sum over the examples after phase 'batch'}}
  attn.output "grad/w" %x : !attn.array<[], f64>
}
