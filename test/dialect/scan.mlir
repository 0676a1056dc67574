// RUN: fovea-opt %s | FileCheck %s

// One carry, and the rows stacked at the first axis.
// CHECK-LABEL: attn.program @carries
attn.program @carries {
  %x = attn.data "x" : !attn.array<["S", 8], f64>
  %init = attn.data "init" : !attn.array<[8], f64>
  // CHECK: %[[SCAN:.+]]:2 = attn.scan "S" (%[[STEP:.+]]) carries (%[[CARRY:.+]] = %init : !attn.array<[8], f64>) axes [0] {
  %last, %h = attn.scan "S" (%i) carries (%before = %init : !attn.array<[8], f64>) axes [0] {
    // CHECK: %[[NEXT:.+]] = attn.compute (%k: 8) {
    %next = attn.compute (%k: 8) {
      // CHECK: attn.read %[[CARRY]][%k]
      %0 = attn.read %before[%k] : !attn.array<[8], f64>
      // CHECK: attn.read %x[%[[STEP]], %k]
      %1 = attn.read %x[%i, %k] : !attn.array<["S", 8], f64>
      %2 = arith.addf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[8], f64>
    // CHECK: attn.yield %[[NEXT]], %[[NEXT]]
    attn.yield %next, %next : !attn.array<[8], f64>, !attn.array<[8], f64>
  // CHECK: } : !attn.array<[8], f64>, !attn.array<["S", 8], f64>
  } : !attn.array<[8], f64>, !attn.array<["S", 8], f64>
  // CHECK: attn.output "h" %[[SCAN]]#1
  attn.output "h" %h : !attn.array<["S", 8], f64>
}

// From the end, over a number of steps, stacked at the last axis.
// CHECK-LABEL: attn.program @reverse
attn.program @reverse {
  %row = attn.data "row" : !attn.array<[8], f64>
  // CHECK: attn.scan 3 : i64 reverse (%{{.+}}) axes [1] {
  %h = attn.scan 3 : i64 reverse (%i) axes [1] {
    attn.yield %row : !attn.array<[8], f64>
  } : !attn.array<[8, 3], f64>
}
