// RUN: fovea-opt %s --attn-drop-indices --split-input-file | FileCheck %s

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
