// RUN: fovea-opt %s --attn-drop-indices --split-input-file | FileCheck %s
// RUN: fovea-opt %s --attn-drop-indices=of-one --split-input-file | FileCheck %s --check-prefix=ONE

// W q[t] does not look at i, and then 2 * (W q[t]) does not either.

// CHECK-LABEL: attn.system @score
// CHECK:       %[[P:.*]] = attn.compute "p" (%[[T:.*]]: "T", %[[A:.*]]: 8) sum (%[[K:.*]]: 4) {
// CHECK:         attn.read %{{.*}}[%[[A]], %[[K]]]
// CHECK:         attn.read %{{.*}}[%[[T]], %[[K]]]
// CHECK:       %[[TWICE:.*]] = attn.compute "twice" (%[[T:.*]]: "T", %[[A:.*]]: 8) {
// CHECK:         attn.read %[[P]][%[[T]], %[[A]]]
// CHECK:       attn.compute "s" (%[[T:.*]]: "T", %[[I:.*]]: "S") sum (%[[A:.*]]: 8) {
// CHECK:         attn.read %[[TWICE]][%[[T]], %[[A]]]
// CHECK:         attn.read %{{.*}}[%[[I]], %[[A]]]
attn.system @score {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 4], f64>
  %u = attn.data "u" : !attn.array<["S", 8], f64>
  %w = attn.param "w" : !attn.array<[8, 4], f64>
  %p = attn.compute "p" (%t: "T", %i: "S", %a: 8) sum (%k: 4) {
    %0 = attn.read %w[%a, %k] : !attn.array<[8, 4], f64>
    %1 = attn.read %q[%t, %k] : !attn.array<["T", 4], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S", 8], f64>
  %twice = attn.compute "twice" (%t: "T", %i: "S", %a: 8) {
    %0 = attn.read %p[%t, %i, %a] : !attn.array<["T", "S", 8], f64>
    %1 = arith.addf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "S", 8], f64>
  %s = attn.compute "s" (%t: "T", %i: "S") sum (%a: 8) {
    %0 = attn.read %twice[%t, %i, %a] : !attn.array<["T", "S", 8], f64>
    %1 = attn.read %u[%i, %a] : !attn.array<["S", 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  attn.output "s" %s : !attn.array<["T", "S"], f64>
}

// -----

// A condition may look at an index, a reader may go beyond the extents or take
// another value at a boundary, and an output has the axes that it has.

// CHECK-LABEL: attn.system @kept
// CHECK:       attn.compute "where" (%{{.*}}: "T", %{{.*}}: "S") where {
// CHECK:       attn.compute "beyond" (%{{.*}}: "T", %{{.*}}: "S") {
// CHECK:       attn.compute "case" (%{{.*}}: "T", %{{.*}}: "S") {
// CHECK:       attn.compute "output" (%{{.*}}: "T", %{{.*}}: "S") {
// CHECK:       attn.compute "first" (%{{.*}}: "S") {
attn.system @kept {
  attn.length "T"
  attn.length "S"
  %x = attn.data "x" : !attn.array<["T"], f64>
  %start = attn.param "start" : !attn.array<[], f64>
  %where = attn.compute "where" (%t: "T", %i: "S") where {
    %0 = arith.cmpi sle, %i, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %x[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "S"], f64>
  %beyond = attn.compute "beyond" (%t: "T", %i: "S") {
    %0 = attn.read %x[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "S"], f64>
  %case = attn.compute "case" (%t: "T", %i: "S") {
    %0 = attn.read %x[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "S"], f64>
  %out = attn.compute "output" (%t: "T", %i: "S") {
    %0 = attn.read %x[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "S"], f64>
  %first = attn.compute "first" (%i: "S") {
    %0 = attn.read %start[] : !attn.array<[], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  %y = attn.compute "y" (%t: "T", %i: "S") {
    %one = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    %before = arith.subi %i, %one : index
    %0 = attn.read %where[%t, %i] : !attn.array<["T", "S"], f64>
    %1 = attn.read %beyond[%t, %before] default %zero : f64 : !attn.array<["T", "S"], f64>
    %at = arith.subi %t, %one : index
    %2 = attn.read %case[%at, %i] cases [[[0, -1]]] (%first : !attn.array<["S"], f64>) : !attn.array<["T", "S"], f64>
    %3 = arith.addf %0, %1 : f64
    attn.yield %3 : f64
  } : !attn.array<["T", "S"], f64>
  attn.output "y" %y : !attn.array<["T", "S"], f64>
  attn.output "out" %out : !attn.array<["T", "S"], f64>
}

// -----

// The words of a sentence are as many as that sentence has: m is needed.

// CHECK-LABEL: attn.system @nested
// CHECK:       attn.compute "c" (%{{.*}}: "M", %{{.*}}: "W") {
attn.system @nested {
  attn.length "M"
  attn.length "W" over "M"
  %c = attn.compute "c" (%m: "M", %j: "W") {
    %0 = arith.index_cast %j : index to i64
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["M", "W"], f64>
  %d = attn.compute "d" () sum (%m: "M", %j: "W") {
    %0 = attn.read %c[%m, %j] : !attn.array<["M", "W"], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "d" %d : !attn.array<[], f64>
}

// -----

// An index of one place is 0, and weights of a convolution of one place are a
// matrix. Reads that may be outside elsewhere are inside there. What comes out
// has the axes that it has: a view of the sum.

// ONE-LABEL: attn.system @single
// ONE:       %[[W:.*]] = attn.reshape %{{.*}} keep 2 : !attn.array<[8, 4, 1, 1], f64> -> !attn.array<[8, 4], f64>
// ONE:       %[[A:.*]] = attn.compute "a" (%c: 4, %j: 9) {
// ONE:       %[[Y:.*]] = attn.compute "y" (%d: 8, %j: 9) sum (%c: 4) {
// ONE:         attn.read %[[W]][%d, %c]
// ONE:         attn.read %[[A]][%c, %{{[0-9]+}}] default
// ONE:       %[[OUT:.*]] = attn.reshape %[[Y]] keep 0 : !attn.array<[8, 9], f64> -> !attn.array<[1, 8, 9], f64>
// ONE:       attn.output "y" %[[OUT]]
attn.system @single {
  %x = attn.data "x" : !attn.array<[1, 4, 9], f64>
  %w = attn.param "w" : !attn.array<[8, 4, 1, 1], f64>
  %a = attn.compute "a" (%n: 1, %c: 4, %j: 9) {
    %0 = attn.read %x[%n, %c, %j] : !attn.array<[1, 4, 9], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[1, 4, 9], f64>
  %y = attn.compute "y" (%n: 1, %d: 8, %j: 9) sum (%c: 4) {
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = attn.read %w[%d, %c, %c0, %c0] : !attn.array<[8, 4, 1, 1], f64>
    %1 = arith.subi %j, %c1 : index
    %2 = attn.read %a[%n, %c, %1] default %zero : f64 : !attn.array<[1, 4, 9], f64>
    %3 = arith.mulf %0, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<[1, 8, 9], f64>
  attn.output "y" %y : !attn.array<[1, 8, 9], f64>
}

// -----

// What may be read outside of its one place keeps it.

// ONE-LABEL: attn.system @outside
// ONE:       %[[A:.*]] = attn.compute "a" (%{{.*}}: 1, %c: 4) {
// ONE:       attn.compute "y" (%t: "T", %c: 4) {
// ONE:         attn.read %[[A]][%t, %c] default
attn.system @outside {
  attn.length "T"
  %w = attn.param "w" : !attn.array<[1, 4], f64>
  %a = attn.compute "a" (%n: 1, %c: 4) {
    %0 = attn.read %w[%n, %c] : !attn.array<[1, 4], f64>
    attn.yield %0 : f64
  } : !attn.array<[1, 4], f64>
  %y = attn.compute "y" (%t: "T", %c: 4) {
    %zero = arith.constant 0.0 : f64
    %0 = attn.read %a[%t, %c] default %zero : f64 : !attn.array<[1, 4], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 4], f64>
  attn.output "y" %y : !attn.array<["T", 4], f64>
}

// -----

// In a recurrence of one step the index says what is before it.

// ONE-LABEL: attn.system @step
// ONE:       attn.compute "gate" (%t: 1, %k: 4) {
// ONE:       attn.compute "state" (%t: 1, %k: 4) {
// ONE:       attn.compute "last" (%k: 4) {
attn.system @step {
  %x = attn.data "x" : !attn.array<[1, 4], f64>
  %gate = attn.compute "gate" (%t: 1, %k: 4) {
    %zero = arith.constant 0.0 : f64
    %c1 = arith.constant 1 : index
    %0 = arith.subi %t, %c1 : index
    %1 = attn.read %state[%0, %k] default %zero : f64 : !attn.array<[1, 4], f64>
    %2 = attn.sigmoid %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[1, 4], f64>
  %state = attn.compute "state" (%t: 1, %k: 4) {
    %0 = attn.read %x[%t, %k] : !attn.array<[1, 4], f64>
    %1 = attn.read %gate[%t, %k] : !attn.array<[1, 4], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[1, 4], f64>
  %last = attn.compute "last" (%t: 1, %k: 4) {
    %0 = attn.read %state[%t, %k] : !attn.array<[1, 4], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[1, 4], f64>
  %y = attn.compute "y" (%k: 4) {
    %c0 = arith.constant 0 : index
    %0 = attn.read %last[%c0, %k] : !attn.array<[1, 4], f64>
    attn.yield %0 : f64
  } : !attn.array<[4], f64>
  attn.output "y" %y : !attn.array<[4], f64>
}

// -----

// In a recurrence over other places, an index of one place orders nothing.
// Data has a view without it, and so has the output.

// ONE-LABEL: attn.system @batch
// ONE:       %[[X:.*]] = attn.reshape %{{.*}} keep 1 : !attn.array<["T", 1, 4], f64> -> !attn.array<["T", 4], f64>
// ONE:       %[[H:.*]] = attn.compute "h" (%[[T:.*]]: "T", %[[K:.*]]: 4) {
// ONE:         attn.read %[[G:.*]][%[[T]], %[[K]]]
// ONE:         attn.read %[[H]][%{{[0-9]+}}, %[[K]]] default
// ONE:       %[[G]] = attn.compute "g" (%[[T:.*]]: "T", %[[K:.*]]: 4) {
// ONE:         attn.read %[[X]][%[[T]], %[[K]]]
// ONE:         attn.read %[[H]][%{{[0-9]+}}, %[[K]]] default
attn.system @batch {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 1, 4], f64>
  %h = attn.compute "h" (%t: "T", %b: 1, %k: 4) {
    %zero = arith.constant 0.0 : f64
    %c1 = arith.constant 1 : index
    %0 = attn.read %g[%t, %b, %k] : !attn.array<["T", 1, 4], f64>
    %before = arith.subi %t, %c1 : index
    %1 = attn.read %h[%before, %b, %k] default %zero : f64 : !attn.array<["T", 1, 4], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 1, 4], f64>
  %g = attn.compute "g" (%t: "T", %b: 1, %k: 4) {
    %zero = arith.constant 0.0 : f64
    %c1 = arith.constant 1 : index
    %0 = attn.read %x[%t, %b, %k] : !attn.array<["T", 1, 4], f64>
    %before = arith.subi %t, %c1 : index
    %1 = attn.read %h[%before, %b, %k] default %zero : f64 : !attn.array<["T", 1, 4], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 1, 4], f64>
  %last = attn.compute "last" (%k: 4) sum (%t: "T") {
    %c0 = arith.constant 0 : index
    %0 = attn.read %h[%t, %c0, %k] : !attn.array<["T", 1, 4], f64>
    attn.yield %0 : f64
  } : !attn.array<[4], f64>
  attn.output "last" %last : !attn.array<[4], f64>
}

// -----

// What is asked for beside the objective gets a copy with all indices.

// CHECK-LABEL: attn.system @asked
// CHECK:       %[[P:.*]] = attn.compute "p" (%{{.*}}: "T") {
// CHECK:       %[[COPY:.*]] = attn.compute (%[[T:.*]]: "T", %{{.*}}: "S") {
// CHECK-NEXT:    attn.read %[[P]][%[[T]]]
// CHECK:       attn.compute "nll" () sum (%[[T:.*]]: "T", %{{.*}}: "S") {
// CHECK:         attn.read %[[P]][%[[T]]]
// CHECK:       attn.output "p" %[[COPY]]
attn.system @asked {
  attn.length "T"
  attn.length "S"
  %x = attn.data "x" : !attn.array<["T"], f64>
  %y = attn.data "y" : !attn.array<["T", "S"], f64>
  %p = attn.compute "p" (%t: "T", %i: "S") {
    %0 = attn.read %x[%t] : !attn.array<["T"], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "S"], f64>
  %nll = attn.compute "nll" () sum (%t: "T", %i: "S") {
    %0 = attn.read %p[%t, %i] : !attn.array<["T", "S"], f64>
    %1 = attn.read %y[%t, %i] : !attn.array<["T", "S"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[], f64>
  attn.output "nll" %nll : !attn.array<[], f64>
  attn.output "p" %p : !attn.array<["T", "S"], f64>
}
