// RUN: fovea-opt %s --verify-diagnostics --split-input-file

attn.program @c3_count {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{describes 0 states but carries 1}}
  %last = attn.search "T" states [] (%t) carries (%before = %x : !attn.array<[8], f64>) axes [] {
    attn.yield %x : !attn.array<[8], f64>
  } : !attn.array<[8], f64>
}

// -----

attn.program @c3_kind {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{describes a state as {kind = "ring", name = "y"} but needs a name, and as its kind 'carried', 'window', 'growing' or 'accumulator'}}
  %last = attn.search "T" states [{name = "y", kind = "ring"}] (%t) carries (%before = %x : !attn.array<[8], f64>) axes [] {
    attn.yield %x : !attn.array<[8], f64>
  } : !attn.array<[8], f64>
}

// -----

attn.program @c3_window {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{has a state with the window -1 : i64 but needs a number of steps}}
  %last = attn.search "T" states [{name = "y", kind = "carried", window = -1 : i64}] (%t) carries (%before = %x : !attn.array<[8], f64>) axes [] {
    attn.yield %x : !attn.array<[8], f64>
  } : !attn.array<[8], f64>
}

// -----

attn.program @c3_reorder {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{has a state with reorder = "yes" but needs true or false}}
  %last = attn.search "T" states [{name = "y", kind = "carried", reorder = "yes"}] (%t) carries (%before = %x : !attn.array<[8], f64>) axes [] {
    attn.yield %x : !attn.array<[8], f64>
  } : !attn.array<[8], f64>
}

// -----

// The constraints of attn.scan hold too.
attn.program @c2_extent {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{stacks rows of '!attn.array<[8], f64>' at axis 0 but gives '!attn.array<["S", 8], f64>'}}
  %h = attn.search "T" states [] (%i) axes [0] {
    attn.yield %x : !attn.array<[8], f64>
  } : !attn.array<["S", 8], f64>
}
