// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-form-strips,attn-share-loops))" | FileCheck %s

// Three sums that evaluate the same function: one loop, which gives what others
// read. What stands between two of them ends it.

// CHECK-LABEL: attn.program @sums
attn.program @sums {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  // CHECK:      %[[SUMS:.*]]:2 = attn.kernel loop {
  // CHECK-NEXT:   %[[A:.*]] = attn.compute "a" (%{{.*}}: 16) sum (%{{.*}}: "T")
  // CHECK:        %[[B:.*]] = attn.compute "b" (%{{.*}}: 16) sum (%{{.*}}: "T")
  // CHECK:        attn.yield %[[A]], %[[B]]
  // CHECK:      }
  // CHECK-NEXT: attn.compute "between"
  // CHECK:      attn.compute "c" (%{{.*}}: 16) sum (%{{.*}}: "T")
  // CHECK-NOT:  attn.kernel
  // CHECK:      attn.output "a" %[[SUMS]]#0
  // CHECK:      attn.output "b again" %[[SUMS]]#1
  %a = attn.compute "a" (%k: 16) sum (%t: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[16], f64>
  %b = attn.compute "b" (%j: 16) sum (%u: "T") {
    %0 = attn.read %x[%u, %j] : !attn.array<["T", 16], f64>
    %1 = math.exp %0 : f64
    %2 = arith.mulf %1, %0 : f64
    attn.yield %2 : f64
  } : !attn.array<[16], f64>
  %between = attn.compute "between" (%k: 16) {
    %0 = attn.read %b[%k] : !attn.array<[16], f64>
    attn.yield %0 : f64
  } : !attn.array<[16], f64>
  %c = attn.compute "c" (%k: 16) sum (%t: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = math.exp %0 : f64
    %2 = arith.mulf %1, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[16], f64>
  attn.output "a" %a : !attn.array<[16], f64>
  attn.output "between" %between : !attn.array<[16], f64>
  attn.output "b again" %b : !attn.array<[16], f64>
  attn.output "c" %c : !attn.array<[16], f64>
}

// -----

// In strips, sums that give no strip themselves: after the scores, what is
// added up of them for each query.

// CHECK-LABEL: attn.program @strips
attn.program @strips {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["S", 64], f64>
  // CHECK:      %[[GIVEN:.*]]:2 = attn.kernel strips over "T" {
  // CHECK:        %[[E:.*]] = attn.compute "e"
  // CHECK:        %[[IN:.*]]:2 = attn.kernel loop {
  // CHECK:          attn.compute "total" (%{{.*}}: "T") sum (%{{.*}}: "S")
  // CHECK:            attn.read %[[E]]
  // CHECK:          attn.compute "mean" (%{{.*}}: "T") sum (%{{.*}}: "S")
  // CHECK:            attn.read %[[E]]
  // CHECK:        } : !attn.array<["T"], f64>, !attn.array<["T"], f64>
  // CHECK-NEXT:   attn.yield %[[IN]]#0, %[[IN]]#1
  // CHECK:      }
  // CHECK:      attn.output "total" %[[GIVEN]]#0
  // CHECK:      attn.output "mean" %[[GIVEN]]#1
  %e = attn.compute "e" (%t: "T", %u: "S") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  %total = attn.compute "total" (%t: "T") sum (%u: "S") {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "S"], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %mean = attn.compute "mean" (%t: "T") sum (%u: "S") {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "S"], f64>
    %1 = math.tanh %0 : f64
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  attn.output "total" %total : !attn.array<["T"], f64>
  attn.output "mean" %mean : !attn.array<["T"], f64>
}

// -----

// One reads the other; no function, another function, other places, another
// condition; once for the batch and once for each example; and a loop.

// CHECK-LABEL: attn.program @apart
// CHECK-NOT: attn.kernel
attn.program @apart {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  %w = attn.param "w" : !attn.array<[16, 16], f64>
  %a = attn.compute "a" (%k: 16) sum (%t: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[16], f64>
  %b = attn.compute "b" (%k: 16) sum (%t: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = math.exp %0 : f64
    %2 = attn.read %a[%k] : !attn.array<[16], f64>
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<[16], f64>
  %plain = attn.compute "plain" (%k: 16) sum (%t: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    attn.yield %0 : f64
  } : !attn.array<[16], f64>
  %sine = attn.compute "sine" (%k: 16) sum (%t: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = math.sin %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[16], f64>
  %next = attn.compute "next" (%k: 16) sum (%t: "T") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %x[%before, %k] cases [[[0, -1]]] (%a : !attn.array<[16], f64>) : !attn.array<["T", 16], f64>
    %1 = math.sin %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[16], f64>
  %some = attn.compute "some" (%k: 16) sum (%t: "T") where {
    %0 = arith.cmpi sle, %t, %k : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = math.sin %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[16], f64>
  %once = attn.compute "once" (%k: 16) sum (%n: 16) {
    %0 = attn.read %w[%k, %n] : !attn.array<[16, 16], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[16], f64>
  %each = attn.compute "each" (%k: 16) sum (%n: 16) {
    %0 = attn.read %w[%k, %n] : !attn.array<[16, 16], f64>
    %1 = math.exp %0 : f64
    %2 = attn.read %a[%k] : !attn.array<[16], f64>
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<[16], f64>
  %row, %other = attn.scan "T" (%t) axes [0, 0] {
    %row = attn.compute "row" () sum (%k: 16) {
      %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
      %1 = math.exp %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    %other = attn.compute "other" () sum (%k: 16) {
      %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
      %1 = math.exp %0 : f64
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.yield %row, %other : !attn.array<[], f64>, !attn.array<[], f64>
  } : !attn.array<["T"], f64>, !attn.array<["T"], f64>
  attn.output "b" %b : !attn.array<[16], f64>
  attn.output "plain" %plain : !attn.array<[16], f64>
  attn.output "sine" %sine : !attn.array<[16], f64>
  attn.output "next" %next : !attn.array<[16], f64>
  attn.output "some" %some : !attn.array<[16], f64>
  attn.output "once" %once : !attn.array<[16], f64>
  attn.output "each" %each : !attn.array<[16], f64>
  attn.output "row" %row : !attn.array<["T"], f64>
  attn.output "other" %other : !attn.array<["T"], f64>
}
