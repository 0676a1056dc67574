// RUN: fovea-opt %s "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-share-loops,attn-form-rows,attn-divide-work))" | FileCheck %s

// What examples have is shared by rows, where they are long, or by examples.

// CHECK-LABEL: attn.program @examples
attn.program @examples {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 64], f64>
  %w = attn.param "w" : !attn.array<[64, 64], f64>
  // CHECK: attn.compute "rows"
  // CHECK: attn.units = #attn.units<rows>
  %rows = attn.compute "rows" (%t: "T", %k: 64) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 64], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 64], f64>
  // CHECK: attn.compute "softmax"
  // CHECK: attn.units = #attn.units<rows>
  %softmax = attn.compute "softmax" (%t: "T") softmax (%k: 64) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 64], f64>
  // Neighbours along the only index.
  // CHECK: attn.compute "one index"
  // CHECK: attn.units = #attn.units<examples>
  %one = attn.compute "one index" (%t: "T") sum (%k: 64) {
    %0 = attn.read %rows[%t, %k] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  // The first index is a number.
  // CHECK: attn.compute "turned"
  // CHECK: attn.units = #attn.units<examples>
  %turned = attn.compute "turned" (%k: 64, %t: "T") {
    %0 = attn.read %softmax[%t, %k] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<[64, "T"], f64>
  // CHECK: attn.concat
  // CHECK-SAME: attn.units = #attn.units<examples>
  %both = attn.concat %rows, %softmax : !attn.array<["T", 64], f64>, !attn.array<["T", 64], f64> -> !attn.array<["T", 128], f64>
  // Sums of one loop, together.
  // CHECK: attn.kernel loop {
  // CHECK-NOT: attn.units
  // CHECK: } {attn.units = #attn.units<rows>}
  %a = attn.compute "a" (%t: "T", %k: 64) sum (%u: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 64], f64>
    %1 = attn.read %x[%u, %k] : !attn.array<["T", 64], f64>
    %2 = arith.addf %0, %1 : f64
    %3 = math.tanh %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["T", 64], f64>
  %b = attn.compute "b" (%t: "T", %k: 64) sum (%u: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 64], f64>
    %1 = attn.read %x[%u, %k] : !attn.array<["T", 64], f64>
    %2 = arith.addf %0, %1 : f64
    %3 = math.tanh %2 : f64
    %4 = arith.mulf %3, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["T", 64], f64>
  // A product has the tiles of a machine.
  // CHECK: attn.compute "product"
  // CHECK-NOT: attn.units
  // CHECK: attn.product
  // CHECK-NOT: attn.units
  // CHECK: attn.output
  %product = attn.compute "product" (%t: "T", %n: 64) sum (%k: 64) {
    %0 = attn.read %rows[%t, %k] : !attn.array<["T", 64], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "both" %both : !attn.array<["T", 128], f64>
  attn.output "one" %one : !attn.array<["T"], f64>
  attn.output "turned" %turned : !attn.array<[64, "T"], f64>
  attn.output "a" %a : !attn.array<["T", 64], f64>
  attn.output "b" %b : !attn.array<["T", 64], f64>
  attn.output "product" %product : !attn.array<["T", 64], f64>
}

// What a batch has once, or as a sum over the examples.

// CHECK-LABEL: attn.program @batch
attn.program @batch {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 64], f64>
  %token = attn.data "token" : !attn.array<["T"], i64>
  %w = attn.param "w" : !attn.array<[8, 64], f64>
  // CHECK: attn.compute "places"
  // CHECK: attn.units = #attn.units<places>
  %places = attn.compute "places" (%n: 8, %k: 64) {
    %0 = attn.read %w[%n, %k] : !attn.array<[8, 64], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[8, 64], f64>
  // CHECK: attn.compute "range"
  // CHECK: attn.units = #attn.units<ranges>
  %range = attn.compute "range" (%k: 64) sum (%t: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<[64], f64>
  // CHECK: attn.compute "once"
  // CHECK: attn.units = #attn.units<once>
  %once = attn.compute "once" () sum (%n: 8, %k: 64) {
    %0 = attn.read %w[%n, %k] : !attn.array<[8, 64], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  // What is added where a condition finds it: columns.
  // CHECK: attn.compute "scatter"
  // CHECK: attn.units = #attn.units<ranges>
  %scatter = attn.compute "scatter" (%n: 8, %k: 64) sum (%t: "T") where {
    %0 = attn.read %token[%t] : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = arith.cmpi eq, %1, %n : index
    attn.yield %2 : i1
  } {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<[8, 64], f64>
  // The elements of a vector, too.
  // CHECK: attn.compute "elements"
  // CHECK: attn.units = #attn.units<ranges>
  %elements = attn.compute "elements" (%n: 8) sum (%t: "T") where {
    %0 = attn.read %token[%t] : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = arith.cmpi eq, %1, %n : index
    attn.yield %2 : i1
  } {
    %0 = attn.read %x[%t, %n] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<[8], f64>
  attn.output "grad/elements" %elements : !attn.array<[8], f64>
  attn.output "places" %places : !attn.array<[8, 64], f64>
  attn.output "grad/range" %range : !attn.array<[64], f64>
  attn.output "once" %once : !attn.array<[], f64>
  attn.output "grad/scatter" %scatter : !attn.array<[8, 64], f64>
}

// In a loop, a step is shared by examples, whatever its equations are.

// CHECK-LABEL: attn.program @loop
attn.program @loop {
  attn.length "T"
  attn.length "S"
  %x = attn.data "x" : !attn.array<["T", "S", 64], f64>
  // CHECK: attn.scan
  // CHECK:   attn.kernel rows {
  // CHECK-NOT: attn.units
  // CHECK:   } {attn.units = #attn.units<examples>}
  // CHECK: attn.compute "later"
  // CHECK: attn.units = #attn.units<rows>
  %rows = attn.scan "T" (%t) axes [0] {
    %a = attn.compute "a" (%s: "S", %k: 64) {
      %0 = attn.read %x[%t, %s, %k] : !attn.array<["T", "S", 64], f64>
      attn.yield %0 : f64
    } : !attn.array<["S", 64], f64>
    %b = attn.compute "b" (%s: "S") softmax (%k: 64) {
      %0 = attn.read %a[%s, %k] : !attn.array<["S", 64], f64>
      attn.yield %0 : f64
    } : !attn.array<["S", 64], f64>
    attn.yield %b : !attn.array<["S", 64], f64>
  } : !attn.array<["T", "S", 64], f64>
  %later = attn.compute "later" (%t: "T", %s: "S", %k: 64) {
    %0 = attn.read %rows[%t, %s, %k] : !attn.array<["T", "S", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "S", 64], f64>
  attn.output "later" %later : !attn.array<["T", "S", 64], f64>
}

// A kernel of nothing is one piece of work.

// CHECK-LABEL: attn.program @empty
// CHECK: attn.kernel rows {
// CHECK: } {attn.units = #attn.units<once>}
attn.program @empty {
  attn.kernel rows {
    attn.yield
  }
}
