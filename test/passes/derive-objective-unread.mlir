// RUN: fovea-opt %s --split-input-file --attn-derive-objective | FileCheck %s

// Without choices and penalties, what no other equation reads is an output:
// `%p` and `%q` read one another and nothing else reads them. What an equation
// without a name reads is unread as well.

// CHECK-LABEL: attn.system @loss
// CHECK-NOT:     attn.output "x"
// CHECK-NOT:     attn.output "w"
// CHECK-NOT:     attn.output "a"
// CHECK:         attn.output "p"
// CHECK:         attn.output "q"
// CHECK:         attn.output "b"
// CHECK-NOT:     attn.output "a"
attn.system @training {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S"], f64>
  %w = attn.param "w" : !attn.array<[], f64>
  attn.equation "x" %x : !attn.array<["S"], f64>
  attn.equation "w" %w : !attn.array<[], f64>
  %a = attn.compute "a" (%i: "S") {
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  attn.equation "a" %a : !attn.array<["S"], f64>
  %p = attn.compute "p" (%i: "S") {
    %one = arith.constant 1 : index
    %before = arith.subi %i, %one : index
    %0 = attn.read %q[%before] cases [[[0, -1]]] (%w : !attn.array<[], f64>) : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  attn.equation "p" %p : !attn.array<["S"], f64>
  %q = attn.compute "q" (%i: "S") {
    %0 = attn.read %p[%i] : !attn.array<["S"], f64>
    %1 = attn.read %a[%i] : !attn.array<["S"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S"], f64>
  attn.equation "q" %q : !attn.array<["S"], f64>
  %b = attn.compute "b" (%i: "S") {
    %0 = attn.read %a[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  attn.equation "b" %b : !attn.array<["S"], f64>
  %unnamed = attn.compute (%i: "S") {
    %0 = attn.read %b[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
}

// -----

// A penalty is an objective.

// CHECK-LABEL: attn.system @loss
// CHECK-NOT:     attn.output "a"
// CHECK:         attn.output "penalty"
attn.system @training {
  %w = attn.param "w" : !attn.array<[], f64>
  %a = attn.compute "a" () {
    %0 = attn.read %w[] : !attn.array<[], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.equation "a" %a : !attn.array<[], f64>
  attn.penalty %w : !attn.array<[], f64>
}
