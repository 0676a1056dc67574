// RUN: fovea-opt %s --attn-schedule --split-input-file | FileCheck %s

// Up and down: a contraction over x is computed before the loops over all
// positions, and what reads both is computed after them.

// CHECK-LABEL: attn.program @bidirectional
// CHECK:       %[[INIT:.*]] = attn.compute "init"
// CHECK:       %[[IN:.*]] = attn.compute "in" (%{{.*}}: "S", %{{.*}}: 8) sum
// CHECK:       %[[F:.*]]:2 = attn.scan "S" (%[[I:.*]]) carries (%[[CARRY:.*]] = %[[INIT]] : !attn.array<[8], f64>) axes [0] {
// CHECK-NEXT:    %[[ROW:.*]] = attn.compute "f" (%[[K:.*]]: 8) {
// CHECK-NEXT:      attn.read %[[CARRY]][%[[K]]]
// CHECK-NEXT:      attn.read %[[IN]][%[[I]], %[[K]]]
// CHECK:         attn.yield %[[ROW]], %[[ROW]] : !attn.array<[8], f64>, !attn.array<[8], f64>
// CHECK:       %[[B:.*]]:2 = attn.scan "S" reverse
// CHECK-SAME:    = %[[INIT]]
// CHECK:         attn.compute "b" (%{{.*}}: 8)
// CHECK:       %[[H:.*]] = attn.concat "h" %[[F]]#1, %[[B]]#1
// CHECK:       %[[OUT:.*]] = attn.compute "out" (%{{.*}}: "S", %{{.*}}: 3) sum
// CHECK:       attn.output "out" %[[OUT]]
attn.system @bidirectional {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 8], f64>
  %w = attn.param "w" : !attn.array<[8, 8], f64>
  %v = attn.param "v" : !attn.array<[3, 16], f64>
  %out = attn.compute "out" (%i: "S", %k: 3) sum (%j: 16) {
    %0 = attn.read %h[%i, %j] : !attn.array<["S", 16], f64>
    %1 = attn.read %v[%k, %j] : !attn.array<[3, 16], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 3], f64>
  %h = attn.concat "h" %f, %b : !attn.array<["S", 8], f64>, !attn.array<["S", 8], f64> -> !attn.array<["S", 16], f64>
  %init = attn.compute "init" (%k: 8) {
    %0 = arith.constant 1.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[8], f64>
  %in = attn.compute "in" (%i: "S", %k: 8) sum (%j: 8) {
    %0 = attn.read %x[%i, %j] : !attn.array<["S", 8], f64>
    %1 = attn.read %w[%k, %j] : !attn.array<[8, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 8], f64>
  %f = attn.compute "f" (%i: "S", %k: 8) {
    %one = arith.constant 1 : index
    %before = arith.subi %i, %one : index
    %0 = attn.read %f[%before, %k] cases [[[0, -1]]] (%init : !attn.array<[8], f64>) : !attn.array<["S", 8], f64>
    %1 = attn.read %in[%i, %k] : !attn.array<["S", 8], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 8], f64>
  %b = attn.compute "b" (%i: "S", %k: 8) {
    %one = arith.constant 1 : index
    %next = arith.addi %i, %one : index
    %0 = attn.read %b[%next, %k] cases [[[0, "S"]]] (%init : !attn.array<[8], f64>) : !attn.array<["S", 8], f64>
    %1 = attn.read %in[%i, %k] : !attn.array<["S", 8], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 8], f64>
  attn.output "out" %out : !attn.array<["S", 3], f64>
}

// -----

// Two steps back: a chain of two carries. The read of one step back has the
// same start as the first link, so they share it.

// CHECK-LABEL: attn.program @window
// CHECK:       %[[ONE:.*]] = attn.compute "one"
// CHECK:       %[[TWO:.*]] = attn.compute "two"
// CHECK:       %[[R:.*]]:3 = attn.scan "T" (%{{.*}}) carries (%[[C1:.*]] = %[[ONE]] : !attn.array<[], f64>, %[[C2:.*]] = %[[TWO]] : !attn.array<[], f64>) axes [0]
// CHECK-NEXT:    %[[S:.*]] = attn.compute "s" () {
// CHECK-NEXT:      attn.read %[[C1]][]
// CHECK-NEXT:      attn.read %[[C2]][]
// CHECK:         attn.yield %[[S]], %[[C1]], %[[S]]
// CHECK:       attn.output "s" %[[R]]#2
attn.system @window {
  attn.length "T"
  %one = attn.compute "one" () {
    %0 = arith.constant 1.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %two = attn.compute "two" () {
    %0 = arith.constant 2.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %s = attn.compute "s" (%t: "T") {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %b1 = arith.subi %t, %c1 : index
    %b2 = arith.subi %t, %c2 : index
    %0 = attn.read %s[%b1] cases [[[0, -1]]] (%one : !attn.array<[], f64>) : !attn.array<["T"], f64>
    %1 = attn.read %s[%b2] cases [[[0, -1]], [[0, -2]]] (%one, %two : !attn.array<[], f64>, !attn.array<[], f64>) : !attn.array<["T"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  attn.output "s" %s : !attn.array<["T"], f64>
}

// -----

// A default that is a number is what the carry starts with; one that is
// computed is chosen by the loop's index.

// CHECK-LABEL: attn.program @defaults
// CHECK:       %[[FIVE:.*]] = attn.compute () {
// CHECK-NEXT:    arith.constant 5.0
// CHECK:       attn.scan "T" (%{{.*}}) carries (%{{.*}} = %[[FIVE]]
// CHECK:       attn.scan "T" (%[[T:.*]]) carries (%[[CARRY:.*]] = %{{.*}}
// CHECK:         attn.compute "q"
// CHECK:           %[[X:.*]] = attn.read %{{.*}}[%[[T]]]
// CHECK:           %[[OUT:.*]] = arith.cmpi slt, %{{.*}}, %c0
// CHECK:           scf.if %[[OUT]] -> (f64) {
// CHECK-NEXT:        scf.yield %[[X]]
// CHECK-NEXT:      } else {
// CHECK-NEXT:        attn.read %[[CARRY]][]
attn.system @defaults {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T"], f64>
  %p = attn.compute "p" (%t: "T") {
    %c1 = arith.constant 1 : index
    %five = arith.constant 5.0 : f64
    %b1 = arith.subi %t, %c1 : index
    %0 = attn.read %p[%b1] default %five : f64 : !attn.array<["T"], f64>
    %1 = attn.read %x[%t] : !attn.array<["T"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %q = attn.compute "q" (%t: "T") {
    %c1 = arith.constant 1 : index
    %b1 = arith.subi %t, %c1 : index
    %1 = attn.read %x[%t] : !attn.array<["T"], f64>
    %0 = attn.read %q[%b1] default %1 : f64 : !attn.array<["T"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  attn.output "p" %p : !attn.array<["T"], f64>
  attn.output "q" %q : !attn.array<["T"], f64>
}

// -----

// The carry of vectors starts with the default too. A read of it is plain where
// its other indices stay inside.

// CHECK-LABEL: attn.program @inside
// CHECK:       attn.scan "T" (%{{.*}}) carries (%[[CARRY:.*]] = %{{.*}}
// CHECK:         attn.compute "p" (%[[K:.*]]: 4) {
// CHECK:           attn.read %[[CARRY]][%[[K]]] : !attn.array<[4], f64>
// CHECK:           attn.read %[[CARRY]][%{{[0-9]+}}] default %{{.*}} : f64 : !attn.array<[4], f64>
attn.system @inside {
  attn.length "T"
  %p = attn.compute "p" (%t: "T", %k: 4) {
    %c1 = arith.constant 1 : index
    %five = arith.constant 5.0 : f64
    %before = arith.subi %t, %c1 : index
    %left = arith.subi %k, %c1 : index
    %0 = attn.read %p[%before, %k] default %five : f64 : !attn.array<["T", 4], f64>
    %1 = attn.read %p[%before, %left] default %five : f64 : !attn.array<["T", 4], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 4], f64>
  attn.output "p" %p : !attn.array<["T", 4], f64>
}

// -----

// A recurrence over two indices: one loop in the other. The boundary of the
// inner one is a row of the outer; the rows so far are carried whole.

// CHECK-LABEL: attn.program @grid
// CHECK:       %[[R:.*]]:2 = attn.scan "S" (%[[I:.*]]) carries (%[[ABOVE:.*]] = %{{.*}} : !attn.array<["T"], f64>) axes [0]
// CHECK:         %[[EDGE:.*]] = attn.compute () {
// CHECK-NEXT:      attn.read %{{.*}}[%[[I]]]
// CHECK:         %[[IN:.*]]:2 = attn.scan "T" (%[[J:.*]]) carries (%[[LEFT:.*]] = %[[EDGE]] : !attn.array<[], f64>) axes [0]
// CHECK-NEXT:      %[[G:.*]] = attn.compute "g" () {
// CHECK-NEXT:        attn.read %[[ABOVE]][%[[J]]]
// CHECK-NEXT:        attn.read %[[LEFT]][]
// CHECK:           attn.yield %[[G]], %[[G]]
// CHECK:         attn.yield %[[IN]]#1, %[[IN]]#1 : !attn.array<["T"], f64>, !attn.array<["T"], f64>
// CHECK:       attn.output "g" %[[R]]#1 : !attn.array<["S", "T"], f64>
attn.system @grid {
  attn.length "S"
  attn.length "T"
  %top = attn.data "top" : !attn.array<["T"], f64>
  %side = attn.data "side" : !attn.array<["S"], f64>
  %g = attn.compute "g" (%i: "S", %j: "T") {
    %c1 = arith.constant 1 : index
    %up = arith.subi %i, %c1 : index
    %left = arith.subi %j, %c1 : index
    %0 = attn.read %g[%up, %j] cases [[[0, -1]]] (%top : !attn.array<["T"], f64>) : !attn.array<["S", "T"], f64>
    %1 = attn.read %g[%i, %left] cases [[[1, -1]]] (%side : !attn.array<["S"], f64>) : !attn.array<["S", "T"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", "T"], f64>
  attn.output "g" %g : !attn.array<["S", "T"], f64>
}

// -----

// Both indices at once, with corners: no carry can say them, so the read
// branches on its indices.

// CHECK-LABEL: attn.program @diagonal
// CHECK:       attn.scan "S" (%[[I:.*]]) carries (%[[ABOVE:.*]] = %{{.*}} : !attn.array<["T"], f64>) axes [0]
// CHECK-NEXT:    attn.compute "g" (%[[J:.*]]: "T") {
// CHECK:           %[[C0:.*]] = arith.cmpi eq
// CHECK:           %[[C1:.*]] = arith.cmpi eq
// CHECK:           %[[CORNER:.*]] = arith.andi %[[C0]], %[[C1]]
// CHECK:           scf.if %[[CORNER]]
// CHECK:             attn.read %{{.*}}[]
// CHECK:             attn.read %[[ABOVE]][%
attn.system @diagonal {
  attn.length "S"
  attn.length "T"
  %top = attn.data "top" : !attn.array<["T"], f64>
  %side = attn.data "side" : !attn.array<["S"], f64>
  %corner = attn.data "corner" : !attn.array<[], f64>
  %g = attn.compute "g" (%i: "S", %j: "T") {
    %c1 = arith.constant 1 : index
    %up = arith.subi %i, %c1 : index
    %left = arith.subi %j, %c1 : index
    %0 = attn.read %g[%up, %left] cases [[[0, -1], [1, -1]], [[0, -1]], [[1, -1]]] (%corner, %top, %side : !attn.array<[], f64>, !attn.array<["T"], f64>, !attn.array<["S"], f64>) : !attn.array<["S", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S", "T"], f64>
  attn.output "g" %g : !attn.array<["S", "T"], f64>
}

// -----

// Hops inside time: q[t,k] runs over k inside the loop over t. Its boundary
// q[t,-1] reads the last hop of the step before, which is a place of a stacked
// row; the recurrence over k alone does not make that a cycle.

// CHECK-LABEL: attn.program @hops
// CHECK:       attn.scan "T" (%[[T:.*]]) carries (%[[OLD:.*]] = %{{.*}} : !attn.array<[3], f64>) axes [0]
// CHECK:         %[[START:.*]] = attn.compute "start" () {
// CHECK:           attn.read %[[OLD]][%c2]
// CHECK:         %[[HOPS:.*]]:2 = attn.scan 3 : i64 (%{{.*}}) carries (%[[BEFORE:.*]] = %[[START]] : !attn.array<[], f64>) axes [0]
// CHECK:           attn.compute "q" ()
// CHECK:         attn.yield %[[HOPS]]#1, %[[HOPS]]#1
attn.system @hops {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T"], f64>
  %zero = attn.compute "zero" (%k: 3) {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[3], f64>
  %start = attn.compute "start" (%t: "T") {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %b1 = arith.subi %t, %c1 : index
    %0 = attn.read %q[%b1, %c2] cases [[[0, -1]]] (%zero : !attn.array<[3], f64>) : !attn.array<["T", 3], f64>
    %1 = attn.read %x[%t] : !attn.array<["T"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %q = attn.compute "q" (%t: "T", %k: 3) {
    %c1 = arith.constant 1 : index
    %b1 = arith.subi %k, %c1 : index
    %0 = attn.read %q[%t, %b1] cases [[[1, -1]]] (%start : !attn.array<["T"], f64>) : !attn.array<["T", 3], f64>
    %1 = arith.addf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 3], f64>
  attn.output "q" %q : !attn.array<["T", 3], f64>
}

// -----

// A half-line of the past inside a loop: a growing array. `u < t` needs the
// rows before this step's only, `u <= t` this step's too. At the end the grown
// array is the result.

// CHECK-LABEL: attn.program @past
// CHECK:       %[[R:.*]]:2 = attn.scan "T" (%[[T:.*]]) carries (%[[G:.*]] = %{{.*}} : !attn.array<["T"], f64>, %[[H:.*]] = %{{.*}} : !attn.array<["T"], f64>) axes []
// CHECK-NEXT:    %[[S:.*]] = attn.compute "s" () sum (%[[U:.*]]: "T") where {
// CHECK-NEXT:      arith.cmpi slt, %[[U]], %[[T]]
// CHECK:           attn.read %[[G]][%[[U]]]
// CHECK:           attn.read %[[H]][%[[U]]]
// CHECK:         %[[S2:.*]] = attn.append %[[G]][%[[T]]] axis 0 = %[[S]]
// CHECK:         %[[Q:.*]] = attn.compute "q" () sum (%[[V:.*]]: "T") where
// CHECK:           attn.read %[[S2]][%[[V]]]
// CHECK:         %[[H2:.*]] = attn.append %[[H]][%[[T]]] axis 0 = %[[Q]]
// CHECK:         attn.yield %[[S2]], %[[H2]] :
// CHECK:       attn.output "q" %[[R]]#1
attn.system @past {
  attn.length "T"
  %s = attn.compute "s" (%t: "T") sum (%u: "T") where {
    %0 = arith.cmpi slt, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %s[%u] : !attn.array<["T"], f64>
    %1 = attn.read %q[%u] : !attn.array<["T"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %q = attn.compute "q" (%t: "T") sum (%u: "T") where {
    %0 = arith.cmpi sge, %t, %u : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %s[%u] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "q" %q : !attn.array<["T"], f64>
}

// -----

// The adjoint of a past is a future: a loop down with a growing array, guarded
// by a branch in the body.

// CHECK-LABEL: attn.program @future
// CHECK:       attn.scan "T" reverse (%[[T:.*]]) carries (%[[G:.*]] =
// CHECK-NEXT:    %[[D:.*]] = attn.compute "d" () sum (%[[U:.*]]: "T") {
// CHECK:           arith.cmpi sgt, %[[U]], %[[T]]
// CHECK:             attn.read %[[G]][%[[U]]]
// CHECK:         attn.append %[[G]][%[[T]]] axis 0 = %[[D]]
attn.system @future {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T"], f64>
  %d = attn.compute "d" (%t: "T") sum (%u: "T") {
    %zero = arith.constant 0.0 : f64
    %0 = arith.cmpi sgt, %u, %t : index
    %1 = scf.if %0 -> (f64) {
      %2 = attn.read %d[%u] : !attn.array<["T"], f64>
      scf.yield %2 : f64
    } else {
      scf.yield %zero : f64
    }
    %3 = attn.read %x[%t] : !attn.array<["T"], f64>
    %4 = arith.addf %1, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["T"], f64>
  attn.output "d" %d : !attn.array<["T"], f64>
}

// -----

// Below the lower bound of an index that the loop runs nothing is evaluated; a
// product of nothing would be 1 there, so it is masked.

// CHECK-LABEL: attn.program @lower
// CHECK:       attn.scan "T" (%[[T:.*]]) carries
// CHECK-NEXT:    %[[P:.*]] = attn.compute () prod (%{{.*}}: 2) where {
// CHECK-NEXT:      %[[C1:.*]] = arith.constant 1 : index
// CHECK-NEXT:      %[[OK:.*]] = arith.cmpi sge, %[[T]], %[[C1]]
// CHECK-NEXT:      attn.yield %[[OK]]
// CHECK:         %[[MASKED:.*]] = attn.compute "p" () where {
// CHECK:           arith.cmpi sge, %[[T]]
// CHECK:           attn.read %[[P]][]
// CHECK:         %[[S:.*]] = attn.compute "s" () {
// CHECK-NEXT:      attn.read %[[MASKED]][]
attn.system @lower {
  attn.length "T"
  %p = attn.compute "p" (%t: 1 to "T") prod (%k: 2) {
    %c1 = arith.constant 1 : index
    %b1 = arith.subi %t, %c1 : index
    %0 = attn.read %s[%b1] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %s = attn.compute "s" (%t: "T") {
    %0 = attn.read %p[%t] : !attn.array<["T"], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  attn.output "s" %s : !attn.array<["T"], f64>
}

// -----

// Ops that are no equations of scalars, inside a loop: they lose the axis. What
// is random still knows at which element of the sequence it stands.

// CHECK-LABEL: attn.program @whole
// CHECK:       attn.scan "T" (%[[T:.*]]) carries (%[[BEFORE:.*]] =
// CHECK:         %[[S:.*]] = attn.compute "s"
// CHECK:         %[[X:.*]] = attn.compute (%{{.*}}: 2) {
// CHECK-NEXT:      attn.read %x[%[[T]], %{{.*}}]
// CHECK:         %[[BOTH:.*]] = attn.concat "both" %[[S]], %[[X]] : {{.*}} -> !attn.array<[4], f64>
// CHECK:         %[[FOLD:.*]] = attn.reshape %[[BOTH]] keep 0 : {{.*}} -> !attn.array<[2, 2], f64>
// CHECK:         attn.compute (%[[K:.*]]: 2, %[[J:.*]]: 2) {
// CHECK:           %[[ROW:.*]] = arith.muli %[[T]], %{{.*}} : index
// CHECK:           %[[PLACE:.*]] = arith.addi %[[ROW]], %[[K]] : index
// CHECK:           attn.random[%[[PLACE]]] ordinal 0 word 0
// CHECK:           attn.read %[[FOLD]][%[[K]], %[[J]]]
attn.system @whole {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 2], f64>
  %s = attn.compute "s" (%t: "T", %k: 2) sum (%j: 2) {
    %zero = arith.constant 0.0 : f64
    %c1 = arith.constant 1 : index
    %b1 = arith.subi %t, %c1 : index
    %0 = attn.read %d[%b1, %k, %j] default %zero : f64 : !attn.array<["T", 2, 2], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 2], f64>
  %both = attn.concat "both" %s, %x : !attn.array<["T", 2], f64>, !attn.array<["T", 2], f64> -> !attn.array<["T", 4], f64>
  %fold = attn.reshape %both keep 1 : !attn.array<["T", 4], f64> -> !attn.array<["T", 2, 2], f64>
  %d = attn.compute (%t: "T", %k: 2, %j: 2) {
    %c2 = arith.constant 2 : index
    %row = arith.muli %t, %c2 : index
    %place = arith.addi %row, %k : index
    %0 = attn.random [%place] ordinal 0 word 0
    %1 = attn.read %fold[%t, %k, %j] : !attn.array<["T", 2, 2], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 2, 2], f64>
  attn.output "d" %d : !attn.array<["T", 2, 2], f64>
}

// -----

// Nothing here is a loop: causal self-attention over all positions, also where
// an array is written before what it reads. What nobody needs is gone.

// CHECK-LABEL: attn.program @parallel
// CHECK-NOT:   attn.scan
// CHECK-NOT:   dead
// CHECK:       attn.compute "score" (%{{.*}}: "T", %{{.*}}: "T") sum
// CHECK:       attn.compute "a" (%{{.*}}: "T") softmax (%{{.*}}: "T") where
// CHECK:       attn.compute "c" (%{{.*}}: "T", %{{.*}}: 4) sum
// CHECK:       attn.output
attn.system @parallel {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 4], f64>
  %c = attn.compute "c" (%t: "T", %k: 4) sum (%u: "T") {
    %0 = attn.read %a[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %x[%u, %k] : !attn.array<["T", 4], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 4], f64>
  %a = attn.compute "a" (%t: "T") softmax (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %score[%t, %u] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "T"], f64>
  %score = attn.compute "score" (%t: "T", %u: "T") sum (%k: 4) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 4], f64>
    %1 = attn.read %x[%u, %k] : !attn.array<["T", 4], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %dead = attn.compute "dead" (%t: "T") {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    %b1 = arith.subi %t, %c1 : index
    %0 = attn.read %dead[%b1] default %zero : f64 : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "c" %c : !attn.array<["T", 4], f64>
}

// -----

// Down by two: the places past the end are the length, and the length that
// is given as one more.

// CHECK-LABEL: attn.program @down
// CHECK:       attn.scan "S" reverse (%{{.*}}) carries (%[[C1:.*]] = %a : !attn.array<[], f64>, %[[C2:.*]] = %b : !attn.array<[], f64>)
// CHECK-NEXT:    attn.compute "s" () {
// CHECK-NEXT:      attn.read %[[C2]][]
attn.system @down {
  attn.length "S"
  attn.length "S+1" is affine_map<()[s0] -> (s0 + 1)> ["S"]
  %a = attn.data "a" : !attn.array<[], f64>
  %b = attn.data "b" : !attn.array<[], f64>
  %s = attn.compute "s" (%t: "S") {
    %c2 = arith.constant 2 : index
    %next = arith.addi %t, %c2 : index
    %0 = attn.read %s[%next] cases [[[0, "S"]], [[0, "S+1"]]] (%a, %b : !attn.array<[], f64>, !attn.array<[], f64>) : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  attn.output "s" %s : !attn.array<["S"], f64>
}

// -----

// The same with a number as extent.

// CHECK-LABEL: attn.program @down_number
// CHECK:       attn.scan 5 : i64 reverse (%{{.*}}) carries (%{{.*}} = %a : !attn.array<[], f64>, %{{.*}} = %b : !attn.array<[], f64>)
attn.system @down_number {
  %a = attn.data "a" : !attn.array<[], f64>
  %b = attn.data "b" : !attn.array<[], f64>
  %s = attn.compute "s" (%t: 5) {
    %c2 = arith.constant 2 : index
    %next = arith.addi %t, %c2 : index
    %0 = attn.read %s[%next] cases [[[0, 5]], [[0, 6]]] (%a, %b : !attn.array<[], f64>, !attn.array<[], f64>) : !attn.array<[5], f64>
    attn.yield %0 : f64
  } : !attn.array<[5], f64>
  attn.output "s" %s : !attn.array<[5], f64>
}

// -----

// Cases of an inner axis stay, for the row: their axis is renumbered and what
// they read is sliced at the step (%side) or is a row itself (%edge). A case
// that cannot be a whole array of the step (a boundary of %x, which is no row)
// is a branch.

// CHECK-LABEL: attn.program @inner_cases
// CHECK:       attn.scan "T" (%[[T:.*]]) carries (%[[CARRY:.*]] =
// CHECK:         %[[EDGE:.*]] = attn.compute "edge" ()
// CHECK:         %[[SIDE:.*]] = attn.compute () {
// CHECK-NEXT:      attn.read %side[%[[T]]]
// CHECK:         %[[S:.*]] = attn.compute "s" (%{{.*}}: "S") {
// CHECK:           attn.read %{{.*}}[%{{.*}}] cases {{\[\[\[0, -1\]\], \[\[0, "S"\]\]\]}}(%[[EDGE]], %[[SIDE]] :
// CHECK:         attn.compute "r" (%{{.*}}: "S") {
// CHECK:           %[[FIRST:.*]] = arith.cmpi eq
// CHECK:           scf.if %[[FIRST]] -> (f64) {
// CHECK-NEXT:        attn.read %[[EDGE]][]
// CHECK:           } else {
// CHECK-NEXT:        attn.read %x[%[[T]], %{{.*}}]
attn.system @inner_cases {
  attn.length "T"
  attn.length "S"
  %x = attn.data "x" : !attn.array<["T", "S"], f64>
  %side = attn.data "side" : !attn.array<["T"], f64>
  %edge = attn.compute "edge" (%t: "T") {
    %zero = arith.constant 0.0 : f64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %before = arith.subi %t, %c1 : index
    %0 = attn.read %r[%before, %c0] default %zero : f64 : !attn.array<["T", "S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %q = attn.compute "q" (%t: "T", %i: "S") {
    %0 = attn.read %edge[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "S"], f64>
  %s = attn.compute "s" (%t: "T", %i: "S") {
    %c1 = arith.constant 1 : index
    %left = arith.subi %i, %c1 : index
    %right = arith.addi %left, %c1 : index
    %0 = attn.extent "S"
    %wrong = arith.subi %0, %right : index
    %1 = attn.read %q[%t, %wrong] cases [[[1, -1]], [[1, "S"]]] (%edge, %side : !attn.array<["T"], f64>, !attn.array<["T"], f64>) : !attn.array<["T", "S"], f64>
    attn.yield %1 : f64
  } : !attn.array<["T", "S"], f64>
  %r = attn.compute "r" (%t: "T", %i: "S") {
    %c1 = arith.constant 1 : index
    %left = arith.subi %i, %c1 : index
    %0 = attn.read %x[%t, %left] cases [[[1, -1]]] (%edge : !attn.array<["T"], f64>) : !attn.array<["T", "S"], f64>
    %1 = attn.read %s[%t, %i] : !attn.array<["T", "S"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  attn.output "r" %r : !attn.array<["T", "S"], f64>
}

// -----

// A recurrence along a nested length runs inside a loop over its parent.

// CHECK-LABEL: attn.program @nested_length
// CHECK:       attn.scan "M" (%[[M:.*]]) axes [0] {
// CHECK:         attn.scan "W" (%[[J:.*]]) carries
// CHECK:           attn.compute "f" ()
// CHECK:             attn.read %x[%[[M]], %[[J]]]
attn.system @nested_length {
  attn.length "M"
  attn.length "W" over "M"
  %x = attn.data "x" : !attn.array<["M", "W"], f64>
  %f = attn.compute "f" (%m: "M", %j: "W") {
    %zero = arith.constant 0.0 : f64
    %c1 = arith.constant 1 : index
    %before = arith.subi %j, %c1 : index
    %0 = attn.read %f[%m, %before] default %zero : f64 : !attn.array<["M", "W"], f64>
    %1 = attn.read %x[%m, %j] : !attn.array<["M", "W"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["M", "W"], f64>
  attn.output "f" %f : !attn.array<["M", "W"], f64>
}

// -----

// Either index could be the outer loop; along the first of them the other is
// parallel inside, so it is the one.

// CHECK-LABEL: attn.program @prefers_parallel
// CHECK:       attn.scan "T" (%{{.*}})
// CHECK-NOT:   attn.scan
attn.system @prefers_parallel {
  attn.length "S"
  attn.length "T"
  %g = attn.compute "g" (%i: "S", %t: "T") {
    %zero = arith.constant 0.0 : f64
    %c1 = arith.constant 1 : index
    %up = arith.subi %i, %c1 : index
    %before = arith.subi %t, %c1 : index
    %0 = attn.read %g[%up, %before] default %zero : f64 : !attn.array<["S", "T"], f64>
    %1 = attn.read %g[%i, %before] default %zero : f64 : !attn.array<["S", "T"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", "T"], f64>
  attn.output "g" %g : !attn.array<["S", "T"], f64>
}

// -----

// x[0] = start, x[k+1] = 2 * x[k]: a loop over K computes the first K places
// of x, and x itself is computed after it.

// CHECK-LABEL: attn.program @image
// CHECK:       %[[R:.*]]:2 = attn.scan "K" (%[[K:.*]]) carries (%[[BEFORE:.*]] =
// CHECK:         attn.compute "x" ()
// CHECK:           attn.read %[[BEFORE]][]
// CHECK:         %[[TWICE:.*]] = attn.compute "twice" ()
// CHECK:         attn.yield %[[TWICE]], %[[TWICE]]
// CHECK:       %[[X:.*]] = attn.compute "x" (%{{.*}}: "K+1")
// CHECK:         attn.read %[[R]]#1
// CHECK:       attn.output "x" %[[X]] : !attn.array<["K+1"], f64>
attn.system @image {
  attn.length "K"
  attn.length "K+1" is affine_map<()[s0] -> (s0 + 1)> ["K"]
  %start = attn.data "start" : !attn.array<[], f64>
  %twice = attn.compute "twice" (%k: "K") {
    %0 = attn.read %x[%k] : !attn.array<["K+1"], f64>
    %1 = arith.addf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["K"], f64>
  %x = attn.compute "x" (%k: "K+1") {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = arith.cmpi eq, %k, %c0 : index
    %1 = scf.if %0 -> (f64) {
      %2 = attn.read %start[] : !attn.array<[], f64>
      scf.yield %2 : f64
    } else {
      %before = arith.subi %k, %c1 : index
      %2 = attn.read %twice[%before] : !attn.array<["K"], f64>
      scf.yield %2 : f64
    }
    attn.yield %1 : f64
  } : !attn.array<["K+1"], f64>
  attn.output "x" %x : !attn.array<["K+1"], f64>
}

// -----

// Its adjoint, from the other end: the last K places of d.

// CHECK-LABEL: attn.program @image_down
// CHECK:       attn.scan "K" reverse
// CHECK:       attn.compute "d" (%{{.*}}: "K+1")
attn.system @image_down {
  attn.length "K"
  attn.length "K+1" is affine_map<()[s0] -> (s0 + 1)> ["K"]
  %seed = attn.data "seed" : !attn.array<["K+1"], f64>
  %twice = attn.compute "d twice" (%k: "K") {
    %c1 = arith.constant 1 : index
    %next = arith.addi %k, %c1 : index
    %0 = attn.read %d[%next] : !attn.array<["K+1"], f64>
    attn.yield %0 : f64
  } : !attn.array<["K"], f64>
  %d = attn.compute "d" (%k: "K+1") {
    %K = attn.extent "K"
    %zero = arith.constant 0.0 : f64
    %0 = arith.cmpi slt, %k, %K : index
    %1 = scf.if %0 -> (f64) {
      %2 = attn.read %twice[%k] : !attn.array<["K"], f64>
      %3 = arith.addf %2, %2 : f64
      scf.yield %3 : f64
    } else {
      scf.yield %zero : f64
    }
    %4 = attn.read %seed[%k] : !attn.array<["K+1"], f64>
    %5 = arith.addf %1, %4 : f64
    attn.yield %5 : f64
  } : !attn.array<["K+1"], f64>
  attn.output "d" %d : !attn.array<["K+1"], f64>
}

// Two indices of the same extent: the loop is along the one that gets ahead,
// although all reads agree on the other.
// CHECK-LABEL: attn.program @same_extent
// CHECK:       attn.scan "T"
// CHECK:         attn.scan 3 : i64 reverse
attn.system @same_extent {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 3, 3], f64>
  %zero = attn.compute "zero" (%t: "T", %d: 3) {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["T", 3], f64>
  %g = attn.compute "g" (%t: "T", %j: 3, %d: 3) {
    %c1 = arith.constant 1 : index
    %nothing = arith.constant 0.0 : f64
    %before = arith.subi %t, %c1 : index
    %next = arith.addi %j, %c1 : index
    %0 = attn.read %g[%before, %j, %d] default %nothing : f64 : !attn.array<["T", 3, 3], f64>
    %1 = attn.read %g[%t, %next, %d] cases [[[1, 3]]](%zero : !attn.array<["T", 3], f64>) : !attn.array<["T", 3, 3], f64>
    %2 = attn.read %x[%t, %j, %d] : !attn.array<["T", 3, 3], f64>
    %3 = arith.mulf %0, %1 : f64
    %4 = arith.addf %3, %2 : f64
    attn.yield %4 : f64
  } : !attn.array<["T", 3, 3], f64>
  attn.output "g" %g : !attn.array<["T", 3, 3], f64>
}
