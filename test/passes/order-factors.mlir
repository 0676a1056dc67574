// RUN: fovea-opt %s --split-input-file --attn-order-factors | FileCheck %s

// What DRAW reads: 12 * Y * X and 12 * 12 * X multiply-adds in place of
// 2 * 12 * 12 * Y * X.

// CHECK-LABEL: attn.system @read
attn.system @read {
  attn.length "Y"
  attn.length "X"
  %image = attn.data "image" : !attn.array<["Y", "X"], f64>
  %fy = attn.data "fy" : !attn.array<[12, "Y"], f64>
  %fx = attn.data "fx" : !attn.array<[12, "X"], f64>
  // CHECK:      %[[P:.*]] = attn.compute "near" (%[[J:.*]]: 12, %[[X:.*]]: "X") sum (%[[Y:.*]]: "Y") {
  // CHECK-DAG:    %[[A:.*]] = attn.read %fy[%[[J]], %[[Y]]]
  // CHECK-DAG:    %[[B:.*]] = attn.read %image[%[[Y]], %[[X]]]
  // CHECK:        arith.mulf %[[A]], %[[B]]
  // CHECK:      %[[N:.*]] = attn.compute "near" (%[[J:.*]]: 12, %[[I:.*]]: 12) sum (%[[X:.*]]: "X") {
  // CHECK-DAG:    %[[A:.*]] = attn.read %[[P]][%[[J]], %[[X]]]
  // CHECK-DAG:    %[[B:.*]] = attn.read %fx[%[[I]], %[[X]]]
  // CHECK:        arith.mulf %[[A]], %[[B]]
  // CHECK:      attn.output "near" %[[N]]
  %near = attn.compute "near" (%j: 12, %i: 12) sum (%y: "Y", %x: "X") {
    %0 = attn.read %fy[%j, %y] : !attn.array<[12, "Y"], f64>
    %1 = attn.read %image[%y, %x] : !attn.array<["Y", "X"], f64>
    %2 = arith.mulf %0, %1 : f64
    %3 = attn.read %fx[%i, %x] : !attn.array<[12, "X"], f64>
    %4 = arith.mulf %2, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<[12, 12], f64>
  attn.output "near" %near : !attn.array<[12, 12], f64>
}

// -----

// What DRAW writes. The outer product that the sum reads counts as its factors:
// the sum over j comes first. The sign goes to the end.

// CHECK-LABEL: attn.system @write
attn.system @write {
  attn.length "Y"
  attn.length "X"
  %patch = attn.data "patch" : !attn.array<[12, 12], f64>
  %fy = attn.data "fy" : !attn.array<[12, "Y"], f64>
  %fx = attn.data "fx" : !attn.array<[12, "X"], f64>
  // CHECK-NOT:  (%{{.*}}: 12, %{{.*}}: "Y", %{{.*}}: 12)
  // CHECK:      %[[P:.*]] = attn.compute (%[[Y:.*]]: "Y", %[[I:.*]]: 12) sum (%[[J:.*]]: 12) {
  // CHECK-DAG:    attn.read %fy[%[[J]], %[[Y]]]
  // CHECK-DAG:    attn.read %patch[%[[J]], %[[I]]]
  // CHECK:      %[[C:.*]] = attn.compute (%[[Y:.*]]: "Y", %[[X:.*]]: "X") sum (%[[I:.*]]: 12) {
  // CHECK-DAG:    attn.read %[[P]][%[[Y]], %[[I]]]
  // CHECK-DAG:    attn.read %fx[%[[I]], %[[X]]]
  // CHECK:      %[[N:.*]] = attn.compute (%[[Y:.*]]: "Y", %[[X:.*]]: "X") {
  // CHECK:        %[[V:.*]] = attn.read %[[C]][%[[Y]], %[[X]]]
  // CHECK:        arith.negf %[[V]]
  // CHECK:      attn.output "canvas" %[[N]]
  %outer = attn.compute (%j: 12, %y: "Y", %i: 12) {
    %0 = attn.read %fy[%j, %y] : !attn.array<[12, "Y"], f64>
    %1 = attn.read %patch[%j, %i] : !attn.array<[12, 12], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[12, "Y", 12], f64>
  %canvas = attn.compute (%y: "Y", %x: "X") sum (%j: 12, %i: 12) {
    %0 = attn.read %outer[%j, %y, %i] : !attn.array<[12, "Y", 12], f64>
    %1 = arith.negf %0 : f64
    %2 = attn.read %fx[%i, %x] : !attn.array<[12, "X"], f64>
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["Y", "X"], f64>
  attn.output "canvas" %canvas : !attn.array<["Y", "X"], f64>
}

// -----

// Linear attention: keys times values first, unless a query may only see the
// keys before it: then the scores come first, and the condition goes wherever its
// indices meet.

// CHECK-LABEL: attn.system @linear
attn.system @linear {
  attn.length "T"
  %q = attn.data "q" : !attn.array<["T", 16], f64>
  %k = attn.data "k" : !attn.array<["T", 16], f64>
  %v = attn.data "v" : !attn.array<["T", 16], f64>
  // CHECK:      %[[KV:.*]] = attn.compute "all" (%{{.*}}: 16, %{{.*}}: 16) sum (%[[U:.*]]: "T") {
  // CHECK-DAG:    attn.read %k[%[[U]], %{{.*}}]
  // CHECK-DAG:    attn.read %v[%[[U]], %{{.*}}]
  // CHECK:      attn.compute "all" (%[[T:.*]]: "T", %{{.*}}: 16) sum (%{{.*}}: 16) {
  // CHECK-DAG:    attn.read %q[%[[T]], %{{.*}}]
  // CHECK-DAG:    attn.read %[[KV]]
  %all = attn.compute "all" (%t: "T", %d: 16) sum (%u: "T", %e: 16) {
    %0 = attn.read %q[%t, %e] : !attn.array<["T", 16], f64>
    %1 = attn.read %k[%u, %e] : !attn.array<["T", 16], f64>
    %2 = arith.mulf %0, %1 : f64
    %3 = attn.read %v[%u, %d] : !attn.array<["T", 16], f64>
    %4 = arith.mulf %2, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["T", 16], f64>
  attn.output "all" %all : !attn.array<["T", 16], f64>
  // CHECK:      %[[QK:.*]] = attn.compute "past" (%[[T:.*]]: "T", %[[U:.*]]: "T") sum (%{{.*}}: 16) where {
  // CHECK:        arith.cmpi sle, %[[U]], %[[T]]
  // CHECK:      } {
  // CHECK-DAG:    attn.read %q[%[[T]], %{{.*}}]
  // CHECK-DAG:    attn.read %k[%[[U]], %{{.*}}]
  // CHECK:      attn.compute "past" (%[[T:.*]]: "T", %{{.*}}: 16) sum (%[[U:.*]]: "T") where {
  // CHECK:        arith.cmpi sle, %[[U]], %[[T]]
  // CHECK:      } {
  // CHECK-DAG:    attn.read %[[QK]][%[[T]], %[[U]]]
  // CHECK-DAG:    attn.read %v[%[[U]], %{{.*}}]
  %past = attn.compute "past" (%t: "T", %d: 16) sum (%u: "T", %e: 16) where {
    %before = arith.cmpi sle, %u, %t : index
    attn.yield %before : i1
  } {
    %0 = attn.read %q[%t, %e] : !attn.array<["T", 16], f64>
    %1 = attn.read %k[%u, %e] : !attn.array<["T", 16], f64>
    %2 = arith.mulf %0, %1 : f64
    %3 = attn.read %v[%u, %d] : !attn.array<["T", 16], f64>
    %4 = arith.mulf %2, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["T", 16], f64>
  attn.output "past" %past : !attn.array<["T", 16], f64>
  // So does that of a branch, and a branch that it decides is taken.
  // CHECK:      %[[QK:.*]] = attn.compute "branch" (%[[T:.*]]: "T", %[[U:.*]]: "T") sum (%{{.*}}: 16) where {
  // CHECK-DAG:    arith.cmpi slt, %[[U]], %[[T]]
  // CHECK-DAG:    arith.cmpi ne, %[[U]],
  // CHECK-NOT:    scf.if
  // CHECK:      attn.compute "branch" (%[[T:.*]]: "T", %{{.*}}: 16) sum (%[[U:.*]]: "T") where {
  // CHECK:      } {
  // CHECK-NOT:    scf.if
  // CHECK:      attn.output "branch"
  %branch = attn.compute "branch" (%t: "T", %d: 16) sum (%u: "T", %e: 16) where {
    %before = arith.cmpi slt, %u, %t : index
    attn.yield %before : i1
  } {
    %before = arith.cmpi sle, %u, %t : index
    %none = arith.constant 0.0 : f64
    %0 = scf.if %before -> (f64) {
      %1 = attn.read %q[%t, %e] : !attn.array<["T", 16], f64>
      %2 = attn.read %k[%u, %e] : !attn.array<["T", 16], f64>
      %3 = arith.mulf %1, %2 : f64
      scf.yield %3 : f64
    } else {
      scf.yield %none : f64
    }
    %three = arith.constant 3 : index
    %other = arith.cmpi ne, %u, %three : index
    %4 = scf.if %other -> (f64) {
      %5 = attn.read %v[%u, %d] : !attn.array<["T", 16], f64>
      scf.yield %5 : f64
    } else {
      scf.yield %none : f64
    }
    %6 = arith.mulf %0, %4 : f64
    attn.yield %6 : f64
  } : !attn.array<["T", 16], f64>
  attn.output "branch" %branch : !attn.array<["T", 16], f64>
}

// -----

// A factor that is read outside of the condition's places goes where the
// condition does: x[i + 1] is there for i < 15 only, so nothing that reads it is
// computed at any other place.

// CHECK-LABEL: attn.system @guarded
attn.system @guarded {
  attn.length "T"
  %x = attn.data "x" : !attn.array<[16], f64>
  %y = attn.data "y" : !attn.array<["T", 16], f64>
  %z = attn.data "z" : !attn.array<["T", 16], f64>
  // CHECK:     %[[P:.*]] = attn.compute "s" (%{{.*}}: "T") sum (%[[I:.*]]: 16) where {
  // CHECK:       %[[END:.*]] = arith.constant 15
  // CHECK:       arith.cmpi slt, %[[I]], %[[END]]
  // CHECK:     } {
  // CHECK:       attn.read %x
  // CHECK:     attn.compute "s" (%{{.*}}: 16) sum (%{{.*}}: "T") {
  // CHECK-NOT: attn.read %x
  // CHECK:     attn.output
  %s = attn.compute "s" (%o: 16) sum (%t: "T", %i: 16) where {
    %c15 = arith.constant 15 : index
    %inside = arith.cmpi slt, %i, %c15 : index
    attn.yield %inside : i1
  } {
    %c1 = arith.constant 1 : index
    %next = arith.addi %i, %c1 : index
    %0 = attn.read %x[%next] : !attn.array<[16], f64>
    %1 = attn.read %y[%t, %i] : !attn.array<["T", 16], f64>
    %2 = arith.mulf %0, %1 : f64
    %3 = attn.read %z[%t, %o] : !attn.array<["T", 16], f64>
    %4 = arith.mulf %2, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<[16], f64>
  attn.output "s" %s : !attn.array<[16], f64>
}

// -----

// A condition on an index of the result that no factor has: it holds in the last
// step, which has that index and sums over the places that it leaves.

// CHECK-LABEL: attn.system @outside
attn.system @outside {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  %y = attn.data "y" : !attn.array<[16], f64>
  %z = attn.data "z" : !attn.array<["T", 64], f64>
  // CHECK:     %[[XY:.*]] = attn.compute "s" (%{{.*}}: "T") sum (%{{.*}}: 16) {
  // CHECK:     attn.compute "s" (%[[I:.*]]: "T", %{{.*}}: 64) sum (%[[T:.*]]: "T") where {
  // CHECK:       arith.cmpi slt, %[[T]], %[[I]]
  // CHECK:     } {
  // CHECK-DAG:   attn.read %[[XY]][%[[T]]]
  // CHECK-DAG:   attn.read %z[%[[T]],
  // CHECK:     attn.output
  %s = attn.compute "s" (%i: "T", %o: 64) sum (%t: "T", %k: 16) where {
    %earlier = arith.cmpi slt, %t, %i : index
    attn.yield %earlier : i1
  } {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = attn.read %y[%k] : !attn.array<[16], f64>
    %2 = arith.mulf %0, %1 : f64
    %3 = attn.read %z[%t, %o] : !attn.array<["T", 64], f64>
    %4 = arith.mulf %2, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "s" %s : !attn.array<["T", 64], f64>
}

// -----

// A bilinear form: all pairs of elements times the weights of each output, whose
// pairs are consecutive.

// CHECK-LABEL: attn.system @bilinear
attn.system @bilinear {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 24], f64>
  %y = attn.data "y" : !attn.array<["T", 32], f64>
  %w = attn.param "w" : !attn.array<[40, 24, 32], f64>
  // CHECK:      %[[XY:.*]] = attn.compute "o" (%[[T:.*]]: "T", %[[I:.*]]: 24, %[[J:.*]]: 32) {
  // CHECK-DAG:    attn.read %x[%[[T]], %[[I]]]
  // CHECK-DAG:    attn.read %y[%[[T]], %[[J]]]
  // CHECK-DAG:  %[[FLAT:.*]] = attn.reshape %[[XY]] keep 1 {{.*}} -> !attn.array<["T", 768], f64>
  // CHECK-DAG:  %[[W:.*]] = attn.reshape %w keep 1 {{.*}} -> !attn.array<[40, 768], f64>
  // CHECK:      attn.compute "o" (%[[T:.*]]: "T", %[[K:.*]]: 40) sum (%[[IJ:.*]]: 768) {
  // CHECK-DAG:    attn.read %[[FLAT]][%[[T]], %[[IJ]]]
  // CHECK-DAG:    attn.read %[[W]][%[[K]], %[[IJ]]]
  %o = attn.compute "o" (%t: "T", %k: 40) sum (%i: 24, %j: 32) {
    %0 = attn.read %x[%t, %i] : !attn.array<["T", 24], f64>
    %1 = attn.read %w[%k, %i, %j] : !attn.array<[40, 24, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    %3 = attn.read %y[%t, %j] : !attn.array<["T", 32], f64>
    %4 = arith.mulf %2, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["T", 40], f64>
  attn.output "o" %o : !attn.array<["T", 40], f64>
}

// -----

// The sign of an equation that stays an array is its own.

// CHECK-LABEL: attn.system @sign
attn.system @sign {
  attn.length "T"
  %a = attn.data "a" : !attn.array<["T", 16], f64>
  %b = attn.data "b" : !attn.array<["T", 16], f64>
  %c = attn.data "c" : !attn.array<["T", 16], f64>
  // CHECK:     %[[MINUS:.*]] = attn.compute "minus"
  // CHECK:       arith.negf
  // CHECK:     attn.compute "s"
  // CHECK:       attn.read %[[MINUS]]
  // CHECK-NOT: arith.negf
  // CHECK:     attn.output "s"
  %minus = attn.compute "minus" (%t: "T", %k: 16) {
    %0 = attn.read %a[%t, %k] : !attn.array<["T", 16], f64>
    %1 = arith.negf %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 16], f64>
  %s = attn.compute "s" (%t: "T", %d: 16) sum (%u: "T", %e: 16) {
    %0 = attn.read %minus[%t, %e] : !attn.array<["T", 16], f64>
    %1 = attn.read %b[%u, %e] : !attn.array<["T", 16], f64>
    %2 = arith.mulf %0, %1 : f64
    %3 = attn.read %c[%u, %d] : !attn.array<["T", 16], f64>
    %4 = arith.mulf %2, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["T", 16], f64>
  attn.output "s" %s : !attn.array<["T", 16], f64>
}

// -----

// What has no better order stays: a product of two, three factors over the same
// indices, and one whose intermediate would be too large.

// CHECK-LABEL: attn.system @stay
attn.system @stay {
  attn.length "T"
  %a = attn.data "a" : !attn.array<["T", 16], f64>
  %b = attn.data "b" : !attn.array<["T", 16], f64>
  %c = attn.data "c" : !attn.array<["T", 16], f64>
  // CHECK:     attn.compute "two" (%{{.*}}: "T", %{{.*}}: "T") sum (%{{.*}}: 16) {
  // CHECK-NOT: attn.compute "two"
  %two = attn.compute "two" (%t: "T", %u: "T") sum (%k: 16) {
    %0 = attn.read %a[%t, %k] : !attn.array<["T", 16], f64>
    %1 = attn.read %b[%u, %k] : !attn.array<["T", 16], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  attn.output "two" %two : !attn.array<["T", "T"], f64>
  // CHECK:     attn.compute "same" (%{{.*}}: "T") sum (%{{.*}}: 16) {
  // CHECK-NOT: attn.compute "same"
  %same = attn.compute "same" (%t: "T") sum (%k: 16) {
    %0 = attn.read %a[%t, %k] : !attn.array<["T", 16], f64>
    %1 = attn.read %b[%t, %k] : !attn.array<["T", 16], f64>
    %2 = arith.mulf %0, %1 : f64
    %3 = attn.read %c[%t, %k] : !attn.array<["T", 16], f64>
    %4 = arith.mulf %2, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["T"], f64>
  attn.output "same" %same : !attn.array<["T"], f64>
  %x = attn.data "x" : !attn.array<["T", 512], f64>
  %y = attn.data "y" : !attn.array<["T", 512], f64>
  %w = attn.param "w" : !attn.array<[16, 512, 512], f64>
  // CHECK:     attn.compute "large" (%{{.*}}: "T", %{{.*}}: 16) sum (%{{.*}}: 512, %{{.*}}: 512) {
  // CHECK-NOT: attn.compute "large"
  %large = attn.compute "large" (%t: "T", %o: 16) sum (%i: 512, %j: 512) {
    %0 = attn.read %x[%t, %i] : !attn.array<["T", 512], f64>
    %1 = attn.read %w[%o, %i, %j] : !attn.array<[16, 512, 512], f64>
    %2 = arith.mulf %0, %1 : f64
    %3 = attn.read %y[%t, %j] : !attn.array<["T", 512], f64>
    %4 = arith.mulf %2, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["T", 16], f64>
  attn.output "large" %large : !attn.array<["T", 16], f64>
}
