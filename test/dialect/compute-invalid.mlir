// RUN: fovea-opt %s --verify-diagnostics --split-input-file

attn.system @c1_arguments_of_body {
  // expected-error @+1 {{has 2 indices but its body has the arguments ('index')}}
  "attn.compute"() <{indices = ["i", "k"], extents = ["S", 8], lower = array<i64: 0, 0>, numParallel = 2 : i64, reducer = 0 : i32}> ({
  }, {
  ^bb0(%i: index):
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  }) : () -> !attn.array<["S", 8], f64>
}

// -----

attn.system @c1_arguments_of_condition {
  // expected-error @+1 {{has 1 indices but its condition has the arguments ('i64')}}
  "attn.compute"() <{indices = ["i"], extents = ["S"], lower = array<i64: 0>, numParallel = 1 : i64, reducer = 0 : i32}> ({
  ^bb0(%i: i64):
    %0 = arith.constant true
    attn.yield %0 : i1
  }, {
  ^bb0(%i: index):
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  }) : () -> !attn.array<["S"], f64>
}

// -----

attn.system @c1_no_yield {
  // expected-error @+1 {{needs one attn.yield of one value in its body}}
  attn.compute (%i: "S") {
    %0 = arith.constant 0.0 : f64
    attn.yield %0, %0 : f64, f64
  } : !attn.array<["S"], f64>
}

// -----

attn.system @c1_body_yields {
  // expected-error @+1 {{yields 'i64' from its body but needs 'f64'}}
  attn.compute (%i: "S") {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } : !attn.array<["S"], f64>
}

// -----

attn.system @c1_condition_yields {
  // expected-error @+1 {{yields 'f64' from its condition but needs 'i1'}}
  attn.compute (%i: "S") where {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
}

// -----

attn.system @c1_argmax_of_no_element {
  // expected-error @+1 {{yields 'index' from its body but needs f64, i64 or i1}}
  attn.compute () argmax (%i: "S") {
    attn.yield %i : index
  } : !attn.array<[], i64>
}

// -----

attn.system @c2_result {
  // expected-error @+1 {{runs over '!attn.array<["S"], f64>' but gives '!attn.array<["T"], f64>'}}
  attn.compute (%i: "S") {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
}

// -----

attn.system @c2_normaliser {
  // expected-error @+1 {{runs over '!attn.array<["T", "S"], f64>' but gives '!attn.array<["T"], f64>'}}
  attn.compute (%t: "T") softmax (%i: "S") {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
}

// -----

attn.system @c3_no_index {
  // expected-error @+1 {{reduces by sum over 0 indices}}
  attn.compute (%i: "S") sum () {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
}

// -----

attn.system @c3_no_reducer {
  // expected-error @+1 {{reduces by none over 1 indices}}
  "attn.compute"() <{indices = ["i"], extents = ["S"], lower = array<i64: 0>, numParallel = 0 : i64, reducer = 0 : i32}> ({
  }, {
  ^bb0(%i: index):
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  }) : () -> !attn.array<[], f64>
}

// -----

attn.system @c3_normaliser {
  // expected-error @+1 {{normalises over 2 indices but supports only one}}
  attn.compute () softmax (%i: "S", %j: "S") {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["S", "S"], f64>
}

// -----

attn.system @c4_lower_bound {
  // expected-error @+1 {{has an element at -1 along the index "i"}}
  attn.compute (%i: -1 to "S") {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
}

// -----

// The elements of a sum may begin below 0.
attn.system @c4_lower_bound_of_sum {
  attn.compute () sum (%i: -1 to "S") {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
}

// -----

attn.system @c5_array_in_body {
  // expected-error @+1 {{computes with scalars, but attn.data stands in its body}}
  attn.compute (%i: "S") {
    // expected-note @+1 {{it stands here}}
    %x = attn.data "x" : !attn.array<["S"], f64>
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
}

// -----

attn.system @c6_sum_of_bits {
  // expected-error @+1 {{gives 'i1' but sum gives f64 or i64}}
  attn.compute () sum (%i: "S") {
    %0 = arith.constant true
    attn.yield %0 : i1
  } : !attn.array<[], i1>
}

// -----

attn.system @c6_mean_of_numbers {
  // expected-error @+1 {{gives 'i64' but mean gives f64}}
  attn.compute () mean (%i: "S") {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } : !attn.array<[], i64>
}

// -----

attn.system @c6_argmax {
  // expected-error @+1 {{gives 'f64' but argmax gives i64}}
  attn.compute () argmax (%i: "S") {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
}

// -----

attn.system @c6_any {
  // expected-error @+1 {{gives 'f64' but any gives i1}}
  attn.compute () any (%i: "S") {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
}

// -----

attn.system @counts {
  // expected-error @+1 {{has 1 extents, 2 names, 1 lower bounds and 1 parallel indices}}
  "attn.compute"() <{indices = ["i", "j"], extents = ["S"], lower = array<i64: 0>, numParallel = 1 : i64, reducer = 0 : i32}> ({
  }, {
  ^bb0(%i: index):
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  }) : () -> !attn.array<["S"], f64>
}

// -----

attn.system @counts_below_zero {
  // expected-error @+1 {{attribute 'numParallel' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  "attn.compute"() <{indices = ["i"], extents = ["S"], lower = array<i64: 0>, numParallel = -1 : i64, reducer = 0 : i32}> ({
  }, {
  ^bb0(%i: index):
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  }) : () -> !attn.array<["S"], f64>
}

// -----

attn.system @extent_below_zero {
  // expected-error @+1 {{attribute 'extents' failed to satisfy constraint: numbers and names}}
  attn.compute () sum (%i: -1) {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
}

// -----

attn.system @empty_body {
  // expected-error @+1 {{expects a non-empty block}}
  attn.compute (%i: "S") {} : !attn.array<["S"], f64>
}

// -----

attn.system @range {
  // expected-error @+1 {{expected ')'}}
  attn.compute (%i: 1 to 2 to "S") {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
}

// -----

attn.system @c7_order_of_nothing {
  // expected-error @+1 {{'attn.compute' op has an order but reduces nothing}}
  "attn.compute"() <{indices = ["i"], extents = ["S"], lower = array<i64: 0>, numParallel = 1 : i64, reducer = 0 : i32, order = #attn.order<-1, false>}> ({
  }, {
  ^bb0(%i: index):
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  }) : () -> !attn.array<["S"], f64>
}

// -----

attn.system @c7_lanes_of_result {
  // expected-error @+1 {{has lanes along index 0 but reduces over indices 1 to 1}}
  attn.compute (%i: "S") sum (%k: 8) order(lanes %i) {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
}

// -----

attn.system @c7_fused_mean {
  // expected-error @+1 {{is fused but reduces by mean}}
  attn.compute () mean (%k: 8) order(chain, fused) {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
}

// -----

attn.system @order_along_what {
  // expected-error @+1 {{'%u' is not an index of the equation}}
  attn.compute () sum (%k: 8) order(lanes %u) {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
}

// -----

attn.system @order_of_what {
  // expected-error @+1 {{expected 'lanes': 'chain' or 'lanes %index'}}
  attn.compute () sum (%k: 8) order(tree) {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
}

// -----

attn.system @c8_no_condition {
  // expected-error @+1 {{is partial but has no condition}}
  attn.compute (%i: "S") {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } {partial} : !attn.array<["S"], f64>
}

// -----

attn.system @c8_reducer {
  // expected-error @+1 {{is partial but reduces by max}}
  attn.compute (%i: "S") max (%k: 8) where {
    %0 = arith.constant true
    attn.yield %0 : i1
  } {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } {partial} : !attn.array<["S"], f64>
}

// -----

attn.system @c8_whole_numbers {
  // expected-error @+1 {{is partial but gives 'i64'}}
  attn.compute (%i: "S") where {
    %0 = arith.constant true
    attn.yield %0 : i1
  } {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } {partial} : !attn.array<["S"], i64>
}
