// RUN: fovea-opt %s --split-input-file --verify-diagnostics --attn-check-phase=phase=derive

attn.system @loss {
  %l = attn.param "l" : !attn.array<["T", 3], f64>
  %y = attn.data "y" : !attn.array<["T"], i64>
  // expected-error @+1 {{is observed and remains after phase 'derive'}}
  attn.choice "y" categorical ["logits"] (%l : !attn.array<["T", 3], f64>) observed %y : !attn.array<["T"], i64>
}

// -----

attn.system @decode {
  %p = attn.param "p" : !attn.array<[], f64>
  // expected-error @+1 {{'attn.penalty' op remains after phase 'derive'}}
  attn.penalty %p : !attn.array<[], f64>
}

// -----

attn.system @decode {
  %p = attn.param "p" : !attn.array<[], f64>
  // expected-error @+1 {{'attn.equation' op remains after phase 'derive'}}
  attn.equation "p" %p : !attn.array<[], f64>
}

// -----

// expected-error @+1 {{'attn.system' op remains after phase 'derive'}}
attn.system @training {
}

// -----

// expected-error @+1 {{has no output 'logp' after phase 'derive'}}
attn.system @loss {
  %p = attn.param "p" : !attn.array<[], f64>
  attn.output "nll" %p : !attn.array<[], f64>
}
