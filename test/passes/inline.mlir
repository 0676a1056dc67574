// RUN: fovea-opt %s --attn-inline --split-input-file | FileCheck %s
// RUN: fovea-opt %s --attn-inline=mode=all --split-input-file | FileCheck %s --check-prefix=ALL

// tanh(q[t,a] + k[i,a]) is evaluated in the sum: nothing of T x S x A is left.

// CHECK-LABEL: attn.system @additive
// CHECK-DAG:   %[[Q:.*]] = attn.data "q"
// CHECK-DAG:   %[[K:.*]] = attn.data "k"
// CHECK-DAG:   %[[V:.*]] = attn.data "v"
// CHECK-NOT:   attn.array<["T", "S", 4], f64>
// CHECK:       attn.compute "energy" (%[[T:.*]]: "T", %[[I:.*]]: "S") sum (%[[A:.*]]: 4) {
// CHECK-DAG:     %[[QTA:.*]] = attn.read %[[Q]][%[[T]], %[[A]]]
// CHECK-DAG:     %[[KIA:.*]] = attn.read %[[K]][%[[I]], %[[A]]]
// CHECK-DAG:     %[[VA:.*]] = attn.read %[[V]][%[[A]]]
// CHECK-DAG:     %[[BOTH:.*]] = arith.addf %[[QTA]], %[[KIA]]
// CHECK-DAG:     %[[U:.*]] = math.tanh %[[BOTH]]
// CHECK:         arith.mulf %[[VA]], %[[U]]
// CHECK-NOT:   attn.compute
attn.system @additive {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 4], f64>
  %k = attn.data "k" : !attn.array<["S", 4], f64>
  %v = attn.data "v" : !attn.array<[4], f64>
  %both = attn.compute (%t: "T", %i: "S", %a: 4) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 4], f64>
    %1 = attn.read %k[%i, %a] : !attn.array<["S", 4], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S", 4], f64>
  %u = attn.compute (%t: "T", %i: "S", %a: 4) {
    %0 = attn.read %both[%t, %i, %a] : !attn.array<["T", "S", 4], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "S", 4], f64>
  %energy = attn.compute "energy" (%t: "T", %i: "S") sum (%a: 4) {
    %0 = attn.read %v[%a] : !attn.array<[4], f64>
    %1 = attn.read %u[%t, %i, %a] : !attn.array<["T", "S", 4], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  attn.output "energy" %energy : !attn.array<["T", "S"], f64>
}

// -----

// A condition and a lower bound become branches, and so do the case and the
// default of a read.

// CHECK-LABEL: attn.system @branches
// CHECK:       %[[X:.*]] = attn.data "x"
// CHECK:       %[[FIRST:.*]] = attn.data "first"
// CHECK-NOT:   attn.array<["T", "T"], f64>
// CHECK:       attn.compute "row" (%[[T:.*]]: "T") sum (%[[U:.*]]: "T") {
// CHECK:         %[[BEFORE:.*]] = arith.subi %[[T]]
// CHECK:         %[[ATFIRST:.*]] = arith.cmpi eq, %[[BEFORE]], %c-1
// CHECK:         scf.if %[[ATFIRST]]
// CHECK-NEXT:      attn.read %[[FIRST]][%[[U]]]
// CHECK:         } else {
// CHECK:           arith.cmpi sge, %[[BEFORE]], %c1
// CHECK:           arith.cmpi sle, %[[U]], %[[BEFORE]]
// CHECK:           scf.if
// CHECK:             attn.read %[[X]][%[[BEFORE]]]
// CHECK:           } else {
// CHECK:             arith.constant 0.0
attn.system @branches {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T"], f64>
  %first = attn.data "first" : !attn.array<["T"], f64>
  %m = attn.compute (%t: 1 to "T", %u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %x[%t] : !attn.array<["T"], f64>
    %1 = attn.read %x[%u] : !attn.array<["T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %row = attn.compute "row" (%t: "T") sum (%u: "T") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %m[%before, %u] cases [[[0, -1]]] (%first : !attn.array<["T"], f64>) : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "row" %row : !attn.array<["T"], f64>
}

// -----

// An elementwise array of the order of what it reads goes only with mode=all,
// and only into a single reader of as many indices.

// CHECK-LABEL: attn.system @elementwise
// CHECK:         attn.compute "y"
// CHECK:         attn.compute "z"
// CHECK:         attn.compute "w"

// ALL-LABEL: attn.system @elementwise
// ALL:         %[[X:.*]] = attn.data "x"
// ALL-NOT:     attn.compute "y"
// ALL:         %[[Z:.*]] = attn.compute "z" (%[[T:.*]]: "T") {
// ALL:           %[[XT:.*]] = attn.read %[[X]][%[[T]]]
// ALL:           %[[Y:.*]] = math.exp %[[XT]]
// ALL:           math.tanh %[[Y]]
// ALL:         attn.compute "w" (%{{.*}}: "T") sum (%{{.*}}: 3) {
// ALL-NEXT:      attn.read %[[Z]]
attn.system @elementwise {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T"], f64>
  %y = attn.compute "y" (%t: "T") {
    %0 = attn.read %x[%t] : !attn.array<["T"], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %z = attn.compute "z" (%t: "T") {
    %0 = attn.read %y[%t] : !attn.array<["T"], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %w = attn.compute "w" (%t: "T") sum (%k: 3) {
    %0 = attn.read %z[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "w" %w : !attn.array<["T"], f64>
}

// -----

// What must stay: a recurrence, an output, an alternative, and an expansion
// whose reader would evaluate it once for each j.

// CHECK-LABEL: attn.system @stays
// CHECK:         attn.compute "recurrence"
// CHECK:         attn.compute "output"
// CHECK:         attn.compute "alternative"
// CHECK:         attn.compute "hidden"
// CHECK:         attn.compute "second"
attn.system @stays {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T"], f64>
  %k = attn.data "k" : !attn.array<["S"], f64>
  %w = attn.data "w" : !attn.array<[5, 4], f64>
  %recurrence = attn.compute "recurrence" (%t: "T", %i: "S") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %recurrence[%before, %i] cases [[[0, -1]]] (%alternative : !attn.array<["S"], f64>) : !attn.array<["T", "S"], f64>
    %1 = attn.read %output[%i] : !attn.array<["S"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  %output = attn.compute "output" (%i: "S") {
    %0 = arith.constant 1.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  %alternative = attn.compute "alternative" (%i: "S") {
    %0 = arith.constant 1.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  %hidden = attn.compute "hidden" (%t: "T", %i: "S", %a: 4) {
    %0 = attn.read %q[%t] : !attn.array<["T"], f64>
    %1 = attn.read %recurrence[%t, %i] : !attn.array<["T", "S"], f64>
    %2 = arith.index_cast %a : index to i64
    %3 = arith.sitofp %2 : i64 to f64
    %4 = arith.mulf %1, %3 : f64
    %5 = arith.addf %0, %4 : f64
    %6 = math.tanh %5 : f64
    attn.yield %6 : f64
  } : !attn.array<["T", "S", 4], f64>
  %second = attn.compute "second" (%t: "T", %i: "S", %j: 5) sum (%a: 4) {
    %0 = attn.read %w[%j, %a] : !attn.array<[5, 4], f64>
    %1 = attn.read %hidden[%t, %i, %a] : !attn.array<["T", "S", 4], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S", 5], f64>
  attn.output "output" %output : !attn.array<["S"], f64>
  attn.output "second" %second : !attn.array<["T", "S", 5], f64>
}

// -----

// What is asked for beside the objective changes nothing: the sum of the
// objective has the body that it has alone.

// CHECK-LABEL: attn.system @asked
// CHECK:       %[[U:.*]] = attn.compute "u"
// CHECK:       %[[E:.*]] = attn.compute "nll" () sum
// CHECK:         math.tanh
// CHECK:       attn.compute "large" (%{{.*}}: "T", %{{.*}}: "S", %{{.*}}: 4, %{{.*}}: 2) {
// CHECK-NEXT:    attn.read %[[U]]
// CHECK:       attn.output "u" %[[U]]
attn.system @asked {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 4], f64>
  %k = attn.data "k" : !attn.array<["S", 4], f64>
  %u = attn.compute "u" (%t: "T", %i: "S", %a: 4) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 4], f64>
    %1 = attn.read %k[%i, %a] : !attn.array<["S", 4], f64>
    %2 = arith.addf %0, %1 : f64
    %3 = math.tanh %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["T", "S", 4], f64>
  %nll = attn.compute "nll" () sum (%t: "T", %i: "S", %a: 4) {
    %0 = attn.read %u[%t, %i, %a] : !attn.array<["T", "S", 4], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %large = attn.compute "large" (%t: "T", %i: "S", %a: 4, %b: 2) {
    %0 = attn.read %u[%t, %i, %a] : !attn.array<["T", "S", 4], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "S", 4, 2], f64>
  attn.output "nll" %nll : !attn.array<[], f64>
  attn.output "u" %u : !attn.array<["T", "S", 4], f64>
  attn.output "large" %large : !attn.array<["T", "S", 4, 2], f64>
}
