// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-check-phase=phase=memory

// What `attn.gathered_copies` may name: copies of weights that nobody has read.

module attributes {attn.target = #nvidia.target<"chip", copy_rows = 128>} {
attn.program @rows {
  attn.length "S" {attn.batch = "each"}
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<["S", 256], f64>
  %w = attn.param "w" {attn.batch = "once", attn.location = #attn.location<argument 1>} : !attn.array<[300, 256], f64>
  %v = attn.param "v" {attn.batch = "once", attn.location = #attn.location<argument 2>} : !attn.array<[300, 256], f64>
  // expected-error @+1 {{gathers 2 copies, but the weights among them are 1}}
  %y = attn.compute "y" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.batch = "each", attn.gathered_copies = [#attn.location<packed 6>, #attn.location<packed 4>], attn.location = #attn.location<own 5>, attn.packed = #attn.location<packed 6>, attn.packed_left = #attn.location<packed 4>, attn.precision = bf16, attn.product = #attn.product<weights, left = 0, rows(0), columns(1), terms(2)>} : !attn.array<["S", 300], f64>
  %z = attn.compute "z" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %v[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.batch = "each", attn.location = #attn.location<own 7>, attn.packed = #attn.location<packed 8>, attn.packed_left = #attn.location<packed 4>, attn.precision = bf16, attn.product = #attn.product<weights, left = 0, rows(0), columns(1), terms(2)>} : !attn.array<["S", 300], f64>
  attn.output "y" %y : !attn.array<["S", 300], f64>
  attn.output "z" %z : !attn.array<["S", 300], f64>
}
}

// -----

module attributes {attn.target = #nvidia.target<"chip", copy_rows = 128>} {
attn.program @late {
  attn.length "S" {attn.batch = "each"}
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<["S", 256], f64>
  %w = attn.param "w" {attn.batch = "once", attn.location = #attn.location<argument 1>} : !attn.array<[300, 256], f64>
  %v = attn.param "v" {attn.batch = "once", attn.location = #attn.location<argument 2>} : !attn.array<[300, 256], f64>
  // expected-note @+1 {{it is read here}}
  %y = attn.compute "y" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.batch = "each", attn.location = #attn.location<own 5>, attn.packed = #attn.location<packed 6>, attn.packed_left = #attn.location<packed 4>, attn.precision = bf16, attn.product = #attn.product<weights, left = 0, rows(0), columns(1), terms(2)>} : !attn.array<["S", 300], f64>
  // expected-error @+1 {{gathers the copy in memory 6, which is read before}}
  %z = attn.compute "z" (%i: "S", %n: 300) sum (%k: 256) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 256], f64>
    %1 = attn.read %v[%n, %k] : !attn.array<[300, 256], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.batch = "each", attn.gathered_copies = [#attn.location<packed 6>, #attn.location<packed 8>], attn.location = #attn.location<own 7>, attn.packed = #attn.location<packed 8>, attn.packed_left = #attn.location<packed 4>, attn.precision = bf16, attn.product = #attn.product<weights, left = 0, rows(0), columns(1), terms(2)>} : !attn.array<["S", 300], f64>
  attn.output "y" %y : !attn.array<["S", 300], f64>
  attn.output "z" %z : !attn.array<["S", 300], f64>
}
}

// -----

attn.program @sum {
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<[8], f64>
  // expected-error @+1 {{gathers copies but reads none}}
  %y = attn.compute () sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.batch = "each", attn.gathered_copies = [#attn.location<packed 2>], attn.location = #attn.location<own 1>} : !attn.array<[], f64>
  attn.output "y" %y : !attn.array<[], f64>
}

// -----

attn.program @list {
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<[8], f64>
  // expected-error @+1 {{expects 'attn.gathered_copies' to be a list, but it is true}}
  %y = attn.compute () sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.batch = "each", attn.gathered_copies = true, attn.location = #attn.location<own 1>} : !attn.array<[], f64>
  attn.output "y" %y : !attn.array<[], f64>
}
