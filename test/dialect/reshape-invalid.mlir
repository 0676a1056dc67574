// RUN: fovea-opt %s --verify-diagnostics --split-input-file

attn.system @c1_too_few_axes {
  %x = attn.data "x" : !attn.array<["T"], f64>
  // expected-error @+1 {{keeps 2 axes but has 1 and 2}}
  attn.reshape %x keep 2 : !attn.array<["T"], f64> -> !attn.array<["T", 1], f64>
}

// -----

attn.system @c1_kept_axes {
  %x = attn.data "x" : !attn.array<["T", 8], f64>
  // expected-error @+1 {{keeps 1 axes but turns '!attn.array<["T", 8], f64>' into '!attn.array<["S", 8], f64>'}}
  attn.reshape %x keep 1 : !attn.array<["T", 8], f64> -> !attn.array<["S", 8], f64>
}

// -----

attn.system @c2_named_extent {
  %x = attn.data "x" : !attn.array<["T", "S"], f64>
  // expected-error @+1 {{regroups the extent S, which is not a number}}
  attn.reshape %x keep 1 : !attn.array<["T", "S"], f64> -> !attn.array<["T", "S"], f64>
}

// -----

attn.system @c2_product {
  %x = attn.data "x" : !attn.array<["T", 8], f64>
  // expected-error @+1 {{has 8 elements but gives 9}}
  attn.reshape %x keep 1 : !attn.array<["T", 8], f64> -> !attn.array<["T", 3, 3], f64>
}

// -----

attn.system @c2_overflow {
  %x = attn.data "x" : !attn.array<[4294967296, 4294967296], f64>
  // expected-error @+1 {{regroups more elements than 64 bits count: '!attn.array<[4294967296, 4294967296], f64>'}}
  attn.reshape %x keep 0 : !attn.array<[4294967296, 4294967296], f64> -> !attn.array<[0], f64>
}

// -----

attn.system @keep_below_zero {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{attribute 'keep' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  attn.reshape %x keep -1 : !attn.array<[8], f64> -> !attn.array<[8], f64>
}
