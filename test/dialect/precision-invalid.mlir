// RUN: fovea-opt %s --verify-diagnostics --split-input-file

// What `attn.precision` and `attn.sums` may say, and of what.

attn.program @sum {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{only a matrix product or a parameter can have a precision}}
  %y = attn.compute () sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.precision = bf16} : !attn.array<[], f64>
}

// -----

// expected-error @+1 {{unsupported precision f16; only bf16 and i8 are supported}}
attn.program @half attributes {attn.precision = f16} {
}

// -----

// expected-error @+1 {{expects 'attn.precision' to be a type, but it is "bf16"}}
attn.program @text attributes {attn.precision = "bf16"} {
}

// -----

attn.program @wide {
  // expected-error @+1 {{a parameter's precision must have fewer bits than f32, got 'f32'}}
  %w = attn.param "w" {attn.precision = f32} : !attn.array<[8], f64>
}

// -----

attn.program @many_terms {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 1025], f64>
  %w = attn.param "w" : !attn.array<[64, 1025], f64>
  // expected-error @+1 {{only a sum of at most 1024 terms can have factors in i8}}
  %h = attn.compute "h" (%i: "S", %n: 64) sum (%k: 1025) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 1025], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 1025], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.precision = i8} : !attn.array<["S", 64], f64>
  attn.output "h" %h : !attn.array<["S", 64], f64>
}

// -----

// expected-error @+1 {{expects 'attn.sums' to be the terms of a group (1 to 16), its digits (1 to 25) and the place of 0 (-149 to -126), but it is array<i64: 17, 25, -133>}}
attn.program @groups attributes {attn.sums = array<i64: 17, 25, -133>} {
}

// -----

attn.program @chain {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{has sums of rounded products, but its factors are not bf16}}
  %y = attn.compute () sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.sums = array<i64: 16, 25, -133>} : !attn.array<[], f64>
}

// -----

// expected-error @+1 {{expects 'attn.sums' to be the terms of a group}}
attn.program @single attributes {attn.sums = array<i64: 1>} {
}

// -----

attn.program @two_roundings {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{rounds its factors but is not a chain of fused products}}
  %y = attn.compute () sum (%k: 8) order(chain) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    %1 = arith.mulf %0, %0 : f64
    attn.yield %1 : f64
  } {attn.precision = bf16, attn.sums = array<i64: 1>} : !attn.array<[], f64>
}

// -----

attn.program @lanes {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{rounds its factors but is not a chain of fused products}}
  %y = attn.compute () sum (%k: 8) order(lanes %k, fused) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    %1 = arith.mulf %0, %0 : f64
    attn.yield %1 : f64
  } {attn.precision = bf16, attn.sums = array<i64: 1>} : !attn.array<[], f64>
}

// -----

attn.program @no_product {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{rounds its factors but is not a chain of fused products}}
  %y = attn.compute () sum (%k: 8) order(chain, fused) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.precision = bf16, attn.sums = array<i64: 1>} : !attn.array<[], f64>
}
