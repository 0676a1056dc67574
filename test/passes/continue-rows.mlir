// RUN: fovea-opt %s --split-input-file --attn-continue-rows | FileCheck %s

// The row after the last: what it reads of the row before is given, what it
// reads of itself is generated, and its index is the number of the given rows.
// Its own latent choice stands beside the data; those of the given rows, which
// nothing reads, are gone, and what is shown, or judged, is what the row has.

// CHECK-LABEL: attn.system @decoding
// CHECK-DAG:     attn.length "W" over "D"
// CHECK-DAG:     attn.length "W[D]" open
// CHECK-DAG:     %[[SAID:.*]] = attn.data "said"
// CHECK-DAG:     %[[LAST:.*]] = attn.compute "last" (%{{.*}}: "D")
// CHECK-DAG:     %[[Z:.*]] = attn.choice "z" bernoulli ["prob"](%[[PRIOR:.*]] : !attn.array<[], f64>) latent treated {kind = "mode"} -> !attn.array<[], i1>
// CHECK-DAG:     %[[START:.*]] = attn.compute "start" () {
// CHECK-DAG:     %[[STATE:.*]] = attn.compute "state" (%[[J:.*]]: "W[D]") {
// CHECK-DAG:     %[[Y:.*]] = attn.choice "said" categorical ["logits"](%[[L:.*]] : !attn.array<["W[D]", 3], f64>) end 1 : i64 {attn.continued} -> !attn.array<["W[D]"], i64>
// CHECK-DAG:     %[[FINE:.*]] = attn.compute "fine" (%{{.*}}: "W[D]") {
// CHECK-DAG:     attn.mark "valid" %[[FINE]] : !attn.array<["W[D]"], i1>
// CHECK-DAG:     attn.equation "state" %[[STATE]]
// CHECK-DAG:     attn.equation "last" %[[LAST]]
// CHECK-NOT:     observed
attn.system @decoding {
  attn.length "D"
  attn.length "W" over "D"
  %said = attn.data "said" : !attn.array<["D", "W"], i64>
  %zero = attn.param "zero" : !attn.array<[], f64>
  %last = attn.compute "last" (%d: "D") sum (%j: "W") {
    %0 = attn.read %said[%d, %j] : !attn.array<["D", "W"], i64>
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["D"], f64>
  %prior = attn.compute "prior" (%d: "D") {
    %one = arith.constant 1 : index
    %before = arith.subi %d, %one : index
    %0 = attn.read %last[%before] cases [[[0, -1]]] (%zero : !attn.array<[], f64>) : !attn.array<["D"], f64>
    attn.yield %0 : f64
  } : !attn.array<["D"], f64>
  %z = attn.choice "z" bernoulli ["prob"] (%prior : !attn.array<["D"], f64>) latent treated {kind = "mode"} -> !attn.array<["D"], i1>
  %start = attn.compute "start" (%d: "D") {
    %0 = attn.read %z[%d] : !attn.array<["D"], i1>
    %1 = arith.index_cast %d : index to i64
    %2 = arith.sitofp %1 : i64 to f64
    %3 = attn.read %prior[%d] : !attn.array<["D"], f64>
    %4 = arith.select %0, %2, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["D"], f64>
  %state = attn.compute "state" (%d: "D", %j: "W") {
    %one = arith.constant 1 : index
    %before = arith.subi %j, %one : index
    %0 = attn.read %state[%d, %before] cases [[[1, -1]]] (%start : !attn.array<["D"], f64>) : !attn.array<["D", "W"], f64>
    attn.yield %0 : f64
  } : !attn.array<["D", "W"], f64>
  %logits = attn.compute "logits" (%d: "D", %j: "W", %k: 3) {
    %0 = attn.read %state[%d, %j] : !attn.array<["D", "W"], f64>
    attn.yield %0 : f64
  } : !attn.array<["D", "W", 3], f64>
  attn.choice "said" categorical ["logits"] (%logits : !attn.array<["D", "W", 3], f64>) observed %said : !attn.array<["D", "W"], i64> end 1 : i64 {attn.continued}
  %fine = attn.compute "fine" (%d: "D", %j: "W") {
    %0 = attn.read %said[%d, %j] : !attn.array<["D", "W"], i64>
    %1 = arith.trunci %0 : i64 to i1
    attn.yield %1 : i1
  } : !attn.array<["D", "W"], i1>
  attn.mark "valid" %fine : !attn.array<["D", "W"], i1>
  attn.equation "state" %state : !attn.array<["D", "W"], f64>
  attn.equation "last" %last : !attn.array<["D"], f64>
}

// -----

// Must not fire: what is observed stays what it is.

// CHECK-LABEL: attn.system @decoding
// CHECK-NOT:     open
// CHECK:         attn.choice "said" {{.*}} observed %said
attn.system @decoding {
  attn.length "D"
  attn.length "W" over "D"
  %said = attn.data "said" : !attn.array<["D", "W"], i64>
  %logits = attn.param "logits" : !attn.array<["D", "W", 3], f64>
  attn.choice "said" categorical ["logits"] (%logits : !attn.array<["D", "W", 3], f64>) observed %said : !attn.array<["D", "W"], i64> end 1 : i64
}
