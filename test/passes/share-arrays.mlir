// RUN: fovea-opt %s --attn-share-arrays | FileCheck %s

// The square of x is written twice, with other names of its index: one array.
// So are, then, the two sums of it. The result named "b" keeps its name.

// CHECK-LABEL: attn.system @twice
// CHECK:         %[[SQUARE:.*]] = attn.compute (%{{.*}}: "S") {
// CHECK:           arith.mulf
// CHECK-NOT:     arith.mulf
// CHECK:         %[[SUM:.*]] = attn.compute "b" () sum
// CHECK-NEXT:      attn.read %[[SQUARE]]
// CHECK-NOT:     attn.compute
// CHECK:         attn.output "first" %[[SUM]]
// CHECK:         attn.output "second" %[[SUM]]
attn.system @twice {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S"], f64>
  %0 = attn.compute (%i: "S") {
    %v = attn.read %x[%i] : !attn.array<["S"], f64>
    %w = attn.read %x[%i] : !attn.array<["S"], f64>
    %p = arith.mulf %v, %w : f64
    attn.yield %p : f64
  } : !attn.array<["S"], f64>
  %1 = attn.compute (%j: "S") {
    %v = attn.read %x[%j] : !attn.array<["S"], f64>
    %p = arith.mulf %v, %v : f64
    attn.yield %p : f64
  } : !attn.array<["S"], f64>
  %2 = attn.compute () sum (%i: "S") {
    %v = attn.read %0[%i] : !attn.array<["S"], f64>
    attn.yield %v : f64
  } : !attn.array<[], f64>
  %3 = attn.compute "b" () sum (%i: "S") {
    %v = attn.read %1[%i] : !attn.array<["S"], f64>
    attn.yield %v : f64
  } : !attn.array<[], f64>
  attn.output "first" %2 : !attn.array<[], f64>
  attn.output "second" %3 : !attn.array<[], f64>
}

// Not the same: another reducer, another lower bound, another name.

// CHECK-LABEL: attn.system @different
// CHECK:         attn.compute () sum
// CHECK:         attn.compute () mean
// CHECK:         attn.compute () sum (%{{.*}}: 1 to "S")
// CHECK:         attn.compute "a" () max
// CHECK:         attn.compute "b" () max
attn.system @different {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S"], f64>
  %0 = attn.compute () sum (%i: "S") {
    %v = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %v : f64
  } : !attn.array<[], f64>
  %1 = attn.compute () mean (%i: "S") {
    %v = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %v : f64
  } : !attn.array<[], f64>
  %2 = attn.compute () sum (%i: 1 to "S") {
    %v = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %v : f64
  } : !attn.array<[], f64>
  %3 = attn.compute "a" () max (%i: "S") {
    %v = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %v : f64
  } : !attn.array<[], f64>
  %4 = attn.compute "b" () max (%i: "S") {
    %v = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %v : f64
  } : !attn.array<[], f64>
  attn.output "0" %0 : !attn.array<[], f64>
  attn.output "1" %1 : !attn.array<[], f64>
  attn.output "2" %2 : !attn.array<[], f64>
  attn.output "3" %3 : !attn.array<[], f64>
  attn.output "4" %4 : !attn.array<[], f64>
}

// What is read may come after its reader. The arrays are equal from the last
// one on: those that come first stay. A name goes over to what has none, and
// of two names both stay.

// CHECK-LABEL: attn.system @backwards
// CHECK:         %[[TOP:.*]] = attn.compute "top" ()
// CHECK-NEXT:      attn.read %[[MIDDLE:[a-z0-9_]+]][]
// CHECK:         %[[MIDDLE]] = attn.compute ()
// CHECK-NEXT:      attn.read %[[LAST:[a-z0-9_]+]][]
// CHECK:         %[[LAST]] = attn.compute "p"
// CHECK:         %[[OTHER:.*]] = attn.compute "q"
// CHECK-NOT:     attn.compute
// CHECK:         attn.output "0" %[[TOP]]
// CHECK:         attn.output "1" %[[TOP]]
// CHECK:         attn.output "2" %[[OTHER]]
attn.system @backwards {
  %x = attn.data "x" : !attn.array<[], f64>
  %0 = attn.compute () {
    %v = attn.read %2[] : !attn.array<[], f64>
    %w = math.exp %v : f64
    attn.yield %w : f64
  } : !attn.array<[], f64>
  %1 = attn.compute "top" () {
    %v = attn.read %3[] : !attn.array<[], f64>
    %w = math.exp %v : f64
    attn.yield %w : f64
  } : !attn.array<[], f64>
  %2 = attn.compute () {
    %v = attn.read %4[] : !attn.array<[], f64>
    %w = math.sin %v : f64
    attn.yield %w : f64
  } : !attn.array<[], f64>
  %3 = attn.compute () {
    %v = attn.read %5[] : !attn.array<[], f64>
    %w = math.sin %v : f64
    attn.yield %w : f64
  } : !attn.array<[], f64>
  %4 = attn.compute "p" () {
    %v = attn.read %x[] : !attn.array<[], f64>
    attn.yield %v : f64
  } : !attn.array<[], f64>
  %5 = attn.compute () {
    %v = attn.read %x[] : !attn.array<[], f64>
    attn.yield %v : f64
  } : !attn.array<[], f64>
  %6 = attn.compute "q" () {
    %v = attn.read %x[] : !attn.array<[], f64>
    attn.yield %v : f64
  } : !attn.array<[], f64>
  attn.output "0" %0 : !attn.array<[], f64>
  attn.output "1" %1 : !attn.array<[], f64>
  attn.output "2" %6 : !attn.array<[], f64>
}
