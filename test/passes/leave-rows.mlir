// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-leave-rows))" | FileCheck %s

// Rows of a layer that only its activation looks at, under the same guard, are
// not written. The activation is added to something for all rows, so this
// looks at it under the guard too.

// CHECK-LABEL: attn.program @layer
attn.program @layer {
  attn.length "T"
  %g = attn.data "g" : !attn.array<["T"], f64>
  %x = attn.data "x" : !attn.array<["T", 32], f64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  // CHECK: %y = attn.compute "y"
  // CHECK: attn.product{{.*}}, partial} : !attn.array<["T", 64], f64>
  %y = attn.compute "y" (%t: "T", %n: 64) sum (%k: 32) order(chain, fused) where {
    %zero = arith.constant 0.0 : f64
    %0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %1 = arith.cmpf ogt, %0, %zero : f64
    attn.yield %1 : i1
  } {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  // CHECK: %z = attn.compute "z"
  // CHECK: {attn.batch = "each", partial} : !attn.array<["T", 64], f64>
  %z = attn.compute "z" (%t: "T", %n: 64) where {
    %zero = arith.constant 0.0 : f64
    %0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %1 = arith.cmpf ogt, %0, %zero : f64
    attn.yield %1 : i1
  } {
    %0 = attn.read %y[%t, %n] : !attn.array<["T", 64], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 64], f64>
  // CHECK:      %s = attn.compute "s"
  // CHECK:      [[HOLDS:%.*]] = arith.cmpf ogt
  // CHECK-NEXT: [[ROW:%.*]] = scf.if [[HOLDS]] -> (f64) {
  // CHECK-NEXT:   attn.read %z[%t, %n]
  // CHECK:      arith.addf %{{.*}}, [[ROW]]
  // CHECK:      {attn.batch = "each"} : !attn.array<["T", 64], f64>
  %s = attn.compute "s" (%t: "T", %n: 64) {
    %0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %1 = attn.read %z[%t, %n] : !attn.array<["T", 64], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "s" %s : !attn.array<["T", 64], f64>
}

// -----

// What is an output, or what a product multiplies for all rows, is zero
// elsewhere. So is what somebody reads at other places.

// CHECK-LABEL: attn.program @whole
// CHECK-NOT: partial}
attn.program @whole {
  attn.length "T"
  %g = attn.data "g" : !attn.array<["T"], f64>
  %w = attn.param "w" : !attn.array<[64, 64], f64>
  %a = attn.compute "a" (%t: "T", %n: 64) where {
    %zero = arith.constant 0.0 : f64
    %0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %1 = arith.cmpf ogt, %0, %zero : f64
    attn.yield %1 : i1
  } {
    %0 = attn.read %g[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 64], f64>
  %b = attn.compute "b" (%t: "T", %n: 64) where {
    %zero = arith.constant 0.0 : f64
    %0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %1 = arith.cmpf ogt, %0, %zero : f64
    attn.yield %1 : i1
  } {
    %0 = attn.read %g[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 64], f64>
  %c = attn.compute "c" (%t: "T", %n: 64) sum (%k: 64) order(chain, fused) {
    %0 = attn.read %b[%t, %k] : !attn.array<["T", 64], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %d = attn.compute "d" (%t: "T") where {
    %zero = arith.constant 0.0 : f64
    %0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %1 = arith.cmpf ogt, %0, %zero : f64
    attn.yield %1 : i1
  } {
    %0 = attn.read %g[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %e = attn.compute "e" (%t: "T") max (%u: "T") order(chain) {
    %0 = attn.read %d[%u] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "a" %a : !attn.array<["T", 64], f64>
  attn.output "c" %c : !attn.array<["T", 64], f64>
  attn.output "e" %e : !attn.array<["T"], f64>
}
