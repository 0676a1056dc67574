// RUN: fovea-opt %s --verify-diagnostics --split-input-file

attn.system @negative {
  // expected-error @+1 {{an extent must be at least 0, not -1}}
  attn.data "x" : !attn.array<[-1], f64>
}

// -----

attn.system @element {
  // expected-error @+1 {{elements must be f64, i64, i1 or bf16, not 'f32'}}
  attn.data "x" : !attn.array<["S"], f32>
}

// -----

attn.system @extent {
  // expected-error @+1 {{expected integer value}}
  attn.data "x" : !attn.array<[S], f64>
}

// -----

attn.system @too_large {
  // expected-error @+1 {{integer value too large}}
  attn.data "x" : !attn.array<[99999999999999999999], f64>
}
