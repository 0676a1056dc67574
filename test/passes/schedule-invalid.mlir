// RUN: fovea-opt %s --attn-schedule --split-input-file --verify-diagnostics

// A past and a future in one recurrence.
attn.system @both_ways {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 2], f64>
  // expected-error-re @below {{'s' reads its past (s[t-1], line {{[0-9]+}}) and its future (s[t+1], line {{[0-9]+}}): no order of t computes both}}
  %s = attn.compute "s" (%t: "T", %k: 2) {
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %next = arith.addi %t, %one : index
    %0 = attn.read %s[%before, %k] default %zero : f64 : !attn.array<["T", 2], f64>
    // expected-note @below {{the future is read here}}
    %1 = attn.read %s[%next, %k] default %zero : f64 : !attn.array<["T", 2], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 2], f64>
  attn.output "s" %s : !attn.array<["T", 2], f64>
}

// -----

// A cycle at one place. What has no name belongs to the equation it is for.
attn.system @itself {
  attn.length "S"
  // expected-error-re @below {{'a' is defined by itself through b (line {{[0-9]+}}) and c (line {{[0-9]+}}) at the same i}}
  %a = attn.compute "a" (%i: "S") {
    %0 = attn.read %sum[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  %sum = attn.compute (%i: "S") {
    %0 = attn.read %b[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  // expected-note @below {{'b' is defined here}}
  %b = attn.compute "b" (%i: "S") {
    %0 = attn.read %c[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  // expected-note @below {{'c' is defined here}}
  %c = attn.compute "c" (%i: "S") {
    %0 = attn.read %a[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  attn.output "a" %a : !attn.array<["S"], f64>
}

// -----

// The same without any index.
attn.system @itself_scalar {
  // expected-error @below {{'a' is defined by itself}}
  %a = attn.compute "a" () {
    %0 = attn.read %a[] : !attn.array<[], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "a" %a : !attn.array<[], f64>
}

// -----

// A cycle at one place inside a legal loop.
attn.system @itself_in_loop {
  attn.length "T"
  // expected-error-re @below {{'a' is defined by itself through b (line {{[0-9]+}}) at the same t}}
  %a = attn.compute "a" (%t: "T") {
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %a[%before] default %zero : f64 : !attn.array<["T"], f64>
    %1 = attn.read %b[%t] : !attn.array<["T"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  // expected-note @below {{'b' is defined here}}
  %b = attn.compute "b" (%t: "T") {
    %0 = attn.read %a[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "a" %a : !attn.array<["T"], f64>
}

// -----

// A read of the whole in a cycle.
attn.system @reads_all {
  attn.length "T"
  %m = attn.compute "m" (%t: "T") sum (%u: "T") {
    // expected-error @below {{'m' reads all of y, which is computed from 'm' itself: m -> y -> m}}
    %0 = attn.read %y[%u] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  // expected-note @below {{'y' is defined here}}
  %y = attn.compute "y" (%t: "T") {
    %0 = attn.read %m[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "y" %y : !attn.array<["T"], f64>
}

// -----

// The same where the reader has no index at all.
attn.system @reads_all_once {
  attn.length "T"
  %m = attn.compute "m" () mean (%u: "T") {
    // expected-error @below {{'m' reads all of y, which is computed from 'm' itself: m -> y -> m}}
    %0 = attn.read %y[%u] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  // expected-note @below {{'y' is defined here}}
  %y = attn.compute "y" (%t: "T") {
    %0 = attn.read %m[] : !attn.array<[], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "y" %y : !attn.array<["T"], f64>
}

// -----

// A computed place in a cycle.
attn.system @reads_computed {
  attn.length "T"
  %p = attn.data "p" : !attn.array<["T"], i64>
  // expected-note @below {{'s' is defined here}}
  %s = attn.compute "s" (%t: "T") {
    %0 = attn.read %p[%t] : !attn.array<["T"], i64>
    %at = arith.index_cast %0 : i64 to index
    // expected-error @below {{'s' reads s at a computed place, which is computed from 's' itself}}
    %1 = attn.read %s[%at] : !attn.array<["T"], f64>
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  attn.output "s" %s : !attn.array<["T"], f64>
}

// -----

// A place other than the index plus a number is no distance: x[2*t].
attn.system @reads_affine {
  attn.length "T"
  // expected-note @below {{'s' is defined here}}
  %s = attn.compute "s" (%t: "T") {
    %zero = arith.constant 0.0 : f64
    %two = arith.constant 2 : index
    %at = arith.muli %t, %two : index
    // expected-error @below {{'s' reads s[2*t], which is computed from 's' itself}}
    %1 = attn.read %s[%at] default %zero : f64 : !attn.array<["T"], f64>
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  attn.output "s" %s : !attn.array<["T"], f64>
}

// -----

// Two independent mistakes are both reported.
attn.system @two {
  // expected-error @below {{'a' is defined by itself}}
  %a = attn.compute "a" () {
    %0 = attn.read %a[] : !attn.array<[], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  // expected-error @below {{'b' is defined by itself}}
  %b = attn.compute "b" () {
    %0 = attn.read %b[] : !attn.array<[], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "a" %a : !attn.array<[], f64>
  attn.output "b" %b : !attn.array<[], f64>
}

// -----

// A condition that holds before a place and after it does not let the place wait.
attn.system @elsewhere {
  attn.length "T"
  // expected-note @below {{'s' is defined here}}
  %s = attn.compute "s" (%t: "T") sum (%i: "T") where {
    %0 = arith.cmpi ne, %i, %t : index
    attn.yield %0 : i1
  } {
    // expected-error @below {{'s' reads all of s, which is computed from 's' itself}}
    %0 = attn.read %s[%i] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "s" %s : !attn.array<["T"], f64>
}
