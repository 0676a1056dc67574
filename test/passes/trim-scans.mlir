// RUN: fovea-opt %s --attn-trim-scans | FileCheck %s

// Rows that are the same are kept once, and those that nobody reads not at
// all. Rows at another axis are others.

// CHECK-LABEL: attn.program @loss
attn.program @loss {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 8], f64>
  %zero = attn.param "zero" : !attn.array<[8], f64>
  // CHECK: %[[SCAN:.*]]:3 = attn.scan "T" {{.*}} axes [0, 1]
  // CHECK:   %[[NEXT:.*]] = attn.compute "next"
  // CHECK:   attn.yield %[[NEXT]], %[[NEXT]], %[[NEXT]] :
  %s:5 = attn.scan "T" (%t) carries (%before = %zero : !attn.array<[8], f64>) axes [0, 0, 1, 0] {
    %next = attn.compute "next" (%k: 8) {
      %0 = attn.read %before[%k] : !attn.array<[8], f64>
      %1 = attn.read %x[%t, %k] : !attn.array<["T", 8], f64>
      %2 = arith.addf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[8], f64>
    %twice = attn.compute "twice" (%k: 8) {
      %0 = attn.read %next[%k] : !attn.array<[8], f64>
      %1 = arith.addf %0, %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[8], f64>
    attn.yield %next, %next, %next, %next, %twice : !attn.array<[8], f64>, !attn.array<[8], f64>, !attn.array<[8], f64>, !attn.array<[8], f64>, !attn.array<[8], f64>
  } : !attn.array<[8], f64>, !attn.array<["T", 8], f64>, !attn.array<["T", 8], f64>, !attn.array<[8, "T"], f64>, !attn.array<["T", 8], f64>
  // CHECK: attn.output "a" %[[SCAN]]#1
  // CHECK: attn.output "b" %[[SCAN]]#1
  // CHECK: attn.output "c" %[[SCAN]]#2
  attn.output "a" %s#1 : !attn.array<["T", 8], f64>
  attn.output "b" %s#2 : !attn.array<["T", 8], f64>
  attn.output "c" %s#3 : !attn.array<[8, "T"], f64>

  // Nothing to trim: the same op.
  // CHECK: attn.scan "T" {{.*}} axes [0]
  %u:2 = attn.scan "T" (%t) carries (%before = %zero : !attn.array<[8], f64>) axes [0] {
    %next = attn.compute "next" (%k: 8) {
      %0 = attn.read %before[%k] : !attn.array<[8], f64>
      attn.yield %0 : f64
    } : !attn.array<[8], f64>
    attn.yield %next, %next : !attn.array<[8], f64>, !attn.array<[8], f64>
  } : !attn.array<[8], f64>, !attn.array<["T", 8], f64>
  attn.output "u" %u#1 : !attn.array<["T", 8], f64>
}
