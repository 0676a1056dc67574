// RUN: fovea-opt %s --attn-batch --attn-pad-windows | FileCheck %s

// A convolution reads a padded array, and the places of its windows are its last
// index.

// CHECK-LABEL: attn.program @forward
// CHECK:       attn.length "S"
// CHECK:       attn.length "S+8" is #{{.*}} ["S"]
attn.program @forward {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S"], f64>
  %w = attn.param "w" : !attn.array<[3, 9], f64>
  // CHECK:      %[[PADDED:.*]] = attn.compute (%[[J:.*]]: "S+8") {
  // CHECK:        %[[AT:.*]] = arith.addi %[[J]], %c-4
  // CHECK-NEXT:   attn.read %x[%[[AT]]] default %cst
  // CHECK:      %[[SUM:.*]] = attn.compute "y" (%[[K:.*]]: 3, %[[I:.*]]: "S") sum (%[[R:.*]]: 9) {
  // CHECK:        %[[WINDOW:.*]] = arith.addi %[[I]], %[[R]]
  // CHECK-NEXT:   attn.read %[[PADDED]][%[[WINDOW]]]
  // CHECK-NEXT:   attn.read %w[%[[K]], %[[R]]]
  // CHECK:      %[[Y:.*]] = attn.compute "y" (%[[I:.*]]: "S", %[[K:.*]]: 3) {
  // CHECK-NEXT:   attn.read %[[SUM]][%[[K]], %[[I]]]
  // CHECK:      attn.output "y" %[[Y]]
  %y = attn.compute "y" (%i: "S", %k: 3) sum (%r: 9) {
    %four = arith.constant 4 : index
    %zero = arith.constant 0.0 : f64
    %ahead = arith.addi %i, %r : index
    %at = arith.subi %ahead, %four : index
    %0 = attn.read %w[%k, %r] : !attn.array<[3, 9], f64>
    %1 = attn.read %x[%at] default %zero : f64 : !attn.array<["S"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 3], f64>
  attn.output "y" %y : !attn.array<["S", 3], f64>
}

// Its adjoint runs the other way; what its condition says of the window becomes
// the condition of the padded array, and the rest stays as well.

// CHECK-LABEL: attn.program @backward
attn.program @backward {
  attn.length "S"
  %g = attn.data "g" : !attn.array<["S", 16], f64>
  %n = attn.data "n" : !attn.array<[], i64>
  %w = attn.param "w" : !attn.array<[16, 9], f64>
  // CHECK:      %[[PADDED:.*]] = attn.compute (%[[K:.*]]: 16, %[[J:.*]]: "S+8") where {
  // CHECK:        arith.addi %[[J]], %c-8
  // CHECK:        arith.cmpi sge
  // CHECK:      } {
  // CHECK:        %[[AT:.*]] = arith.addi %[[J]], %c-8
  // CHECK-NEXT:   attn.read %g[%[[AT]], %[[K]]]
  // CHECK:      attn.compute "dx" (%[[I:.*]]: "S") sum (%[[K:.*]]: 16, %[[R:.*]]: 9) {
  // CHECK:        %[[LAST:.*]] = arith.addi %[[I]], %c8
  // CHECK-NEXT:   %[[WINDOW:.*]] = arith.subi %[[LAST]], %[[R]]
  // CHECK-NEXT:   attn.read %[[PADDED]][%[[K]], %[[WINDOW]]]
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

  // Every other condition stays where it was.
  // CHECK:      attn.compute (%{{.*}}: 16, %{{.*}}: "S+8") where {
  // CHECK:        arith.cmpi eq
  // CHECK:        arith.cmpi sge
  // CHECK:      attn.compute "some" (%{{.*}}: "S") sum (%{{.*}}: 16, %{{.*}}: 9) where {
  // CHECK-NOT:    arith.cmpi sge
  // CHECK:        arith.cmpi eq
  // CHECK-NOT:    arith.cmpi sge
  // CHECK:      } {
  %some = attn.compute "some" (%i: "S") sum (%k: 16, %r: 9) where {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : i64
    %at = arith.subi %i, %r : index
    %inside = arith.cmpi sge, %at, %zero : index
    %number = attn.read %n[] : !attn.array<[], i64>
    %isOne = arith.cmpi eq, %number, %one : i64
    %both = arith.andi %inside, %isOne : i1
    attn.yield %both : i1
  } {
    %at = arith.subi %i, %r : index
    %0 = attn.read %g[%at, %k] : !attn.array<["S", 16], f64>
    %1 = attn.read %w[%k, %r] : !attn.array<[16, 9], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S"], f64>
  attn.output "some" %some : !attn.array<["S"], f64>
}

// Nothing is padded for a few taps, for what is always inside, where a condition
// says more of the window, where it runs backwards along the result, or along a
// length that a search finds.

// CHECK-LABEL: attn.program @others
// CHECK-NOT:   attn.length "{{[ST]}}+
attn.program @others {
  attn.length "S"
  attn.length "T" open
  %found = attn.data "found" : !attn.array<["T"], f64>
  %x = attn.data "x" : !attn.array<["S"], f64>
  %long = attn.data "long" : !attn.array<[40], f64>
  %w = attn.param "w" : !attn.array<[9], f64>
  %few = attn.compute "few" (%i: "S") sum (%r: 3) {
    %zero = arith.constant 0.0 : f64
    %at = arith.addi %i, %r : index
    %0 = attn.read %w[%r] : !attn.array<[9], f64>
    %1 = attn.read %x[%at] default %zero : f64 : !attn.array<["S"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S"], f64>
  %inside = attn.compute "inside" (%i: 30) sum (%r: 9) {
    %at = arith.addi %i, %r : index
    %0 = attn.read %w[%r] : !attn.array<[9], f64>
    %1 = attn.read %long[%at] : !attn.array<[40], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[30], f64>
  %bounded = attn.compute "bounded" (%i: "S") sum (%r: 9) where {
    %below = arith.cmpi slt, %i, %r : index
    attn.yield %below : i1
  } {
    %zero = arith.constant 0.0 : f64
    %at = arith.addi %i, %r : index
    %0 = attn.read %w[%r] : !attn.array<[9], f64>
    %1 = attn.read %x[%at] default %zero : f64 : !attn.array<["S"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S"], f64>
  %backwards = attn.compute "backwards" (%r: 9) sum (%i: "S") {
    %zero = arith.constant 0.0 : f64
    %at = arith.subi %i, %r : index
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    %1 = attn.read %x[%at] default %zero : f64 : !attn.array<["S"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[9], f64>
  %searched = attn.compute "searched" (%i: "T") sum (%r: 9) {
    %zero = arith.constant 0.0 : f64
    %at = arith.addi %i, %r : index
    %0 = attn.read %w[%r] : !attn.array<[9], f64>
    %1 = attn.read %found[%at] default %zero : f64 : !attn.array<["T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  attn.output "searched" %searched : !attn.array<["T"], f64>
  attn.output "few" %few : !attn.array<["S"], f64>
  attn.output "inside" %inside : !attn.array<[30], f64>
  attn.output "bounded" %bounded : !attn.array<["S"], f64>
  attn.output "backwards" %backwards : !attn.array<[9], f64>
}
