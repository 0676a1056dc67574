// RUN: fovea-opt %s --verify-diagnostics --split-input-file

attn.system @c1_rate {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{has the rate 1.000000e+00 : f64, not at least 0 and below 1}}
  attn.dropout %x rate 1.0 ordinal 0 : !attn.array<[8], f64>
}

// -----

attn.system @c1_no_number {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{has the rate 0x7FF8000000000000 : f64, not at least 0 and below 1}}
  attn.dropout %x rate 0x7FF8000000000000 ordinal 0 : !attn.array<[8], f64>
}

// -----

attn.program @c2_axes {
  %x = attn.data "x" : !attn.array<[8], f64>
  %y = attn.scan "T" (%t) axes [0] {
    // expected-error @+1 {{stands at 1 indices but names 0 axes}}
    %0 = attn.dropout %x at (%t) rate 0.5 ordinal 0 : !attn.array<[8], f64>
    attn.yield %0 : !attn.array<[8], f64>
  } : !attn.array<["T", 8], f64>
}

// -----

attn.program @c2_order {
  %x = attn.data "x" : !attn.array<[8], f64>
  %y = attn.scan "T" (%t) axes [0] {
    // expected-error @+1 {{names axis 0 behind axis 1}}
    %0 = attn.dropout %x at (%t, %t) axes [1, 0] rate 0.5 ordinal 0 : !attn.array<[8], f64>
    attn.yield %0 : !attn.array<[8], f64>
  } : !attn.array<["T", 8], f64>
}

// -----

attn.system @ordinal_below_zero {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{attribute 'ordinal' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  attn.dropout %x rate 0.5 ordinal -1 : !attn.array<[8], f64>
}
