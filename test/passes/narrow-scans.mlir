// RUN: fovea-opt %s --attn-batch --attn-narrow-scans --attn-trim-scans | FileCheck %s

// A row that all read at place 2 is that place; 1 - z is computed where it is
// read, also at another step, and what follows from it does so too.

// CHECK-LABEL: attn.program @kept
attn.program @kept {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 3, 8], f64>
  %bias = attn.param "bias" : !attn.array<[8], f64>
  %zero = attn.param "zero" : !attn.array<[8], f64>
  // CHECK: %[[S:.*]]:3 = attn.scan "T" (%[[STEP:.*]]) carries {{.*}} axes [0, 0]
  // CHECK:   %[[GATES:.*]] = attn.compute "gates"
  // CHECK:   %[[Z:.*]] = attn.compute "z"
  // CHECK:   %[[SLICE:.*]] = attn.compute (%[[D:.*]]: 8) {
  // CHECK-NEXT: %[[TWO:.*]] = arith.constant 2 : index
  // CHECK-NEXT: attn.read %[[GATES]][%[[TWO]], %[[D]]]
  // CHECK-NEXT: attn.yield
  // CHECK:   attn.yield %{{.*}}, %[[Z]], %[[SLICE]] :
  %s:5 = attn.scan "T" (%t) carries (%before = %zero : !attn.array<[8], f64>) axes [0, 0, 0, 0] {
    %gates = attn.compute "gates" (%g: 3, %k: 8) {
      %0 = attn.read %x[%t, %g, %k] : !attn.array<["T", 3, 8], f64>
      %1 = attn.read %before[%k] : !attn.array<[8], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[3, 8], f64>
    %z = attn.compute "z" (%k: 8) {
      %c0 = arith.constant 0 : index
      %0 = attn.read %gates[%c0, %k] : !attn.array<[3, 8], f64>
      %1 = attn.sigmoid %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[8], f64>
    %rest = attn.compute "rest" (%k: 8) {
      %one = arith.constant 1.0 : f64
      %0 = attn.read %z[%k] : !attn.array<[8], f64>
      %1 = arith.subf %one, %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[8], f64>
    %more = attn.compute "more" (%k: 8) {
      %c1 = arith.constant 1 : index
      %0 = attn.read %rest[%k] : !attn.array<[8], f64>
      %1 = attn.read %bias[%k] : !attn.array<[8], f64>
      %2 = attn.read %x[%t, %c1, %k] : !attn.array<["T", 3, 8], f64>
      %3 = arith.mulf %0, %1 : f64
      %4 = arith.addf %3, %2 : f64
      attn.yield %4 : f64
    } : !attn.array<[8], f64>
    %next = attn.compute "next" (%k: 8) {
      %0 = attn.read %more[%k] : !attn.array<[8], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[8], f64>
    attn.yield %next, %gates, %z, %rest, %more : !attn.array<[8], f64>, !attn.array<[3, 8], f64>, !attn.array<[8], f64>, !attn.array<[8], f64>, !attn.array<[8], f64>
  } : !attn.array<[8], f64>, !attn.array<["T", 3, 8], f64>, !attn.array<["T", 8], f64>, !attn.array<["T", 8], f64>, !attn.array<["T", 8], f64>

  // CHECK:      attn.compute "a" (%[[T:.*]]: "T", %[[K:.*]]: 8) {
  // CHECK:        %[[A0:.*]] = attn.read %[[S]]#2[%[[T]], %[[K]]]
  // CHECK:        %[[ONE:.*]] = arith.constant 1.0
  // CHECK-NEXT:   %[[A1:.*]] = attn.read %[[S]]#1[%[[T]], %[[K]]]
  // CHECK-NEXT:   %[[A2:.*]] = arith.subf %[[ONE]], %[[A1]]
  // CHECK-NEXT:   %[[A3:.*]] = arith.mulf %[[A0]], %[[A2]]
  // CHECK-NEXT:   attn.yield %[[A3]]
  %a = attn.compute "a" (%t: "T", %k: 8) {
    %c2 = arith.constant 2 : index
    %0 = attn.read %s#1[%t, %c2, %k] : !attn.array<["T", 3, 8], f64>
    %1 = attn.read %s#3[%t, %k] : !attn.array<["T", 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 8], f64>
  // CHECK:      attn.compute "b" (%[[T:.*]]: "T", %[[K:.*]]: 8) where
  // CHECK:        %[[BACK:.*]] = arith.subi %[[T]], %{{.*}}
  // CHECK:        %[[B0:.*]] = attn.read %[[S]]#1[%[[BACK]], %[[K]]]
  // CHECK:        %[[B1:.*]] = arith.subf %{{.*}}, %[[B0]]
  // CHECK:        %[[B2:.*]] = attn.read %bias[%[[K]]]
  // CHECK:        %[[B3:.*]] = attn.read %x[%[[BACK]], %{{.*}}, %[[K]]]
  // CHECK:        %[[B4:.*]] = arith.mulf %[[B1]], %[[B2]]
  // CHECK:        %[[B5:.*]] = arith.addf %[[B4]], %[[B3]]
  // CHECK:        attn.yield %[[B5]]
  %b = attn.compute "b" (%t: "T", %k: 8) where {
    %c1 = arith.constant 1 : index
    %0 = arith.cmpi sge, %t, %c1 : index
    attn.yield %0 : i1
  } {
    %c1 = arith.constant 1 : index
    %0 = arith.subi %t, %c1 : index
    %1 = attn.read %s#4[%0, %k] : !attn.array<["T", 8], f64>
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  attn.output "a" %a : !attn.array<["T", 8], f64>
  attn.output "b" %b : !attn.array<["T", 8], f64>
  attn.output "z" %s#2 : !attn.array<["T", 8], f64>
}

// What is kept as it is: a row that is read at two places of the axis, or as a
// whole; one that takes a function or a division; one of the carry, which is
// no row of the same step; one that is carried itself; one that a sum reads;
// one with an array that nobody else needs so late.

// CHECK-LABEL: attn.program @whole
attn.program @whole {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 8], f64>
  %zero = attn.param "zero" : !attn.array<[8], f64>
  %early = attn.compute "early" (%t: "T", %k: 8) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 8], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  // CHECK: attn.scan "T" {{.*}} axes [0, 0, 0, 0, 0, 0, 0, 0]
  // CHECK: attn.yield %next, %twoPlaces, %asked, %function, %quotient, %ofCarry, %next, %summed, %ofEarly :
  %s:9 = attn.scan "T" (%t) carries (%before = %zero : !attn.array<[8], f64>) axes [0, 0, 0, 0, 0, 0, 0, 0] {
    %twoPlaces = attn.compute "twoPlaces" (%g: 3, %k: 8) {
      %0 = attn.read %before[%k] : !attn.array<[8], f64>
      attn.yield %0 : f64
    } : !attn.array<[3, 8], f64>
    %asked = attn.compute "asked" (%k: 8) {
      %0 = attn.read %x[%t, %k] : !attn.array<["T", 8], f64>
      attn.yield %0 : f64
    } : !attn.array<[8], f64>
    %function = attn.compute "function" (%k: 8) {
      %0 = attn.read %x[%t, %k] : !attn.array<["T", 8], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[8], f64>
    %quotient = attn.compute "quotient" (%k: 8) {
      %0 = attn.read %x[%t, %k] : !attn.array<["T", 8], f64>
      %1 = attn.read %function[%k] : !attn.array<[8], f64>
      %2 = arith.divf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[8], f64>
    %ofCarry = attn.compute "ofCarry" (%k: 8) {
      %0 = attn.read %before[%k] : !attn.array<[8], f64>
      %1 = arith.negf %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[8], f64>
    %next = attn.compute "next" (%k: 8) {
      %0 = attn.read %quotient[%k] : !attn.array<[8], f64>
      %1 = attn.read %function[%k] : !attn.array<[8], f64>
      %2 = arith.addf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[8], f64>
    %summed = attn.compute "summed" (%k: 8) {
      %0 = attn.read %x[%t, %k] : !attn.array<["T", 8], f64>
      %1 = arith.negf %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[8], f64>
    %ofEarly = attn.compute "ofEarly" (%k: 8) {
      %0 = attn.read %early[%t, %k] : !attn.array<["T", 8], f64>
      %1 = arith.negf %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[8], f64>
    attn.yield %next, %twoPlaces, %asked, %function, %quotient, %ofCarry, %next, %summed, %ofEarly : !attn.array<[8], f64>, !attn.array<[3, 8], f64>, !attn.array<[8], f64>, !attn.array<[8], f64>, !attn.array<[8], f64>, !attn.array<[8], f64>, !attn.array<[8], f64>, !attn.array<[8], f64>, !attn.array<[8], f64>
  } : !attn.array<[8], f64>, !attn.array<["T", 3, 8], f64>, !attn.array<["T", 8], f64>, !attn.array<["T", 8], f64>, !attn.array<["T", 8], f64>, !attn.array<["T", 8], f64>, !attn.array<["T", 8], f64>, !attn.array<["T", 8], f64>, !attn.array<["T", 8], f64>
  %a = attn.compute "a" (%t: "T", %k: 8) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %0 = attn.read %s#1[%t, %c0, %k] : !attn.array<["T", 3, 8], f64>
    %1 = attn.read %s#1[%t, %c2, %k] : !attn.array<["T", 3, 8], f64>
    %2 = attn.read %s#3[%t, %k] : !attn.array<["T", 8], f64>
    %3 = attn.read %s#4[%t, %k] : !attn.array<["T", 8], f64>
    %4 = attn.read %s#5[%t, %k] : !attn.array<["T", 8], f64>
    %5 = attn.read %s#6[%t, %k] : !attn.array<["T", 8], f64>
    %6 = attn.read %s#8[%t, %k] : !attn.array<["T", 8], f64>
    %7 = arith.addf %0, %1 : f64
    %8 = arith.addf %7, %2 : f64
    %9 = arith.addf %8, %3 : f64
    %10 = arith.addf %9, %4 : f64
    %11 = arith.addf %10, %5 : f64
    %12 = arith.addf %11, %6 : f64
    attn.yield %12 : f64
  } : !attn.array<["T", 8], f64>
  %b = attn.compute "b" (%k: 8) sum (%t: "T") {
    %0 = attn.read %s#7[%t, %k] : !attn.array<["T", 8], f64>
    attn.yield %0 : f64
  } : !attn.array<[8], f64>
  attn.output "a" %a : !attn.array<["T", 8], f64>
  attn.output "b" %b : !attn.array<[8], f64>
  attn.output "asked" %s#2 : !attn.array<["T", 8], f64>
}

// Reads with boundary cases have another value where the row is not there.

// CHECK-LABEL: attn.program @cases
attn.program @cases {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 8], f64>
  %zero = attn.param "zero" : !attn.array<[8], f64>
  %start = attn.param "start" : !attn.array<[2, 8], f64>
  // CHECK: attn.scan "T" {{.*}} axes [0, 0]
  // CHECK: attn.yield %next, %rest, %pair :
  %s:3 = attn.scan "T" (%t) carries (%before = %zero : !attn.array<[8], f64>) axes [0, 0] {
    %rest = attn.compute "rest" (%k: 8) {
      %0 = attn.read %x[%t, %k] : !attn.array<["T", 8], f64>
      %1 = arith.negf %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[8], f64>
    %pair = attn.compute "pair" (%g: 2, %k: 8) {
      %0 = attn.read %before[%k] : !attn.array<[8], f64>
      attn.yield %0 : f64
    } : !attn.array<[2, 8], f64>
    %next = attn.compute "next" (%k: 8) {
      %0 = attn.read %rest[%k] : !attn.array<[8], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[8], f64>
    attn.yield %next, %rest, %pair : !attn.array<[8], f64>, !attn.array<[8], f64>, !attn.array<[2, 8], f64>
  } : !attn.array<[8], f64>, !attn.array<["T", 8], f64>, !attn.array<["T", 2, 8], f64>
  // CHECK: attn.compute "a"
  // CHECK: cases
  // CHECK: cases
  %a = attn.compute "a" (%t: "T", %k: 8) {
    %c1 = arith.constant 1 : index
    %0 = arith.subi %t, %c1 : index
    %1 = attn.read %s#1[%0, %k] cases [[[0, -1]]](%zero : !attn.array<[8], f64>) : !attn.array<["T", 8], f64>
    %2 = attn.read %s#2[%0, %c1, %k] cases [[[0, -1]]](%start : !attn.array<[2, 8], f64>) : !attn.array<["T", 2, 8], f64>
    %3 = arith.addf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["T", 8], f64>
  attn.output "a" %a : !attn.array<["T", 8], f64>
}
