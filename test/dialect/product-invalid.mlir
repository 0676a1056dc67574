// RUN: fovea-opt %s --verify-diagnostics --split-input-file

// What `#attn.product` says of an equation is checked.

attn.program @is_no_sum {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{marked as a matrix product, but its reducer is not 'sum'}}
  %y = attn.compute (%i: 8) {
    %0 = attn.read %x[%i] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.product = #attn.product<weights, left = 0, columns(0), terms(1)>} : !attn.array<[8], f64>
}

// -----

attn.program @one_factor {
  %x = attn.data "x" : !attn.array<[8, 8], f64>
  // expected-error @+1 {{a matrix product must multiply two plain reads}}
  %y = attn.compute (%i: 8) sum (%k: 8) {
    %0 = attn.read %x[%i, %k] : !attn.array<[8, 8], f64>
    attn.yield %0 : f64
  } {attn.product = #attn.product<weights, left = 0, columns(0), terms(1)>} : !attn.array<[8], f64>
}

// -----

attn.program @index_twice {
  %x = attn.data "x" : !attn.array<[8], f64>
  %w = attn.param "w" : !attn.array<[8, 8], f64>
  // expected-error @+1 {{has no index 0 that its product names once}}
  %y = attn.compute (%i: 8) sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    %1 = attn.read %w[%i, %k] : !attn.array<[8, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.product = #attn.product<weights, left = 0, rows(0), columns(0), terms(1)>} : !attn.array<[8], f64>
}

// -----

attn.program @terms {
  %x = attn.data "x" : !attn.array<[8], f64>
  %w = attn.param "w" : !attn.array<[8, 8], f64>
  // expected-error @+1 {{has a product whose terms are not the indices of the sum}}
  %y = attn.compute (%i: 8) sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    %1 = attn.read %w[%i, %k] : !attn.array<[8, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.product = #attn.product<weights, left = 0, columns(1), terms(0)>} : !attn.array<[8], f64>
}

// -----

attn.program @missing {
  %x = attn.data "x" : !attn.array<[4, 8], f64>
  %w = attn.param "w" : !attn.array<[8, 8], f64>
  // expected-error @+1 {{has an index that its product does not have}}
  %y = attn.compute (%r: 4, %i: 8) sum (%k: 8) {
    %0 = attn.read %x[%r, %k] : !attn.array<[4, 8], f64>
    %1 = attn.read %w[%i, %k] : !attn.array<[8, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.product = #attn.product<weights, left = 0, columns(1), terms(2)>} : !attn.array<[4, 8], f64>
}

// -----

attn.program @side {
  %x = attn.data "x" : !attn.array<[8], f64>
  %w = attn.param "w" : !attn.array<[8, 8], f64>
  // expected-error @+1 {{reads the left side of its product at other indices}}
  %y = attn.compute (%i: 8) sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    %1 = attn.read %w[%i, %k] : !attn.array<[8, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.product = #attn.product<weights, left = 1, columns(0), terms(1)>} : !attn.array<[8], f64>
}

// -----

attn.program @kind {
  // expected-error @+1 {{'heads' is not a kind of product; the kinds are weights, place, examples and each}}
  attn.length "S" {attn.product = #attn.product<heads, left = 0, columns(0), terms(1)>}
}

// -----

attn.program @part {
  // expected-error @+1 {{'keys' is not a part of a product; the parts are batch, rows, columns, terms and run}}
  attn.length "S" {attn.product = #attn.product<each, left = 0, keys(0), terms(1)>}
}

// -----

attn.program @no_terms {
  // expected-error @+1 {{a product needs a left side of 0 or 1, columns, and terms}}
  attn.length "S" {attn.product = #attn.product<each, left = 0, columns(0)>}
}

// -----

attn.program @two_runs {
  // expected-error @+1 {{a product can have only one index of a run}}
  attn.length "S" {attn.product = #attn.product<weights, left = 0, columns(0), terms(1, 2), run(1, 2)>}
}

// -----

// Columns are one index.

attn.program @columns {
  %x = attn.data "x" : !attn.array<[8, 8], f64>
  %d = attn.data "d" : !attn.array<[8, 4, 2], f64>
  // expected-error @+1 {{has a product of several columns}}
  %y = attn.compute (%m: 8, %i: 4, %j: 2) sum (%k: 8) {
    %0 = attn.read %x[%k, %m] : !attn.array<[8, 8], f64>
    %1 = attn.read %d[%k, %i, %j] : !attn.array<[8, 4, 2], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.product = #attn.product<examples, left = 0, rows(0), columns(1, 2), terms(3)>} : !attn.array<[8, 4, 2], f64>
}

// -----

// The run is the last index of the terms, and the last axis of what is read.

attn.program @run {
  %x = attn.data "x" : !attn.array<[8, 8], f64>
  %w = attn.param "w" : !attn.array<[8, 3, 8], f64>
  // expected-error @+1 {{has a product without runs along index 2}}
  %y = attn.compute (%i: 8, %n: 8) sum (%j: 3, %k: 8) {
    %0 = arith.addi %i, %j : index
    %zero = arith.constant 0.0 : f64
    %1 = attn.read %x[%0, %k] default %zero : f64 : !attn.array<[8, 8], f64>
    %2 = attn.read %w[%n, %j, %k] : !attn.array<[8, 3, 8], f64>
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } {attn.product = #attn.product<weights, left = 0, rows(0), columns(1), terms(2, 3), run(2)>} : !attn.array<[8, 8], f64>
}

// -----

// What stands outside is 0.

attn.program @padding {
  %x = attn.data "x" : !attn.array<[8, 8], f64>
  %w = attn.param "w" : !attn.array<[8, 3, 8], f64>
  // expected-error @+1 {{a matrix product must multiply two plain reads}}
  %y = attn.compute (%i: 8, %n: 8) sum (%j: 3, %k: 8) {
    %0 = arith.addi %i, %j : index
    %one = arith.constant 1.0 : f64
    %1 = attn.read %x[%0, %k] default %one : f64 : !attn.array<[8, 8], f64>
    %2 = attn.read %w[%n, %j, %k] : !attn.array<[8, 3, 8], f64>
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } {attn.product = #attn.product<weights, left = 0, rows(0), columns(1), terms(2, 3), run(3)>} : !attn.array<[8, 8], f64>
}
