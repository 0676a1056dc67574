// RUN: fovea-opt %s --verify-diagnostics --split-input-file

attn.program @axis {
  %k = attn.data "k" : !attn.array<["T", 64], f64>
  %at = arith.constant 0 : index
  // expected-error @+1 {{appends along axis 2 but the array has 2 axes}}
  attn.append %k[%at] axis 2 = %k : !attn.array<["T", 64], f64>, !attn.array<["T", 64], f64>
}

// -----

attn.program @c1_row {
  %k = attn.data "k" : !attn.array<["T", 64], f64>
  %row = attn.data "row" : !attn.array<[32], f64>
  %at = arith.constant 0 : index
  // expected-error @+1 {{needs a row of '!attn.array<[64], f64>' but gets '!attn.array<[32], f64>'}}
  attn.append %k[%at] axis 0 = %row : !attn.array<["T", 64], f64>, !attn.array<[32], f64>
}
