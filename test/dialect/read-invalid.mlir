// RUN: fovea-opt %s --verify-diagnostics --split-input-file

attn.system @c1_indices {
  %x = attn.data "x" : !attn.array<["S", 8], f64>
  attn.compute (%i: "S") {
    // expected-error @+1 {{has 1 indices but the array has 2 axes}}
    %0 = attn.read %x[%i] : !attn.array<["S", 8], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
}

// -----

attn.system @c2_array_of_case {
  %x = attn.data "x" : !attn.array<["S", 8], f64>
  // expected-note @+1 {{the case's array is given here}}
  %init = attn.data "init" : !attn.array<[9], f64>
  attn.compute (%i: "S", %k: 8) {
    // expected-error @+1 {{needs '!attn.array<[8], f64>' for a case but gets '!attn.array<[9], f64>'}}
    %0 = attn.read %x[%i, %k] cases [[[0, -1]]] (%init : !attn.array<[9], f64>) : !attn.array<["S", 8], f64>
    attn.yield %0 : f64
  } : !attn.array<["S", 8], f64>
}

// -----

attn.system @c2_axis_of_case {
  %x = attn.data "x" : !attn.array<["S"], f64>
  %init = attn.data "init" : !attn.array<[], f64>
  attn.compute (%i: "S") {
    // expected-error @+1 {{has a case for axis 1 but the array has 1 axes}}
    %0 = attn.read %x[%i] cases [[[1, -1]]] (%init : !attn.array<[], f64>) : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
}

// -----

attn.system @c2_axis_twice {
  %x = attn.data "x" : !attn.array<["S"], f64>
  %init = attn.data "init" : !attn.array<[], f64>
  attn.compute (%i: "S") {
    // expected-error @+1 {{has a case that places axis 0 twice}}
    %0 = attn.read %x[%i] cases [[[0, -1], [0, -2]]] (%init : !attn.array<[], f64>) : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
}

// -----

attn.system @c3_result {
  %x = attn.data "x" : !attn.array<["S"], f64>
  attn.compute (%i: "S") {
    // expected-error @+1 {{gives 'i64' but the array has elements of 'f64'}}
    %0 = "attn.read"(%x, %i) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (!attn.array<["S"], f64>, index) -> i64
    attn.yield %0 : i64
  } : !attn.array<["S"], i64>
}

// -----

attn.system @c3_default {
  %x = attn.data "x" : !attn.array<["S"], f64>
  attn.compute (%i: "S") {
    %zero = arith.constant 0 : i64
    // expected-error @+1 {{has a default of 'i64' but the array has elements of 'f64'}}
    %0 = attn.read %x[%i] default %zero : i64 : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
}

// -----

attn.system @case_without_array {
  %x = attn.data "x" : !attn.array<["S"], f64>
  %init = attn.data "init" : !attn.array<[], f64>
  attn.compute (%i: "S") {
    // expected-error @+1 {{has 2 cases but 1 arrays for them}}
    %0 = attn.read %x[%i] cases [[[0, -1]], [[0, -2]]] (%init : !attn.array<[], f64>) : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
}

// -----

attn.system @case_of_no_list {
  %x = attn.data "x" : !attn.array<["S"], f64>
  %init = attn.data "init" : !attn.array<[], f64>
  attn.compute (%i: "S") {
    // expected-error @+1 {{has the case "begin" but needs a list of [axis, place]}}
    %0 = attn.read %x[%i] cases ["begin"] (%init : !attn.array<[], f64>) : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
}

// -----

attn.system @case_of_no_pair {
  %x = attn.data "x" : !attn.array<["S"], f64>
  %init = attn.data "init" : !attn.array<[], f64>
  attn.compute (%i: "S") {
    // expected-error @+1 {{has a case with [0] but needs [axis, place]}}
    %0 = attn.read %x[%i] cases [[[0]]] (%init : !attn.array<[], f64>) : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
}

// -----

attn.system @case_of_small_number {
  %x = attn.data "x" : !attn.array<["S"], f64>
  %init = attn.data "init" : !attn.array<[], f64>
  attn.compute (%i: "S") {
    // expected-error @+1 {{has a case with [0 : ui8, -1] but needs [axis, place]}}
    %0 = attn.read %x[%i] cases [[[0 : ui8, -1]]] (%init : !attn.array<[], f64>) : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
}

// -----

attn.system @no_array {
  attn.compute (%i: "S") {
    // expected-error @+1 {{expected an array type, not 'f64'}}
    %0 = attn.read %x[%i] : f64
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
}
