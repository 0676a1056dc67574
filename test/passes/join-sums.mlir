// RUN: fovea-opt %s --attn-batch --attn-join-sums | FileCheck %s

// The gradients of additive attention: that of the keys and, the other way
// round and over all examples, that of the weights. The second becomes a sum
// with the indices of the first, one after the other, and the sum of it.

// CHECK-LABEL: attn.program @grad
attn.program @grad {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 16], f64>
  %k = attn.data "k" : !attn.array<["S", 16], f64>
  %g = attn.data "g" : !attn.array<["T", "S"], f64>
  // CHECK:      %[[PART:.*]] = attn.compute "d v" (%[[I:.*]]: "S", %[[A:.*]]: 16) sum (%[[T:.*]]: "T") {
  // CHECK-DAG:    attn.read %g[%[[T]], %[[I]]]
  // CHECK-DAG:    attn.read %q[%[[T]], %[[A]]]
  // CHECK-DAG:    attn.read %k[%[[I]], %[[A]]]
  // CHECK:        math.tanh
  // CHECK:      {attn.batch = "each"}
  // CHECK-NEXT: attn.compute "d k" (%{{.*}}: "S", %{{.*}}: 16) sum (%{{.*}}: "T")
  // CHECK:        math.tanh
  // CHECK:      {attn.batch = "each"}
  // CHECK-NEXT: %[[DV:.*]] = attn.compute "d v" (%[[A:.*]]: 16) sum (%[[I:.*]]: "S") {
  // CHECK-NEXT:   attn.read %[[PART]][%[[I]], %[[A]]]
  // CHECK-NEXT:   attn.yield
  // CHECK-NEXT: {attn.batch = "sum"}
  // CHECK:      attn.compute "between"
  // CHECK:      attn.output "grad/v" %[[DV]]
  %dv = attn.compute "d v" (%a: 16) sum (%t: "T", %i: "S") {
    %0 = attn.read %g[%t, %i] : !attn.array<["T", "S"], f64>
    %1 = attn.read %q[%t, %a] : !attn.array<["T", 16], f64>
    %2 = attn.read %k[%i, %a] : !attn.array<["S", 16], f64>
    %3 = arith.addf %1, %2 : f64
    %4 = math.tanh %3 : f64
    %5 = arith.mulf %0, %4 : f64
    attn.yield %5 : f64
  } : !attn.array<[16], f64>
  %between = attn.compute "between" (%t: "T", %a: 16) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 16], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 16], f64>
  // The sum of two reads is the same in the other order.
  %dk = attn.compute "d k" (%j: "S", %b: 16) sum (%u: "T") {
    %0 = attn.read %k[%j, %b] : !attn.array<["S", 16], f64>
    %1 = attn.read %q[%u, %b] : !attn.array<["T", 16], f64>
    %2 = arith.addf %0, %1 : f64
    %3 = math.tanh %2 : f64
    %4 = arith.mulf %3, %3 : f64
    %5 = attn.read %g[%u, %j] : !attn.array<["T", "S"], f64>
    %6 = arith.mulf %5, %4 : f64
    attn.yield %6 : f64
  } : !attn.array<["S", 16], f64>
  attn.output "d k" %dk : !attn.array<["S", 16], f64>
  attn.output "between" %between : !attn.array<["T", 16], f64>
  attn.output "grad/v" %dv : !attn.array<[16], f64>
}

// The same indices, of each example and of all: what the examples have is added
// up. The condition is that of both.

// CHECK-LABEL: attn.program @examples
attn.program @examples {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  // CHECK:      attn.compute "own" (%{{.*}}: 16) sum (%{{.*}}: "T") where {
  // CHECK:      {attn.batch = "each"}
  // CHECK-NEXT: %[[PART:.*]] = attn.compute "w" (%{{.*}}: 16) sum (%{{.*}}: "T") where {
  // CHECK-NEXT:   arith.cmpi sle
  // CHECK:      {attn.batch = "each"}
  // CHECK-NEXT: attn.compute "w" (%[[K:.*]]: 16) {
  // CHECK-NEXT:   attn.read %[[PART]][%[[K]]]
  // CHECK-NEXT:   attn.yield
  // CHECK-NEXT: {attn.batch = "sum"}
  %own = attn.compute "own" (%k: 16) sum (%t: "T") where {
    %0 = arith.cmpi sle, %t, %k : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[16], f64>
  attn.output "own" %own : !attn.array<[16], f64>
  %w = attn.compute "w" (%k: 16) sum (%t: "T") where {
    %0 = arith.cmpi sle, %t, %k : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = attn.sigmoid %0 : f64
    %2 = arith.mulf %1, %0 : f64
    attn.yield %2 : f64
  } : !attn.array<[16], f64>
  attn.output "grad/w" %w : !attn.array<[16], f64>
}

// Sums that are alike only move together, the first one after what the second
// one needs.

// CHECK-LABEL: attn.program @alike
attn.program @alike {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  // CHECK-NOT:  attn.compute "a"
  // CHECK:      attn.compute "mean"
  // CHECK:      attn.compute "a" (
  // CHECK:      {attn.batch = "each"}
  // CHECK-NEXT: attn.compute "b" (
  // CHECK-NOT:  attn.compute
  %a = attn.compute "a" (%k: 16) sum (%t: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[16], f64>
  %mean = attn.compute "mean" (%k: 16) mean (%t: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    attn.yield %0 : f64
  } : !attn.array<[16], f64>
  %b = attn.compute "b" (%k: 16) sum (%t: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = math.exp %0 : f64
    %2 = attn.read %mean[%k] : !attn.array<[16], f64>
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<[16], f64>
  attn.output "a" %a : !attn.array<[16], f64>
  attn.output "b" %b : !attn.array<[16], f64>
}

// One needs the other, or what was computed from it.

// CHECK-LABEL: attn.program @needed
attn.program @needed {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  // CHECK:     attn.compute "total" (%{{.*}}: "T") sum (%{{.*}}: 16)
  // CHECK:     attn.compute "share"
  // CHECK:     attn.compute "all" () sum (%{{.*}}: "T", %{{.*}}: 16)
  // CHECK-NOT: attn.compute
  %total = attn.compute "total" (%t: "T") sum (%k: 16) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %share = attn.compute "share" (%t: "T") {
    %0 = attn.read %total[%t] : !attn.array<["T"], f64>
    %one = arith.constant 1.0 : f64
    %1 = arith.divf %one, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %all = attn.compute "all" () sum (%t: "T", %k: 16) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = math.exp %0 : f64
    %2 = attn.read %share[%t] : !attn.array<["T"], f64>
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<[], f64>
  attn.output "all" %all : !attn.array<[], f64>
}

// No function in common, at no common places, under other conditions, from
// another place on, and of too few places: all stays as it is.

// CHECK-LABEL: attn.program @apart
attn.program @apart {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  %y = attn.data "y" : !attn.array<["T", "T"], f64>
  %z = attn.data "z" : !attn.array<["T", 2], f64>
  // CHECK:     attn.compute "rows" (%{{.*}}: "T") sum (%{{.*}}: 16)
  // CHECK:     attn.compute "square" () sum (%{{.*}}: "T", %{{.*}}: 16)
  // CHECK:     attn.compute "cosine" () sum (%{{.*}}: "T", %{{.*}}: 16)
  // CHECK:     attn.compute "where" () sum (%{{.*}}: "T", %{{.*}}: 16) where
  // CHECK:     attn.compute "later" () sum (%{{.*}}: 1 to "T", %{{.*}}: 16)
  // CHECK:     attn.compute "across" (%{{.*}}: "T") sum (%{{.*}}: "T")
  // CHECK:     attn.compute "along" (%{{.*}}: "T") sum (%{{.*}}: "T")
  // CHECK:     attn.compute "pair" (%{{.*}}: "T") sum (%{{.*}}: 2)
  // CHECK:     attn.compute "pairs" () sum (%{{.*}}: "T", %{{.*}}: 2)
  // CHECK-NOT: attn.compute
  %rows = attn.compute "rows" (%t: "T") sum (%k: 16) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = math.sin %0 : f64
    %two = arith.constant 2.0 : f64
    %2 = math.powf %0, %two : f64
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["T"], f64>
  %square = attn.compute "square" () sum (%t: "T", %k: 16) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %two = arith.constant 2.0 : f64
    %1 = math.powf %0, %two : f64
    attn.yield %1 : f64
  } : !attn.array<[], f64>
  %cosine = attn.compute "cosine" () sum (%t: "T", %k: 16) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = math.cos %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[], f64>
  %where = attn.compute "where" () sum (%t: "T", %k: 16) where {
    %0 = arith.cmpi sle, %t, %k : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = math.sin %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[], f64>
  %later = attn.compute "later" () sum (%t: 1 to "T", %k: 16) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = math.sin %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[], f64>
  %across = attn.compute "across" (%t: "T") sum (%u: "T") {
    %0 = attn.read %y[%u, %t] : !attn.array<["T", "T"], f64>
    %1 = math.log %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %along = attn.compute "along" (%t: "T") sum (%u: "T") {
    %0 = attn.read %y[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = math.log %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %pair = attn.compute "pair" (%t: "T") sum (%k: 2) {
    %0 = attn.read %z[%t, %k] : !attn.array<["T", 2], f64>
    %1 = math.erf %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %pairs = attn.compute "pairs" () sum (%t: "T", %k: 2) {
    %0 = attn.read %z[%t, %k] : !attn.array<["T", 2], f64>
    %1 = math.erf %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[], f64>
  attn.output "rows" %rows : !attn.array<["T"], f64>
  attn.output "square" %square : !attn.array<[], f64>
  attn.output "cosine" %cosine : !attn.array<[], f64>
  attn.output "where" %where : !attn.array<[], f64>
  attn.output "later" %later : !attn.array<[], f64>
  attn.output "across" %across : !attn.array<["T"], f64>
  attn.output "along" %along : !attn.array<["T"], f64>
  attn.output "pair" %pair : !attn.array<["T"], f64>
  attn.output "pairs" %pairs : !attn.array<[], f64>
}

// A loop keeps what it is: its steps are left alone.

// CHECK-LABEL: attn.program @loop
attn.program @loop {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 8, 16], f64>
  %zero = attn.compute "zero" () {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  // CHECK:     attn.scan "T"
  // CHECK:     attn.compute "row" (%{{.*}}: 8) sum (%{{.*}}: 16)
  // CHECK:     attn.compute "next" () sum (%{{.*}}: 8, %{{.*}}: 16)
  // CHECK-NOT: attn.compute
  %last, %rows = attn.scan "T" (%t) carries (%s = %zero : !attn.array<[], f64>) axes [0] {
    %row = attn.compute "row" (%i: 8) sum (%k: 16) {
      %0 = attn.read %x[%t, %i, %k] : !attn.array<["T", 8, 16], f64>
      %1 = math.exp %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[8], f64>
    %next = attn.compute "next" () sum (%i: 8, %k: 16) {
      %0 = attn.read %x[%t, %i, %k] : !attn.array<["T", 8, 16], f64>
      %1 = math.exp %0 : f64
      %2 = attn.read %s[] : !attn.array<[], f64>
      %3 = arith.mulf %1, %2 : f64
      attn.yield %3 : f64
    } : !attn.array<[], f64>
    attn.yield %next, %row : !attn.array<[], f64>, !attn.array<[8], f64>
  } : !attn.array<[], f64>, !attn.array<["T", 8], f64>
  attn.output "last" %last : !attn.array<[], f64>
  attn.output "rows" %rows : !attn.array<["T", 8], f64>
}
