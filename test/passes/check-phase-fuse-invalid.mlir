// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-check-phase=phase=fuse

// The phase itself gives the rows before their own array.

attn.program @grad {
  attn.length "T"
  %g = attn.data "g" {attn.batch = "each"} : !attn.array<["T", 8], f64>
  %s = attn.data "s" {attn.batch = "each"} : !attn.array<["T", 8], f64>
  %zero = attn.param "zero" {attn.batch = "once"} : !attn.array<[8], f64>
  // expected-error @+1 {{'attn.compute' op is not a matrix product after phase 'fuse'}}
  %d = attn.compute (%d: 8, %k: 8) sum (%t: "T") order(chain, fused) {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %g[%t, %d] : !attn.array<["T", 8], f64>
    // expected-note @+1 {{this factor is not a plain read of rows}}
    %1 = attn.read %s[%before, %k] cases [[[0, -1]]] (%zero : !attn.array<[8], f64>) : !attn.array<["T", 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.batch = "sum"} : !attn.array<[8, 8], f64>
  attn.output "grad/w" %d : !attn.array<[8, 8], f64>
}

// -----

// What is made in this phase says how a batch has it.

attn.program @loss {
  %w = attn.param "w" {attn.batch = "once"} : !attn.array<[], f64>
  // expected-error @+1 {{'attn.compute' op has no 'attn.batch', which 'attn-batch' adds}}
  %x = attn.compute () {
    %0 = attn.read %w[] : !attn.array<[], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "nll" %x : !attn.array<[], f64>
}

// -----

// A sum has an order.

attn.program @loss {
  %w = attn.param "w" {attn.batch = "once"} : !attn.array<[8], f64>
  // expected-error @+1 {{'attn.compute' op has no order after phase 'fuse'}}
  %x = attn.compute () sum (%k: 8) {
    %0 = attn.read %w[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.batch = "once"} : !attn.array<[], f64>
  attn.output "nll" %x : !attn.array<[], f64>
}
