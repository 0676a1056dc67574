// RUN: fovea-opt %s --verify-diagnostics --split-input-file

attn.system @c1_other_axes {
  %f = attn.data "f" : !attn.array<["S", 4], f64>
  // expected-note @+1 {{the part is given here}}
  %b = attn.data "b" : !attn.array<["T", 4], f64>
  // expected-error @+1 {{gives '!attn.array<["S", 8], f64>' but joins '!attn.array<["T", 4], f64>'}}
  attn.concat %f, %b : !attn.array<["S", 4], f64>, !attn.array<["T", 4], f64> -> !attn.array<["S", 8], f64>
}

// -----

attn.system @c1_named_extent {
  %f = attn.data "f" : !attn.array<["S"], f64>
  // expected-error @+1 {{joins along the extent S, which is not a number}}
  attn.concat %f : !attn.array<["S"], f64> -> !attn.array<[8], f64>
}

// -----

attn.system @c1_sum {
  %f = attn.data "f" : !attn.array<[4], f64>
  // expected-error @+1 {{joins 8 elements but gives 9}}
  attn.concat %f, %f : !attn.array<[4], f64>, !attn.array<[4], f64> -> !attn.array<[9], f64>
}

// -----

attn.system @c1_overflow {
  %f = attn.data "f" : !attn.array<[9223372036854775807], f64>
  // expected-error @+1 {{joins more elements than 64 bits count}}
  attn.concat %f, %f : !attn.array<[9223372036854775807], f64>, !attn.array<[9223372036854775807], f64> -> !attn.array<[9], f64>
}

// -----

attn.system @no_axis {
  %f = attn.data "f" : !attn.array<[], f64>
  // expected-error @+1 {{needs a part and an axis to join along}}
  attn.concat %f : !attn.array<[], f64> -> !attn.array<[], f64>
}

// -----

attn.system @no_part {
  // expected-error @+1 {{needs a part and an axis to join along}}
  "attn.concat"() : () -> !attn.array<[8], f64>
}
