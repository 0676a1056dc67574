// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.system @reads
attn.system @reads {
  // CHECK-DAG: %[[NUMBER:number]] = attn.data "number"
  %number = attn.data "number" : !attn.array<[], f64>
  // CHECK-DAG: %[[F:f]] = attn.data "f"
  %f = attn.data "f" : !attn.array<["S", 8], f64>
  // CHECK-DAG: %[[INIT:init]] = attn.data "init"
  %init = attn.data "init" : !attn.array<[8], f64>
  // CHECK-DAG: %[[LAST:last]] = attn.data "last"
  %last = attn.data "last" : !attn.array<["S"], f64>
  attn.compute (%i: "S", %k: 8) {
    %zero = arith.constant 0.0 : f64
    // CHECK: attn.read %[[NUMBER]][] : !attn.array<[], f64>
    %0 = attn.read %number[] : !attn.array<[], f64>
    // CHECK: attn.read %[[F]][%i, %k] : !attn.array<["S", 8], f64>
    %1 = attn.read %f[%i, %k] : !attn.array<["S", 8], f64>
    // CHECK: attn.read %[[F]][%i, %k] default %{{.+}} : f64 : !attn.array<["S", 8], f64>
    %2 = attn.read %f[%i, %k] default %zero : f64 : !attn.array<["S", 8], f64>
    // A row before the first one and a column after the last one.
    // CHECK: attn.read %[[F]][%i, %k] cases {{\[\[\[}}0, -1]], {{\[\[}}1, 8]]](%[[INIT]], %[[LAST]] : !attn.array<[8], f64>, !attn.array<["S"], f64>) default %{{.+}} : f64 : !attn.array<["S", 8], f64>
    %3 = attn.read %f[%i, %k] cases [[[0, -1]], [[1, 8]]] (%init, %last : !attn.array<[8], f64>, !attn.array<["S"], f64>) default %zero : f64 : !attn.array<["S", 8], f64>
    // A corner, and one row after the last one by the name of the length.
    // CHECK: cases {{\[\[\[}}0, -1], [1, -1]], {{\[\[}}0, "S"]]](%[[NUMBER]], %[[INIT]] :
    %4 = attn.read %f[%i, %k] cases [[[0, -1], [1, -1]], [[0, "S"]]] (%number, %init : !attn.array<[], f64>, !attn.array<[8], f64>) : !attn.array<["S", 8], f64>
    attn.yield %4 : f64
  } : !attn.array<["S", 8], f64>
}

// In a system an array may be read before it stands, and by itself.
// CHECK-LABEL: attn.system @cycle
attn.system @cycle {
  // CHECK: %[[SELF:self]] = attn.compute "self"
  %self = attn.compute "self" (%i: "S") {
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1 : index
    %before = arith.subi %i, %one : index
    // CHECK: attn.read %[[SELF]]
    %0 = attn.read %self[%before] default %zero : f64 : !attn.array<["S"], f64>
    // CHECK: attn.read %[[LATER:later]]
    %1 = attn.read %later[%i] : !attn.array<["S"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S"], f64>
  // CHECK: %[[LATER]] = attn.data "later"
  %later = attn.data "later" : !attn.array<["S"], f64>
}
