// RUN: fovea-opt %s --verify-diagnostics --attn-check-phase=phase=differentiate

attn.system @loss {
  %u = attn.param "u" : !attn.array<[], f64>
  // expected-note @+1 {{the loss reads the parameter here}}
  %v = attn.param "v" : !attn.array<[], f64>
}

// expected-error @+1 {{has no output 'grad/v' after the phase 'differentiate'}}
attn.system @grad {
  %u = attn.param "u" : !attn.array<[], f64>
  attn.output "grad/u" %u : !attn.array<[], f64>
}
