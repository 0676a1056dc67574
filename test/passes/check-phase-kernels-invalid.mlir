// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-check-phase=phase=kernels

// What the phase 'batch' promises still holds.

attn.program @grad {
  %x = attn.data "x" {attn.batch = "each"} : !attn.array<[8], f64>
  // expected-error @+1 {{is not a sum over the examples after phase 'batch'}}
  attn.output "grad/x" %x : !attn.array<[8], f64>
}

// -----

// Sums of the same function that are two loops.

attn.program @sums {
  %x = attn.data "x" {attn.batch = "each"} : !attn.array<[8], f64>
  // expected-error @+1 {{is launched alone after phase 'kernels'}}
  %a = attn.compute "a" () sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } {attn.batch = "each", attn.units = #attn.units<examples>} : !attn.array<[], f64>
  // expected-note @+1 {{and this sum of the same functions}}
  %b = attn.compute "b" () sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    %1 = math.exp %0 : f64
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.batch = "each", attn.units = #attn.units<examples>} : !attn.array<[], f64>
  attn.output "a" %a : !attn.array<[], f64>
  attn.output "b" %b : !attn.array<[], f64>
}

// -----

// Equations of a step that are two launches.

attn.program @step {
  attn.length "T"
  %x = attn.data "x" {attn.batch = "each"} : !attn.array<["T", 8], f64>
  %rows = attn.scan "T" (%t) axes [0] {
    // expected-error @+1 {{is launched alone after phase 'kernels'}}
    %a = attn.compute "a" (%k: 8) {
      %0 = attn.read %x[%t, %k] : !attn.array<["T", 8], f64>
      attn.yield %0 : f64
    } {attn.batch = "each", attn.units = #attn.units<examples>} : !attn.array<[8], f64>
    // expected-note @+1 {{and this equation of the same step}}
    %b = attn.compute "b" () sum (%k: 8) {
      %0 = attn.read %a[%k] : !attn.array<[8], f64>
      attn.yield %0 : f64
    } {attn.batch = "each", attn.units = #attn.units<examples>} : !attn.array<[], f64>
    attn.yield %b : !attn.array<[], f64>
  } : !attn.array<["T"], f64> {attn.batch = "each"}
  attn.output "rows" %rows : !attn.array<["T"], f64>
}

// -----

// An array that could stay with its kernel.

attn.program @given {
  %x = attn.data "x" {attn.batch = "each"} : !attn.array<[8], f64>
  // expected-error @+1 {{gives array 0, which is unused after phase 'kernels'}}
  %given:2 = attn.kernel rows {
    %a = attn.compute "a" (%k: 8) {
      %0 = attn.read %x[%k] : !attn.array<[8], f64>
      attn.yield %0 : f64
    } {attn.batch = "each"} : !attn.array<[8], f64>
    %b = attn.compute "b" () sum (%k: 8) {
      %0 = attn.read %a[%k] : !attn.array<[8], f64>
      attn.yield %0 : f64
    } {attn.batch = "each"} : !attn.array<[], f64>
    attn.yield %a, %b : !attn.array<[8], f64>, !attn.array<[], f64>
  } {attn.units = #attn.units<examples>} : !attn.array<[8], f64>, !attn.array<[], f64>
  attn.output "b" %given#1 : !attn.array<[], f64>
}

// -----

// Columns of another machine.

module attributes {attn.target = #cpu.target<"none", lanes = 12, tile_rows = 2, tile_vectors = 1>} {
attn.program @columns {
  %x = attn.data "x" {attn.batch = "each"} : !attn.array<[16], f64>
  %h = attn.kernel columns {
    // expected-error @+1 {{has 16 columns, but a vector of "none" 12}}
    %own = attn.compute "h" (%n: 16) {
      %0 = attn.read %x[%n] : !attn.array<[16], f64>
      attn.yield %0 : f64
    } {attn.batch = "each"} : !attn.array<[16], f64>
    attn.yield %own : !attn.array<[16], f64>
  } : !attn.array<[16], f64>
  attn.output "h" %h : !attn.array<[16], f64>
}
}

// -----

module attributes {attn.target = #cpu.target<"none", lanes = 12, tile_rows = 2, tile_vectors = 1>} {
attn.program @no_columns {
  %x = attn.data "x" {attn.batch = "each"} : !attn.array<[], f64>
  %h = attn.kernel columns {
    // expected-error @+1 {{has 1 columns, but a vector of "none" 12}}
    %own = attn.compute "h" () {
      %0 = attn.read %x[] : !attn.array<[], f64>
      attn.yield %0 : f64
    } {attn.batch = "each"} : !attn.array<[], f64>
    attn.yield %own : !attn.array<[], f64>
  } : !attn.array<[], f64>
  attn.output "h" %h : !attn.array<[], f64>
}
}

// -----

attn.program @units {
  %x = attn.data "x" {attn.batch = "each"} : !attn.array<[8], f64>
  // expected-error @+1 {{does not define its units after phase 'kernels'}}
  %a = attn.compute "a" (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.batch = "each"} : !attn.array<[8], f64>
  attn.output "a" %a : !attn.array<[8], f64>
}
