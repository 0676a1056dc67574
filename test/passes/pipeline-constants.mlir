// RUN: fovea-opt %s --attn-pipeline=stop-after=derive | FileCheck %s

// A constant stays in the equation that needs it, also where two of them could
// share one.

// CHECK-LABEL: attn.system @loss
// CHECK-NOT:     arith.constant
// CHECK:         attn.compute "a"
// CHECK:           arith.constant 2.0
// CHECK:         attn.compute "b"
// CHECK:           arith.constant 2.0
attn.system @training {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S"], f64>
  %a = attn.compute "a" (%i: "S") {
    %two = arith.constant 2.0 : f64
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    %1 = arith.addf %two, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["S"], f64>
  %b = attn.compute "b" () sum (%i: "S") {
    %two = arith.constant 2.0 : f64
    %0 = attn.read %a[%i] : !attn.array<["S"], f64>
    %1 = arith.mulf %two, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[], f64>
  attn.penalty %b : !attn.array<[], f64>
}
