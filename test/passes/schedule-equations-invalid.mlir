// RUN: fovea-opt %s --attn-schedule --split-input-file --verify-diagnostics

// What belongs into a loop does not stand among equations.
attn.system @appends {
  attn.length "T"
  %zero = arith.constant 0 : index
  %row = attn.param "row" : !attn.array<[3], f64>
  %x = attn.data "x" : !attn.array<["T", 3], f64>
  // expected-error @below {{takes a number of type 'index', which has no place among equations}}
  %longer = attn.append %x[%zero] axis 0 = %row : !attn.array<["T", 3], f64>, !attn.array<[3], f64>
  attn.output "x" %longer : !attn.array<["T", 3], f64>
}

// -----

attn.system @loops {
  attn.length "T"
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @below {{is a loop, which has no place among equations}}
  %y = attn.scan "T" (%t) axes [0] {
    attn.yield %x : !attn.array<[8], f64>
  } : !attn.array<["T", 8], f64>
  attn.output "y" %y : !attn.array<["T", 8], f64>
}
