// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-check-phase=phase=differentiate

attn.system @loss {
  %u = attn.param "u" : !attn.array<[], f64>
  // expected-note @+1 {{the loss reads the parameter here}}
  %v = attn.param "v" : !attn.array<[], f64>
}

// expected-error @+1 {{has no output 'grad/v' after phase 'differentiate'}}
attn.system @grad {
  %u = attn.param "u" : !attn.array<[], f64>
  attn.output "grad/u" %u : !attn.array<[], f64>
}

// -----

attn.system @decode {
  attn.compute () {
    %0 = arith.constant 1.0 : f64
    // expected-error @+1 {{remains after phase 'differentiate'}}
    %1 = attn.stop %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[], f64>
}
