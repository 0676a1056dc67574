// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.system @elementwise
attn.system @elementwise {
  // CHECK: %[[X:x]] = attn.data "x"
  %x = attn.data "x" : !attn.array<["S", 8], f64>
  // The result is called what the equation is called.
  // CHECK: %double = attn.compute "double" (%i: "S", %k: 8) {
  // CHECK:   %[[READ:.+]] = attn.read %[[X]][%i, %k] : !attn.array<["S", 8], f64>
  // CHECK:   attn.yield %{{.+}} : f64
  // CHECK: } : !attn.array<["S", 8], f64>
  %double = attn.compute "double" (%i: "S", %k: 8) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 8], f64>
    %1 = arith.addf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["S", 8], f64>
}

// A sum over two indices, one with a lower bound.
// CHECK-LABEL: attn.system @sum
attn.system @sum {
  %x = attn.data "x" : !attn.array<["S", 8], f64>
  // CHECK: attn.compute () sum (%i: 1 to "S", %k: 2 to 8) {
  // CHECK: } : !attn.array<[], f64>
  %0 = attn.compute () sum (%i: 1 to "S", %k: 2 to 8) {
    %1 = attn.read %x[%i, %k] : !attn.array<["S", 8], f64>
    attn.yield %1 : f64
  } : !attn.array<[], f64>
}

// A normaliser keeps its index; the condition is printed with the body's names.
// CHECK-LABEL: attn.system @softmax
attn.system @softmax {
  %e = attn.data "e" : !attn.array<["T", "T"], f64>
  // CHECK: attn.compute "weight" (%t: "T") softmax (%u: "T") where {
  // CHECK:   %[[BEFORE:.+]] = arith.cmpi slt, %u, %t : index
  // CHECK:   attn.yield %[[BEFORE]] : i1
  // CHECK: } {
  // CHECK:   attn.read %e[%t, %u]
  // CHECK: } : !attn.array<["T", "T"], f64>
  %0 = attn.compute "weight" (%t: "T") softmax (%u: "T") where {
    %1 = arith.cmpi slt, %u, %t : index
    attn.yield %1 : i1
  } {
    %1 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    attn.yield %1 : f64
  } : !attn.array<["T", "T"], f64>
}

// Each reducer, with the elements that it gives.
// CHECK-LABEL: attn.system @reducers
attn.system @reducers {
  %x = attn.data "x" : !attn.array<["S"], f64>
  %n = attn.data "n" : !attn.array<["S"], i64>
  %b = attn.data "b" : !attn.array<["S"], i1>
  // CHECK: attn.compute () prod (%i: "S")
  %0 = attn.compute () prod (%i: "S") {
    %v = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %v : f64
  } : !attn.array<[], f64>
  // CHECK: attn.compute () mean (%i: "S")
  %1 = attn.compute () mean (%i: "S") {
    %v = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %v : f64
  } : !attn.array<[], f64>
  // CHECK: attn.compute () max (%i: "S")
  %2 = attn.compute () max (%i: "S") {
    %v = attn.read %n[%i] : !attn.array<["S"], i64>
    attn.yield %v : i64
  } : !attn.array<[], i64>
  // CHECK: attn.compute () min (%i: "S")
  %3 = attn.compute () min (%i: "S") {
    %v = attn.read %n[%i] : !attn.array<["S"], i64>
    attn.yield %v : i64
  } : !attn.array<[], i64>
  // CHECK: attn.compute () argmax (%i: "S")
  %4 = attn.compute () argmax (%i: "S") {
    %v = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %v : f64
  } : !attn.array<[], i64>
  // CHECK: attn.compute () argmin (%i: "S")
  %5 = attn.compute () argmin (%i: "S") {
    %v = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %v : f64
  } : !attn.array<[], i64>
  // CHECK: attn.compute () any (%i: "S")
  %6 = attn.compute () any (%i: "S") {
    %v = attn.read %b[%i] : !attn.array<["S"], i1>
    attn.yield %v : i1
  } : !attn.array<[], i1>
  // CHECK: attn.compute () all (%i: "S")
  %7 = attn.compute () all (%i: "S") {
    %v = attn.read %b[%i] : !attn.array<["S"], i1>
    attn.yield %v : i1
  } : !attn.array<[], i1>
  // CHECK: attn.compute () logsumexp (%i: "S")
  %8 = attn.compute () logsumexp (%i: "S") {
    %v = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %v : f64
  } : !attn.array<[], f64>
  // CHECK: attn.compute () log_softmax (%i: "S")
  %9 = attn.compute () log_softmax (%i: "S") {
    %v = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %v : f64
  } : !attn.array<["S"], f64>
  // CHECK: attn.compute () cumsum (%i: "S")
  %10 = attn.compute () cumsum (%i: "S") {
    %v = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %v : f64
  } : !attn.array<["S"], f64>
}

// An index whose name is taken by another value keeps it all the same.
// CHECK-LABEL: attn.system @taken_name
attn.system @taken_name {
  // CHECK: %[[T:t]] = attn.data "t"
  %t = attn.data "t" : !attn.array<["T"], f64>
  // CHECK: attn.compute (%[[INDEX:t_.+]] as "t": "T") {
  // CHECK:   attn.read %[[T]][%[[INDEX]]]
  %0 = attn.compute (%i as "t": "T") {
    %1 = attn.read %t[%i] : !attn.array<["T"], f64>
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
}

// A part of the body that is valid only under a condition.
// CHECK-LABEL: attn.system @guarded
attn.system @guarded {
  %x = attn.data "x" : !attn.array<["S"], f64>
  // CHECK: attn.compute (%i: "S") {
  // CHECK:   scf.if
  // CHECK:     attn.read %x
  %0 = attn.compute (%i: "S") {
    %one = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    %inside = arith.cmpi sge, %i, %one : index
    %1 = scf.if %inside -> f64 {
      %before = arith.subi %i, %one : index
      %2 = attn.read %x[%before] : !attn.array<["S"], f64>
      scf.yield %2 : f64
    } else {
      scf.yield %zero : f64
    }
    attn.yield %1 : f64
  } : !attn.array<["S"], f64>
}

// The order of a reduction.
// CHECK-LABEL: attn.system @orders
attn.system @orders {
  %x = attn.data "x" : !attn.array<[4, 32], f64>
  // CHECK: attn.compute (%i: 4) sum (%k: 32) order(chain, fused) {
  %0 = attn.compute (%i: 4) sum (%k: 32) order(chain, fused) {
    %1 = attn.read %x[%i, %k] : !attn.array<[4, 32], f64>
    %2 = arith.mulf %1, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[4], f64>
  // CHECK: attn.compute (%k: 32) prod (%i: 4) order(chain) {
  %3 = attn.compute (%k: 32) prod (%i: 4) order(chain) {
    %4 = attn.read %x[%i, %k] : !attn.array<[4, 32], f64>
    attn.yield %4 : f64
  } : !attn.array<[32], f64>
  // CHECK: attn.compute (%i: 4) softmax (%k: 32) order(lanes %k) where {
  %5 = attn.compute (%i: 4) softmax (%k: 32) order(lanes %k) where {
    %6 = arith.cmpi sle, %k, %i : index
    attn.yield %6 : i1
  } {
    %7 = attn.read %x[%i, %k] : !attn.array<[4, 32], f64>
    attn.yield %7 : f64
  } : !attn.array<[4, 32], f64>
}

// Undefined for the numbers of words that no place has.
// CHECK-LABEL: attn.system @partial_sum
attn.system @partial_sum {
  %word = attn.data "word" : !attn.array<["S"], i64>
  // CHECK: attn.compute (%v: 9) sum (%i: "S") order(chain) where {
  // CHECK: {partial} : !attn.array<[9], f64>
  %0 = attn.compute (%v: 9) sum (%i: "S") order(chain) where {
    %1 = attn.read %word[%i] : !attn.array<["S"], i64>
    %2 = arith.index_cast %v : index to i64
    %3 = arith.cmpi eq, %1, %2 : i64
    attn.yield %3 : i1
  } {
    %4 = arith.constant 1.0 : f64
    attn.yield %4 : f64
  } {partial} : !attn.array<[9], f64>
}
