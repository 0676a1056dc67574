// RUN: fovea-opt %s --attn-batch --attn-factor-products | FileCheck %s

// The adjoint of a convolution: first the product over the channels, at every
// place, then the sum over the taps.

// CHECK-LABEL: attn.program @grad
attn.program @grad {
  attn.length "S"
  %g = attn.data "g" : !attn.array<["S", 16], f64>
  %w = attn.param "w" : !attn.array<[16, 9], f64>
  // CHECK:      %[[P:.*]] = attn.compute "dx" (%[[J:.*]]: "S", %[[R:.*]]: 9) sum (%[[K:.*]]: 16) {
  // CHECK-DAG:    attn.read %g[%[[J]], %[[K]]]
  // CHECK-DAG:    attn.read %w[%[[K]], %[[R]]]
  // CHECK:      %[[DX:.*]] = attn.compute "dx" (%[[I:.*]]: "S") sum (%[[TAP:.*]]: 9) where {
  // CHECK:        %[[AT:.*]] = arith.subi %[[I]], %[[TAP]]
  // CHECK:        arith.cmpi sge, %[[AT]]
  // CHECK:      } {
  // CHECK:        %[[PLACE:.*]] = arith.subi %[[I]], %[[TAP]]
  // CHECK-NEXT:   %[[VALUE:.*]] = attn.read %[[P]][%[[PLACE]], %[[TAP]]]
  // CHECK-NEXT:   attn.yield %[[VALUE]]
  // CHECK:      attn.output "dx" %[[DX]]
  %dx = attn.compute "dx" (%i: "S") sum (%k: 16, %r: 9) where {
    %zero = arith.constant 0 : index
    %at = arith.subi %i, %r : index
    %inside = arith.cmpi sge, %at, %zero : index
    attn.yield %inside : i1
  } {
    %at = arith.subi %i, %r : index
    %0 = attn.read %g[%at, %k] : !attn.array<["S", 16], f64>
    %1 = attn.read %w[%k, %r] : !attn.array<[16, 9], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S"], f64>
  attn.output "dx" %dx : !attn.array<["S"], f64>

  // A plain product has nothing to factor.
  // CHECK:     attn.compute "plain" (%{{.*}}: "S", %{{.*}}: 9) sum (%{{.*}}: 16)
  // CHECK-NOT: attn.compute "plain"
  %plain = attn.compute "plain" (%i: "S", %r: 9) sum (%k: 16) {
    %0 = attn.read %g[%i, %k] : !attn.array<["S", 16], f64>
    %1 = attn.read %w[%k, %r] : !attn.array<[16, 9], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 9], f64>
  attn.output "plain" %plain : !attn.array<["S", 9], f64>

  // Nor where the condition speaks of the terms.
  // CHECK:     attn.compute "triangle" (%{{.*}}: "S") sum (%{{.*}}: 16, %{{.*}}: 9)
  // CHECK-NOT: attn.compute "triangle"
  %triangle = attn.compute "triangle" (%i: "S") sum (%k: 16, %r: 9) where {
    %zero = arith.constant 0 : index
    %at = arith.subi %i, %r : index
    %inside = arith.cmpi sge, %at, %zero : index
    %below = arith.cmpi slt, %k, %r : index
    %both = arith.andi %inside, %below : i1
    attn.yield %both : i1
  } {
    %at = arith.subi %i, %r : index
    %0 = attn.read %g[%at, %k] : !attn.array<["S", 16], f64>
    %1 = attn.read %w[%k, %r] : !attn.array<[16, 9], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S"], f64>
  attn.output "triangle" %triangle : !attn.array<["S"], f64>
}
