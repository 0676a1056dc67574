// RUN: fovea-opt %s --verify-diagnostics --split-input-file

attn.program @c1_arguments {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{has 1 carries but its body has the arguments ('index')}}
  %last = "attn.scan"(%x) <{axes = array<i64>, extent = "S"}> ({
  ^bb0(%i: index):
    attn.yield %x : !attn.array<[8], f64>
  }) : (!attn.array<[8], f64>) -> !attn.array<[8], f64>
}

// -----

attn.program @c1_type_of_argument {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{carries '!attn.array<[8], f64>' from its init but '!attn.array<[9], f64>' into its body}}
  %last = "attn.scan"(%x) <{axes = array<i64>, extent = "S"}> ({
  ^bb0(%i: index, %before: !attn.array<[9], f64>):
    attn.yield %x : !attn.array<[8], f64>
  }) : (!attn.array<[8], f64>) -> !attn.array<[8], f64>
}

// -----

attn.program @c1_type_of_next {
  %x = attn.data "x" : !attn.array<[8], f64>
  %y = attn.data "y" : !attn.array<[9], f64>
  // expected-error @+1 {{carries '!attn.array<[8], f64>' from its init but '!attn.array<[9], f64>' from its body}}
  %last = attn.scan "S" (%i) carries (%before = %x : !attn.array<[8], f64>) axes [] {
    attn.yield %y : !attn.array<[9], f64>
  } : !attn.array<[8], f64>
}

// -----

attn.program @c1_type_of_last {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{carries '!attn.array<[8], f64>' but gives '!attn.array<[9], f64>'}}
  %last = attn.scan "S" (%i) carries (%before = %x : !attn.array<[8], f64>) axes [] {
    attn.yield %x : !attn.array<[8], f64>
  } : !attn.array<[9], f64>
}

// -----

attn.program @c2_number_of_values {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{has 1 results but its body yields 2 values}}
  %last = attn.scan "S" (%i) carries (%before = %x : !attn.array<[8], f64>) axes [] {
    attn.yield %x, %x : !attn.array<[8], f64>, !attn.array<[8], f64>
  } : !attn.array<[8], f64>
}

// -----

attn.program @c2_number_of_axes {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{stacks 1 arrays but names 2 axes}}
  %h = attn.scan "S" (%i) axes [0, 0] {
    attn.yield %x : !attn.array<[8], f64>
  } : !attn.array<["S", 8], f64>
}

// -----

attn.program @c2_extent {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{stacks rows of '!attn.array<[8], f64>' at axis 0 but gives '!attn.array<["T", 8], f64>'}}
  %h = attn.scan "S" (%i) axes [0] {
    attn.yield %x : !attn.array<[8], f64>
  } : !attn.array<["T", 8], f64>
}

// -----

attn.program @c2_row {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{stacks rows of '!attn.array<[8], f64>' at axis 0 but gives '!attn.array<["S", 9], f64>'}}
  %h = attn.scan "S" (%i) axes [0] {
    attn.yield %x : !attn.array<[8], f64>
  } : !attn.array<["S", 9], f64>
}

// -----

attn.program @c2_axis {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{stacks rows of '!attn.array<[8], f64>' at axis 2 but gives '!attn.array<["S", 8], f64>'}}
  %h = attn.scan "S" (%i) axes [2] {
    attn.yield %x : !attn.array<[8], f64>
  } : !attn.array<["S", 8], f64>
}

// -----

attn.program @extent_is_no_number {
  // expected-error @+1 {{attribute 'extent' failed to satisfy constraint: a number or a name}}
  attn.scan 2.0 : f64 (%i) axes [] {
    attn.yield
  }
}

// -----

attn.program @empty_body {
  // expected-error @+1 {{expects a non-empty block}}
  attn.scan "S" (%i) axes [] {
  }
}
