// RUN: fovea-opt %s --canonicalize --cse | FileCheck %s

// Constants stay in the bodies that use them, also those of one value.
// CHECK-LABEL: attn.system @constants {
// CHECK-NEXT: %x = attn.data "x"
// CHECK-NEXT: %a = attn.compute "a"
// CHECK:        arith.constant 2.000000e+00
// CHECK:      %b = attn.compute "b"
// CHECK:        arith.constant 2.000000e+00
attn.system @constants {
  %x = attn.data "x" : !attn.array<["S"], f64>
  %a = attn.compute "a" (%i: "S") {
    %one = arith.constant 1.0 : f64
    %two = arith.addf %one, %one : f64
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    %1 = arith.mulf %0, %two : f64
    attn.yield %1 : f64
  } : !attn.array<["S"], f64>
  %b = attn.compute "b" (%i: "S") {
    %two = arith.constant 2.0 : f64
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    %1 = arith.addf %0, %two : f64
    attn.yield %1 : f64
  } : !attn.array<["S"], f64>
  attn.output "a" %a : !attn.array<["S"], f64>
  attn.output "b" %b : !attn.array<["S"], f64>
}
