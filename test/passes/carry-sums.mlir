// RUN: fovea-opt %s --attn-batch --attn-carry-sums --attn-trim-scans --split-input-file | FileCheck %s

// Sums over the steps of a way back, of rows of S x 8: one that each example
// has, one over the examples, and one with its indices the other way round.
// Neighbours in the rows are neighbours in what is carried. No row is kept.

// CHECK-LABEL: attn.program @grad
// CHECK:       %[[ZK:.*]] = attn.compute "dk" (%{{.*}}: "S", %{{.*}}: 8) {
// CHECK:       {attn.batch = "each"}
// CHECK:       %[[ZV:.*]] = attn.compute "dv" (%{{.*}}: 8) {
// CHECK:       {attn.batch = "once"}
// CHECK:       %[[ZW:.*]] = attn.compute "dw" (%{{.*}}: 2, %{{.*}}: 8) {
// CHECK:       %[[SCAN:.*]]:4 = attn.scan "T" reverse (%[[STEP:.*]]) carries (%{{.*}}, %[[K:.*]] = %[[ZK]] : {{.*}}, %[[V:.*]] = %[[ZV]] : {{.*}}, %[[W:.*]] = %[[ZW]] : {{.*}}) axes [] {
// CHECK:         %[[ROW:.*]] = attn.compute "row"
// CHECK:         %[[NK:.*]] = attn.compute "dk" (%[[I:.*]]: "S", %[[A:.*]]: 8) {
// CHECK-NEXT:      %[[OLD:.*]] = attn.read %[[K]][%[[I]], %[[A]]]
// CHECK-NEXT:      %[[NEW:.*]] = attn.read %[[ROW]][%[[I]], %[[A]]]
// CHECK-NEXT:      arith.addf %[[OLD]], %[[NEW]]
// CHECK:         attn.compute "dv" (%[[A:.*]]: 8) sum (%[[I:.*]]: "S") {
// CHECK:           attn.read %[[ROW]][%[[I]], %[[A]]]
// CHECK:           attn.read %{{.*}}[%[[STEP]], %[[I]]]
// CHECK:         attn.compute "dw" (%[[B:.*]]: 2, %[[A:.*]]: 8) sum (%[[I:.*]]: "S") {
// CHECK:         attn.yield %{{.*}}, %[[NK]], %{{.*}}, %{{.*}} :
// CHECK:       %[[DV:.*]] = attn.compute "dv" (%[[A:.*]]: 8) {
// CHECK:         attn.read %[[SCAN]]#2[%[[A]]]
// CHECK:       {attn.batch = "sum"}
// CHECK:       %[[DW:.*]] = attn.compute "dw" (%[[A:.*]]: 8, %[[B:.*]]: 2) {
// CHECK:         attn.read %[[SCAN]]#3[%[[B]], %[[A]]]
// CHECK:       attn.output "dk" %[[SCAN]]#1
attn.program @grad {
  attn.length "T"
  attn.length "S"
  %g = attn.data "g" : !attn.array<["T", "S"], f64>
  %f = attn.data "f" : !attn.array<["T", "S", 2], f64>
  %zero = attn.param "zero" : !attn.array<[8], f64>
  %s:2 = attn.scan "T" reverse (%t) carries (%before = %zero : !attn.array<[8], f64>) axes [0] {
    %row = attn.compute "row" (%i: "S", %a: 8) {
      %0 = attn.read %before[%a] : !attn.array<[8], f64>
      %1 = attn.read %g[%t, %i] : !attn.array<["T", "S"], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["S", 8], f64>
    %next = attn.compute "next" (%a: 8) sum (%i: "S") {
      %0 = attn.read %row[%i, %a] : !attn.array<["S", 8], f64>
      attn.yield %0 : f64
    } : !attn.array<[8], f64>
    attn.yield %next, %row : !attn.array<[8], f64>, !attn.array<["S", 8], f64>
  } : !attn.array<[8], f64>, !attn.array<["T", "S", 8], f64>
  %dk = attn.compute "dk" (%i: "S", %a: 8) sum (%t: "T") {
    %0 = attn.read %s#1[%t, %i, %a] : !attn.array<["T", "S", 8], f64>
    attn.yield %0 : f64
  } : !attn.array<["S", 8], f64>
  %dv = attn.compute "dv" (%a: 8) sum (%t: "T", %i: "S") {
    %0 = attn.read %s#1[%t, %i, %a] : !attn.array<["T", "S", 8], f64>
    %1 = attn.read %g[%t, %i] : !attn.array<["T", "S"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[8], f64>
  %dw = attn.compute "dw" (%a: 8, %b: 2) sum (%t: "T", %i: "S") {
    %0 = attn.read %s#1[%t, %i, %a] : !attn.array<["T", "S", 8], f64>
    %1 = attn.read %f[%t, %i, %b] : !attn.array<["T", "S", 2], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[8, 2], f64>
  attn.output "dk" %dk : !attn.array<["S", 8], f64>
  attn.output "grad/v" %dv : !attn.array<[8], f64>
  attn.output "grad/w" %dw : !attn.array<[8, 2], f64>
}

// -----

// The row of a step at the step's own place, and where a condition holds.

// CHECK-LABEL: attn.program @diagonal
// CHECK:       attn.scan "T" (%[[STEP:.*]]) carries
// CHECK:         %[[ROW:.*]] = attn.compute "row"
// CHECK:         attn.compute "d" (%[[A:.*]]: 8) {
// CHECK:           attn.read %[[ROW]][%[[STEP]], %[[A]]]
// CHECK:         attn.compute "e" (%[[A:.*]]: 8) sum (%[[I:.*]]: "T") {
// CHECK:           scf.if
// CHECK:             attn.read %[[ROW]][%[[I]], %[[A]]]
attn.program @diagonal {
  attn.length "T"
  %g = attn.data "g" : !attn.array<["T", "T"], f64>
  %zero = attn.param "zero" : !attn.array<[8], f64>
  %s:2 = attn.scan "T" (%t) carries (%before = %zero : !attn.array<[8], f64>) axes [0] {
    %row = attn.compute "row" (%i: "T", %a: 8) {
      %0 = attn.read %before[%a] : !attn.array<[8], f64>
      %1 = attn.read %g[%t, %i] : !attn.array<["T", "T"], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["T", 8], f64>
    attn.yield %before, %row : !attn.array<[8], f64>, !attn.array<["T", 8], f64>
  } : !attn.array<[8], f64>, !attn.array<["T", "T", 8], f64>
  %d = attn.compute "d" (%a: 8) sum (%t: "T") {
    %0 = attn.read %s#1[%t, %t, %a] : !attn.array<["T", "T", 8], f64>
    attn.yield %0 : f64
  } : !attn.array<[8], f64>
  attn.output "d" %d : !attn.array<[8], f64>
  %e = attn.compute "e" (%a: 8) sum (%t: "T", %i: "T") {
    %below = arith.cmpi slt, %i, %t : index
    %0 = scf.if %below -> (f64) {
      %1 = attn.read %s#1[%t, %i, %a] : !attn.array<["T", "T", 8], f64>
      scf.yield %1 : f64
    } else {
      %2 = arith.constant 0.0 : f64
      scf.yield %2 : f64
    }
    attn.yield %0 : f64
  } : !attn.array<[8], f64>
  attn.output "e" %e : !attn.array<[8], f64>
}

// -----

// Rows that somebody else needs are kept, and then their sums stay where they
// are; so do sums of other steps, sums that are larger than a row, and sums of
// small rows.

// CHECK-LABEL: attn.program @loss
// CHECK:       attn.scan "T" (%{{.*}}) carries (%{{.*}}) axes [0, 0, 0, 0] {
// CHECK:       attn.compute "needed" {{.*}} sum (%{{.*}}: "T")
// CHECK:       attn.compute "other step" {{.*}} sum (%{{.*}}: "T")
// CHECK:       attn.compute "large" {{.*}} sum (%{{.*}}: "T")
// CHECK:       attn.compute "small" {{.*}} sum (%{{.*}}: "T")
attn.program @loss {
  attn.length "T"
  attn.length "S"
  %g = attn.data "g" : !attn.array<["T", "S"], f64>
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %zero = attn.param "zero" : !attn.array<[8], f64>
  %s:5 = attn.scan "T" (%t) carries (%before = %zero : !attn.array<[8], f64>) axes [0, 0, 0, 0] {
    %a = attn.compute "a" (%i: "S", %k: 8) {
      %0 = attn.read %before[%k] : !attn.array<[8], f64>
      %1 = attn.read %g[%t, %i] : !attn.array<["T", "S"], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["S", 8], f64>
    %b = attn.compute "b" (%i: "S", %k: 8) {
      %0 = attn.read %a[%i, %k] : !attn.array<["S", 8], f64>
      %1 = arith.addf %0, %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["S", 8], f64>
    %c = attn.compute "c" (%i: "S", %k: 8) {
      %0 = attn.read %b[%i, %k] : !attn.array<["S", 8], f64>
      %1 = arith.addf %0, %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["S", 8], f64>
    %d = attn.compute "d" (%i: "S") sum (%k: 8) {
      %0 = attn.read %c[%i, %k] : !attn.array<["S", 8], f64>
      attn.yield %0 : f64
    } : !attn.array<["S"], f64>
    attn.yield %before, %a, %b, %c, %d : !attn.array<[8], f64>, !attn.array<["S", 8], f64>, !attn.array<["S", 8], f64>, !attn.array<["S", 8], f64>, !attn.array<["S"], f64>
  } : !attn.array<[8], f64>, !attn.array<["T", "S", 8], f64>, !attn.array<["T", "S", 8], f64>, !attn.array<["T", "S", 8], f64>, !attn.array<["T", "S"], f64>
  %needed = attn.compute "needed" (%i: "S", %k: 8) sum (%t: "T") {
    %0 = attn.read %s#1[%t, %i, %k] : !attn.array<["T", "S", 8], f64>
    attn.yield %0 : f64
  } : !attn.array<["S", 8], f64>
  attn.output "a" %s#1 : !attn.array<["T", "S", 8], f64>
  attn.output "needed" %needed : !attn.array<["S", 8], f64>
  %before = attn.compute "other step" (%i: "S", %k: 8) sum (%t: "T") {
    %one = arith.constant 1 : index
    %zero0 = arith.constant 0.0 : f64
    %at = arith.subi %t, %one : index
    %0 = attn.read %s#2[%at, %i, %k] default %zero0 : f64 : !attn.array<["T", "S", 8], f64>
    attn.yield %0 : f64
  } : !attn.array<["S", 8], f64>
  attn.output "other step" %before : !attn.array<["S", 8], f64>
  %large = attn.compute "large" (%m: 64, %i: "S", %k: 8) sum (%t: "T") {
    %0 = attn.read %s#3[%t, %i, %k] : !attn.array<["T", "S", 8], f64>
    %1 = attn.read %q[%t, %m] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[64, "S", 8], f64>
  attn.output "large" %large : !attn.array<[64, "S", 8], f64>
  %small = attn.compute "small" (%i: "S") sum (%t: "T") {
    %0 = attn.read %s#4[%t, %i] : !attn.array<["T", "S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  attn.output "small" %small : !attn.array<["S"], f64>
}

// -----

// The largest of the rows is no sum, so nothing adds it up from step to step.

// CHECK-LABEL: attn.program @largest
// CHECK:       %{{.*}}:2 = attn.scan "T" reverse (%{{.*}}) carries (%{{.*}}) axes [0] {
// CHECK:       attn.compute "largest" {{.*}} max (%{{.*}}: "T")
attn.program @largest {
  attn.length "T"
  attn.length "S"
  %g = attn.data "g" : !attn.array<["T", "S"], f64>
  %zero = attn.param "zero" : !attn.array<[8], f64>
  %s:2 = attn.scan "T" reverse (%t) carries (%before = %zero : !attn.array<[8], f64>) axes [0] {
    %row = attn.compute "row" (%i: "S", %a: 8) {
      %0 = attn.read %before[%a] : !attn.array<[8], f64>
      %1 = attn.read %g[%t, %i] : !attn.array<["T", "S"], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["S", 8], f64>
    %next = attn.compute "next" (%a: 8) sum (%i: "S") {
      %0 = attn.read %row[%i, %a] : !attn.array<["S", 8], f64>
      attn.yield %0 : f64
    } : !attn.array<[8], f64>
    attn.yield %next, %row : !attn.array<[8], f64>, !attn.array<["S", 8], f64>
  } : !attn.array<[8], f64>, !attn.array<["T", "S", 8], f64>
  %dk = attn.compute "largest" (%i: "S", %a: 8) max (%t: "T") {
    %0 = attn.read %s#1[%t, %i, %a] : !attn.array<["T", "S", 8], f64>
    attn.yield %0 : f64
  } : !attn.array<["S", 8], f64>
  attn.output "dk" %dk : !attn.array<["S", 8], f64>
}
