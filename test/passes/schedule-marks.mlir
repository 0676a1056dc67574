// RUN: fovea-opt %s --attn-schedule --split-input-file | FileCheck %s

// A mark `valid` of each place judges it where it is chosen: the mark, and what
// it needs, go into the loop of the choice. What the mark does not need stays.

// CHECK-LABEL: attn.program @place
// CHECK:       attn.search "T"
// CHECK:         attn.scan "S" (%{{.*}}) carries (%[[BEFORE:.*]] =
// CHECK:           %[[TAG:.*]] = attn.choice "tag"
// CHECK-NEXT:      %[[NEW:.*]] = attn.compute "new" ()
// CHECK:             attn.read %[[BEFORE]][]
// CHECK:             attn.read %[[TAG]][]
// CHECK:           %[[VALID:.*]] = attn.compute "valid" ()
// CHECK:             attn.read %[[NEW]][]
// CHECK:           attn.mark "valid" %[[VALID]] : !attn.array<[], i1>
// CHECK-NEXT:      attn.yield %[[TAG]], %[[TAG]]
// CHECK:         attn.compute "stop" () any
// CHECK:         attn.mark "stop"
attn.system @place {
  attn.length "T"
  attn.length "S"
  %w = attn.param "w" : !attn.array<[5, 5], f64>
  %logits = attn.compute "logits" (%t: "T", %j: "S", %v: 5) {
    %no = arith.constant 0 : i64
    %one = arith.constant 1 : index
    %0 = arith.subi %j, %one : index
    %1 = attn.read %tag[%t, %0] default %no : i64 : !attn.array<["T", "S"], i64>
    %2 = arith.index_cast %1 : i64 to index
    %3 = attn.read %w[%2, %v] : !attn.array<[5, 5], f64>
    attn.yield %3 : f64
  } : !attn.array<["T", "S", 5], f64>
  %tag = attn.choice "tag" categorical ["logits"] (%logits : !attn.array<["T", "S", 5], f64>) -> !attn.array<["T", "S"], i64>
  %new = attn.compute "new" (%t: "T", %j: "S") {
    %no = arith.constant 0 : i64
    %one = arith.constant 1 : index
    %0 = arith.subi %j, %one : index
    %1 = attn.read %tag[%t, %0] default %no : i64 : !attn.array<["T", "S"], i64>
    %2 = attn.read %tag[%t, %j] : !attn.array<["T", "S"], i64>
    %3 = arith.cmpi ne, %1, %2 : i64
    attn.yield %3 : i1
  } : !attn.array<["T", "S"], i1>
  %valid = attn.compute "valid" (%t: "T", %j: "S") {
    %one = arith.constant true
    %zero = arith.constant 0 : index
    %0 = arith.cmpi eq, %j, %zero : index
    %1 = attn.read %new[%t, %j] : !attn.array<["T", "S"], i1>
    %2 = arith.ori %0, %1 : i1
    attn.yield %2 : i1
  } : !attn.array<["T", "S"], i1>
  attn.mark "valid" %valid : !attn.array<["T", "S"], i1>
  %stop = attn.compute "stop" (%t: "T") any (%j: "S") {
    %two = arith.constant 2 : i64
    %0 = attn.read %tag[%t, %j] : !attn.array<["T", "S"], i64>
    %1 = arith.cmpi eq, %0, %two : i64
    attn.yield %1 : i1
  } : !attn.array<["T"], i1>
  attn.mark "stop" %stop : !attn.array<["T"], i1>
  attn.output "tag" %tag : !attn.array<["T", "S"], i64>
}

// -----

// Choices that do not depend on one another get a loop for it, and so does a
// search; a running number is counted in the loop.

// CHECK-LABEL: attn.program @alone
// CHECK:       attn.search "T"
// CHECK:         attn.scan "S" (%{{.*}}) carries (%[[BEFORE:.*]] =
// CHECK:           %[[TAG:.*]] = attn.choice "tag"
// CHECK:           %[[COUNT:.*]] = attn.compute "count" ()
// CHECK-DAG:         attn.read %[[BEFORE]][]
// CHECK-DAG:         attn.read %[[TAG]][]
// CHECK:           %[[VALID:.*]] = attn.compute "valid" ()
// CHECK-NEXT:        arith.constant 3
// CHECK-NEXT:        attn.read %[[COUNT]][]
// CHECK:           attn.mark "valid" %[[VALID]]
// CHECK-NEXT:      attn.yield %[[COUNT]], %[[TAG]]
attn.system @alone {
  attn.length "T"
  attn.length "S"
  %x = attn.data "x" : !attn.array<["T", "S", 5], f64>
  %tag = attn.choice "tag" categorical ["logits"] (%x : !attn.array<["T", "S", 5], f64>) -> !attn.array<["T", "S"], i64>
  %count = attn.compute "count" (%t: "T", %j: "S") {
    %no = arith.constant 0 : i64
    %one = arith.constant 1 : index
    %0 = arith.subi %j, %one : index
    %1 = attn.read %count[%t, %0] default %no : i64 : !attn.array<["T", "S"], i64>
    %2 = attn.read %tag[%t, %j] : !attn.array<["T", "S"], i64>
    %3 = arith.addi %1, %2 : i64
    attn.yield %3 : i64
  } : !attn.array<["T", "S"], i64>
  %valid = attn.compute "valid" (%t: "T", %j: "S") {
    %three = arith.constant 3 : i64
    %0 = attn.read %count[%t, %j] : !attn.array<["T", "S"], i64>
    %1 = arith.cmpi slt, %0, %three : i64
    attn.yield %1 : i1
  } : !attn.array<["T", "S"], i1>
  attn.mark "valid" %valid : !attn.array<["T", "S"], i1>
  attn.output "tag" %tag : !attn.array<["T", "S"], i64>
}

// -----

// A mark that needs later places stays after them, and they keep together.

// CHECK-LABEL: attn.program @later
// CHECK:       attn.search "T"
// CHECK-NOT:     attn.scan
// CHECK:         %[[TAG:.*]] = attn.choice "tag" {{.*}} -> !attn.array<["S"], i64>
// CHECK:         %[[VALID:.*]] = attn.compute "valid" (%{{.*}}: "S")
// CHECK:         attn.mark "valid" %[[VALID]] : !attn.array<["S"], i1>
attn.system @later {
  attn.length "T"
  attn.length "S"
  %x = attn.data "x" : !attn.array<["T", "S", 5], f64>
  %tag = attn.choice "tag" categorical ["logits"] (%x : !attn.array<["T", "S", 5], f64>) -> !attn.array<["T", "S"], i64>
  %sum = attn.compute "sum" (%t: "T") sum (%j: "S") {
    %0 = attn.read %tag[%t, %j] : !attn.array<["T", "S"], i64>
    attn.yield %0 : i64
  } : !attn.array<["T"], i64>
  %valid = attn.compute "valid" (%t: "T", %j: "S") {
    %0 = attn.read %sum[%t] : !attn.array<["T"], i64>
    %1 = attn.read %tag[%t, %j] : !attn.array<["T", "S"], i64>
    %2 = arith.cmpi ne, %0, %1 : i64
    attn.yield %2 : i1
  } : !attn.array<["T", "S"], i1>
  attn.mark "valid" %valid : !attn.array<["T", "S"], i1>
  attn.output "tag" %tag : !attn.array<["T", "S"], i64>
}

// -----

// Choices that depend on nothing else are searched step by step where a mark judges each.

// CHECK-LABEL: attn.program @line
// CHECK:       attn.search "S" states [] known
// CHECK:         %[[TAG:.*]] = attn.choice "tag"
// CHECK:         %[[VALID:.*]] = attn.compute "valid" () {
// CHECK:           attn.read %[[TAG]][]
// CHECK:         attn.mark "valid" %[[VALID]] : !attn.array<[], i1>
// CHECK-NEXT:    attn.yield %[[TAG]]
attn.system @line {
  attn.length "S"
  %logits = attn.param "w" : !attn.array<["S", 5], f64>
  %tag = attn.choice "tag" categorical ["logits"] (%logits : !attn.array<["S", 5], f64>) -> !attn.array<["S"], i64>
  %valid = attn.compute "valid" (%j: "S") {
    %two = arith.constant 2 : i64
    %0 = attn.read %tag[%j] : !attn.array<["S"], i64>
    %1 = arith.cmpi ne, %0, %two : i64
    attn.yield %1 : i1
  } : !attn.array<["S"], i1>
  attn.mark "valid" %valid : !attn.array<["S"], i1>
  attn.output "tag" %tag : !attn.array<["S"], i64>
}
