// RUN: fovea-opt %s --attn-batch --attn-recompute-rows --attn-trim-scans --split-input-file | FileCheck %s

// tanh(q + k + W f) of the way forward is computed again on the way back, from q,
// which is kept for it, and from f, which is kept anyway: its product where the
// step begins, the rest where it is read.

// CHECK-LABEL: attn.program @grad
// CHECK:       %[[F:.*]]:3 = attn.scan "T" (%{{.*}}) carries (%{{.*}}) axes [0, 0] {
// CHECK:         %[[FEATURES:.*]] = attn.compute "f"
// CHECK:         %[[Q:.*]] = attn.compute "q"
// CHECK:         attn.compute "row"
// CHECK:         attn.yield %{{.*}}, %[[FEATURES]], %[[Q]] :
// CHECK:       attn.scan "T" reverse (%[[STEP:.*]]) carries
// CHECK:         %[[P:.*]] = attn.compute "p" (%[[I:.*]]: "S", %[[A:.*]]: 8) sum (%[[K:.*]]: 4) {
// CHECK:           attn.read %[[F]]#1[%[[STEP]], %[[I]], %[[K]]]
// CHECK:         attn.compute "first"
// CHECK:         %[[ROW:.*]] = attn.compute "row" (%[[I:.*]]: "S", %[[A:.*]]: 8) {
// CHECK:           attn.read %[[F]]#2[%[[STEP]], %[[A]]]
// CHECK:           attn.read %[[P]][%[[I]], %[[A]]]
// CHECK:           math.tanh
// CHECK:         attn.compute "back"
// CHECK:           attn.read %[[ROW]][%{{.*}}, %{{.*}}]
attn.program @grad {
  attn.length "T"
  attn.length "S"
  %x = attn.data "x" : !attn.array<["T", "S", 4], f64>
  %k = attn.data "k" : !attn.array<["S", 8], f64>
  %w = attn.param "w" : !attn.array<[8, 4], f64>
  %zero = attn.param "zero" : !attn.array<[8], f64>
  %s:3 = attn.scan "T" (%t) carries (%before = %zero : !attn.array<[8], f64>) axes [0, 0] {
    %f = attn.compute "f" (%i: "S", %c: 4) sum (%j: "S") {
      %0 = attn.read %x[%t, %j, %c] : !attn.array<["T", "S", 4], f64>
      attn.yield %0 : f64
    } : !attn.array<["S", 4], f64>
    %q = attn.compute "q" (%a: 8) {
      %0 = attn.read %before[%a] : !attn.array<[8], f64>
      %1 = arith.addf %0, %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[8], f64>
    %p = attn.compute "p" (%i: "S", %a: 8) sum (%c: 4) {
      %0 = attn.read %f[%i, %c] : !attn.array<["S", 4], f64>
      %1 = attn.read %w[%a, %c] : !attn.array<[8, 4], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["S", 8], f64>
    %row = attn.compute "row" (%i: "S", %a: 8) {
      %0 = attn.read %q[%a] : !attn.array<[8], f64>
      %1 = attn.read %k[%i, %a] : !attn.array<["S", 8], f64>
      %2 = attn.read %p[%i, %a] : !attn.array<["S", 8], f64>
      %3 = arith.addf %0, %1 : f64
      %4 = arith.addf %3, %2 : f64
      %5 = math.tanh %4 : f64
      attn.yield %5 : f64
    } : !attn.array<["S", 8], f64>
    %next = attn.compute "next" (%a: 8) sum (%i: "S") {
      %0 = attn.read %row[%i, %a] : !attn.array<["S", 8], f64>
      attn.yield %0 : f64
    } : !attn.array<[8], f64>
    attn.yield %next, %f, %row : !attn.array<[8], f64>, !attn.array<["S", 4], f64>, !attn.array<["S", 8], f64>
  } : !attn.array<[8], f64>, !attn.array<["T", "S", 4], f64>, !attn.array<["T", "S", 8], f64>
  %d:2 = attn.scan "T" reverse (%t) carries (%behind = %zero : !attn.array<[8], f64>) axes [0] {
    %first = attn.compute "first" (%a: 8) {
      %0 = attn.read %behind[%a] : !attn.array<[8], f64>
      %1 = arith.negf %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[8], f64>
    %back = attn.compute "back" (%a: 8) sum (%i: "S") {
      %0 = attn.read %s#2[%t, %i, %a] : !attn.array<["T", "S", 8], f64>
      %c0 = arith.constant 0 : index
      %1 = attn.read %s#1[%t, %i, %c0] : !attn.array<["T", "S", 4], f64>
      %2 = attn.read %first[%a] : !attn.array<[8], f64>
      %3 = arith.mulf %0, %2 : f64
      %4 = arith.mulf %3, %1 : f64
      attn.yield %4 : f64
    } : !attn.array<[8], f64>
    attn.yield %back, %back : !attn.array<[8], f64>, !attn.array<[8], f64>
  } : !attn.array<[8], f64>, !attn.array<["T", 8], f64>
  attn.output "d" %d#1 : !attn.array<["T", 8], f64>
}

// -----

// A sum of functions, which are computed again as well: one after the other.

// CHECK-LABEL: attn.program @chain
// CHECK:       attn.scan "T" reverse
// CHECK:         attn.compute "first"
// CHECK:         %[[U:.*]] = attn.compute "u" (%{{.*}}: "S", %{{.*}}: 4) {
// CHECK:         %[[ROW:.*]] = attn.compute "row" (%{{.*}}: "S", %{{.*}}: 8) sum (%{{.*}}: 4) {
// CHECK:           attn.read %[[U]]
// CHECK:         attn.compute "back"
// CHECK:           attn.read %[[ROW]]
attn.program @chain {
  attn.length "T"
  attn.length "S"
  %x = attn.data "x" : !attn.array<["T", "S", 4], f64>
  %w = attn.param "w" : !attn.array<[8, 4], f64>
  %zero = attn.param "zero" : !attn.array<[8], f64>
  %s:2 = attn.scan "T" (%t) carries (%before = %zero : !attn.array<[8], f64>) axes [0] {
    %u = attn.compute "u" (%i: "S", %c: 4) {
      %0 = attn.read %x[%t, %i, %c] : !attn.array<["T", "S", 4], f64>
      %1 = arith.addf %0, %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["S", 4], f64>
    %row = attn.compute "row" (%i: "S", %a: 8) sum (%c: 4) {
      %0 = attn.read %u[%i, %c] : !attn.array<["S", 4], f64>
      %1 = attn.read %w[%a, %c] : !attn.array<[8, 4], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["S", 8], f64>
    %next = attn.compute "next" (%a: 8) sum (%i: "S") {
      %0 = attn.read %row[%i, %a] : !attn.array<["S", 8], f64>
      attn.yield %0 : f64
    } : !attn.array<[8], f64>
    attn.yield %next, %row : !attn.array<[8], f64>, !attn.array<["S", 8], f64>
  } : !attn.array<[8], f64>, !attn.array<["T", "S", 8], f64>
  %d:2 = attn.scan "T" reverse (%t) carries (%behind = %zero : !attn.array<[8], f64>) axes [0] {
    %first = attn.compute "first" (%a: 8) {
      %0 = attn.read %behind[%a] : !attn.array<[8], f64>
      %1 = arith.negf %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[8], f64>
    %back = attn.compute "back" (%a: 8) sum (%i: "S") {
      %0 = attn.read %s#1[%t, %i, %a] : !attn.array<["T", "S", 8], f64>
      %1 = attn.read %first[%a] : !attn.array<[8], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[8], f64>
    attn.yield %back, %back : !attn.array<[8], f64>, !attn.array<[8], f64>
  } : !attn.array<[8], f64>, !attn.array<["T", 8], f64>
  attn.output "d" %d#1 : !attn.array<["T", 8], f64>
}

// -----

// A row that takes a carry of its own size, one with a long sum, one that is
// read at another step, and one that is read after the loops are kept.

// CHECK-LABEL: attn.program @kept
// CHECK:       attn.scan "T" (%{{.*}}) carries ({{.*}}) axes [0, 0, 0, 0] {
attn.program @kept {
  attn.length "T"
  attn.length "S"
  %x = attn.data "x" : !attn.array<["T", "S", 40], f64>
  %w = attn.param "w" : !attn.array<[8, 40], f64>
  %zero = attn.data "zero" : !attn.array<["S", 8], f64>
  %s:5 = attn.scan "T" (%t) carries (%before = %zero : !attn.array<["S", 8], f64>) axes [0, 0, 0, 0] {
    %carried = attn.compute "carried" (%i: "S", %a: 8) {
      %0 = attn.read %before[%i, %a] : !attn.array<["S", 8], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["S", 8], f64>
    %long = attn.compute "long" (%i: "S", %a: 8) sum (%c: 40) {
      %0 = attn.read %x[%t, %i, %c] : !attn.array<["T", "S", 40], f64>
      %1 = attn.read %w[%a, %c] : !attn.array<[8, 40], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["S", 8], f64>
    %shifted = attn.compute "shifted" (%i: "S", %a: 8) {
      %c0 = arith.constant 0 : index
      %0 = attn.read %x[%t, %i, %c0] : !attn.array<["T", "S", 40], f64>
      attn.yield %0 : f64
    } : !attn.array<["S", 8], f64>
    %behind = attn.compute "behind" (%i: "S", %a: 8) {
      %c1 = arith.constant 1 : index
      %0 = attn.read %x[%t, %i, %c1] : !attn.array<["T", "S", 40], f64>
      attn.yield %0 : f64
    } : !attn.array<["S", 8], f64>
    attn.yield %carried, %carried, %long, %shifted, %behind : !attn.array<["S", 8], f64>, !attn.array<["S", 8], f64>, !attn.array<["S", 8], f64>, !attn.array<["S", 8], f64>, !attn.array<["S", 8], f64>
  } : !attn.array<["S", 8], f64>, !attn.array<["T", "S", 8], f64>, !attn.array<["T", "S", 8], f64>, !attn.array<["T", "S", 8], f64>, !attn.array<["T", "S", 8], f64>
  %start = attn.param "start" : !attn.array<[8], f64>
  %d:2 = attn.scan "T" reverse (%t) carries (%after = %start : !attn.array<[8], f64>) axes [0] {
    %next = attn.compute "next" (%a: 8) sum (%i: "S") {
      %one = arith.constant 1 : index
      %none = arith.constant 0.0 : f64
      %at = arith.addi %t, %one : index
      %0 = attn.read %s#1[%t, %i, %a] : !attn.array<["T", "S", 8], f64>
      %1 = attn.read %s#2[%t, %i, %a] : !attn.array<["T", "S", 8], f64>
      %2 = attn.read %s#3[%at, %i, %a] default %none : f64 : !attn.array<["T", "S", 8], f64>
      %3 = attn.read %s#4[%t, %i, %a] : !attn.array<["T", "S", 8], f64>
      %4 = attn.read %after[%a] : !attn.array<[8], f64>
      %5 = arith.addf %0, %1 : f64
      %6 = arith.addf %2, %3 : f64
      %7 = arith.mulf %5, %6 : f64
      %8 = arith.addf %7, %4 : f64
      attn.yield %8 : f64
    } : !attn.array<[8], f64>
    attn.yield %next, %next : !attn.array<[8], f64>, !attn.array<[8], f64>
  } : !attn.array<[8], f64>, !attn.array<["T", 8], f64>
  attn.output "d" %d#1 : !attn.array<["T", 8], f64>
  attn.output "behind" %s#4 : !attn.array<["T", "S", 8], f64>
}
