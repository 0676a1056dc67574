// RUN: fovea-opt %s --verify-diagnostics --split-input-file

attn.system @c1_nested_and_open {
  // expected-error @+1 {{has more than one of nested, given and open}}
  attn.length "W" over "M" open
}

// -----

attn.system @c2_symbols {
  // expected-error @+1 {{needs a map of 2 symbols to one result but has affine_map<()[s0] -> (s0 + 1)>}}
  attn.length "U" is affine_map<()[s0] -> (s0 + 1)> ["S", "T"]
}

// -----

attn.system @c2_dimensions {
  // expected-error @+1 {{needs a map of 1 symbols to one result but has affine_map<(d0)[s0] -> (d0 + s0)>}}
  attn.length "U" is affine_map<(d0)[s0] -> (d0 + s0)> ["S"]
}

// -----

attn.system @c2_results {
  // expected-error @+1 {{needs a map of 1 symbols to one result but has affine_map<()[s0] -> (s0, s0)>}}
  attn.length "U" is affine_map<()[s0] -> (s0, s0)> ["S"]
}

// -----

attn.system @c2_half {
  // expected-error @+1 {{has lengths without a map, or a map without them}}
  "attn.length"() <{length = "U", of = ["S"]}> : () -> ()
}

// -----

// expected-error @+1 {{expects parent op to be one of 'attn.system, attn.program'}}
attn.length "S"

// -----

attn.system @c3_no_quotient {
  // expected-error @+1 {{counts blocks without being a quotient}}
  attn.length "U" is affine_map<()[s0] -> (s0 + 1)> ["S"] blocks
}
