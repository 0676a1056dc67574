// RUN: fovea-opt %s --attn-schedule --split-input-file | FileCheck %s

// A recurrent decoder: what does not depend on the sentence is the encoder,
// the state and the last symbol are carried and differ between hypotheses.

// CHECK-LABEL: attn.program @recurrent
// CHECK:       %[[KEYS:.*]] = attn.compute "keys" (%{{.*}}: "S")
// CHECK:       %[[R:.*]]:4 = attn.search "T"
// CHECK-SAME:    states [{kind = "carried", name = "s", reorder = true, window = 1 : i64}, {kind = "carried", name = "tgt", reorder = true, window = 1 : i64}]
// CHECK-SAME:    carries (%[[S:.*]] = %{{.*}} : !attn.array<[], f64>, %[[Y:.*]] = %{{.*}} : !attn.array<[], i64>) axes [0, 0]
// CHECK:         %[[ALIGN:.*]] = attn.compute "align" () softmax (%[[I:.*]]: "S") {
// CHECK-NEXT:      attn.read %[[S]][]
// CHECK-NEXT:      attn.read %[[KEYS]][%[[I]]]
// CHECK:         %[[S2:.*]] = attn.compute "s" () sum
// CHECK:           attn.read %[[Y]][]
// CHECK:         %[[L:.*]] = attn.compute "logits" (%{{.*}}: 5)
// CHECK:         %[[Y2:.*]] = attn.choice "tgt" categorical ["logits"](%[[L]] : !attn.array<[5], f64>) end 1 : i64 -> !attn.array<[], i64>
// CHECK:         %[[STOP:.*]] = attn.compute "stop"
// CHECK:         attn.mark "stop" %[[STOP]] : !attn.array<[], i1>
// CHECK:         attn.yield %[[S2]], %[[Y2]], %[[ALIGN]], %[[Y2]]
// CHECK:       %[[TOTAL:.*]] = attn.compute "total" (%{{.*}}: "S") sum (%{{.*}}: "T")
// CHECK:       attn.output "tgt" %[[R]]#3
// CHECK:       attn.output "align" %[[R]]#2
// CHECK:       attn.output "total" %[[TOTAL]]
attn.system @recurrent {
  attn.length "S"
  attn.length "T" open
  %src = attn.data "src" : !attn.array<["S"], f64>
  %keys = attn.compute "keys" (%i: "S") {
    %0 = attn.read %src[%i] : !attn.array<["S"], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["S"], f64>
  %begin = attn.compute "begin" () {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } : !attn.array<[], i64>
  %zero = attn.compute "zero" () {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %align = attn.compute "align" (%t: "T") softmax (%i: "S") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %s[%before] cases [[[0, -1]]] (%zero : !attn.array<[], f64>) : !attn.array<["T"], f64>
    %1 = attn.read %keys[%i] : !attn.array<["S"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  %s = attn.compute "s" (%t: "T") sum (%i: "S") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %align[%t, %i] : !attn.array<["T", "S"], f64>
    %1 = attn.read %y[%before] cases [[[0, -1]]] (%begin : !attn.array<[], i64>) : !attn.array<["T"], i64>
    %2 = arith.sitofp %1 : i64 to f64
    %3 = arith.addf %0, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["T"], f64>
  %logits = attn.compute "logits" (%t: "T", %v: 5) {
    %0 = attn.read %s[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 5], f64>
  %y = attn.choice "tgt" categorical ["logits"] (%logits : !attn.array<["T", 5], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  %stop = attn.compute "stop" (%t: "T") {
    %three = arith.constant 3 : i64
    %0 = attn.read %y[%t] : !attn.array<["T"], i64>
    %1 = arith.cmpi eq, %0, %three : i64
    attn.yield %1 : i1
  } : !attn.array<["T"], i1>
  attn.mark "stop" %stop : !attn.array<["T"], i1>
  %total = attn.compute "total" (%i: "S") sum (%t: "T") {
    %0 = attn.read %align[%t, %i] : !attn.array<["T", "S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  attn.output "tgt" %y : !attn.array<["T"], i64>
  attn.output "align" %align : !attn.array<["T", "S"], f64>
  attn.output "total" %total : !attn.array<["S"], f64>
}

// -----

// Causal attention: exactly the keys and values grow. Scores over [T, T] take
// the time of their reader; positions are computed for this step, and are the
// same for every hypothesis.

// CHECK-LABEL: attn.program @attention
// CHECK:       attn.search "T" states [
// CHECK-SAME:    {kind = "carried", name = "y", reorder = true, window = 1 : i64}
// CHECK-SAME:    {kind = "growing", name = "key", reorder = true, window = 0 : i64}
// CHECK-SAME:    {kind = "growing", name = "value", reorder = true, window = 0 : i64}]
// CHECK:         attn.compute "wave" (%{{.*}}: 4)
// CHECK:         %[[KEY:.*]] = attn.compute "key" (%{{.*}}: 4)
// CHECK:         %[[KEYS:.*]] = attn.append %{{.*}}[%[[T:.*]]] axis 0 = %[[KEY]]
// CHECK:         attn.compute "score" (%[[U:.*]]: "T") sum (%{{.*}}: 4) where {
// CHECK-NEXT:      arith.cmpi sle, %[[U]], %[[T]]
// CHECK:           attn.read %[[KEYS]][%[[U]]
// CHECK:         attn.compute "a" () softmax (%{{.*}}: "T") where
attn.system @attention {
  attn.length "T" open
  %emb = attn.param "emb" : !attn.array<[7, 4], f64>
  %begin = attn.compute "begin" () {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } : !attn.array<[], i64>
  %wave = attn.compute "wave" (%t: "T", %k: 4) {
    %0 = arith.index_cast %t : index to i64
    %1 = arith.sitofp %0 : i64 to f64
    %2 = math.sin %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 4], f64>
  %x = attn.compute "x" (%t: "T", %k: 4) {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %y[%before] cases [[[0, -1]]] (%begin : !attn.array<[], i64>) : !attn.array<["T"], i64>
    %at = arith.index_cast %0 : i64 to index
    %1 = attn.read %emb[%at, %k] : !attn.array<[7, 4], f64>
    %2 = attn.read %wave[%t, %k] : !attn.array<["T", 4], f64>
    %3 = arith.addf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["T", 4], f64>
  %key = attn.compute "key" (%t: "T", %k: 4) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 4], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 4], f64>
  %value = attn.compute "value" (%t: "T", %k: 4) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 4], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 4], f64>
  %score = attn.compute "score" (%t: "T", %u: "T") sum (%k: 4) where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 4], f64>
    %1 = attn.read %key[%u, %k] : !attn.array<["T", 4], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %a = attn.compute "a" (%t: "T") softmax (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %score[%t, %u] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "T"], f64>
  %c = attn.compute "c" (%t: "T", %k: 4) sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %a[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %value[%u, %k] : !attn.array<["T", 4], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 4], f64>
  %y = attn.choice "y" categorical ["logits"] (%c : !attn.array<["T", 4], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "y" %y : !attn.array<["T"], i64>
}

// -----

// Tagging: the length is given. What does not depend on the tags is computed
// before over all positions; a choice that nobody reads back is no search.

// CHECK-LABEL: attn.program @tagging
// CHECK:       %[[X:.*]] = attn.compute "x" (%{{.*}}: "T", %{{.*}}: 3)
// CHECK:       %[[R:.*]]:2 = attn.search "T" states [{kind = "carried", name = "tag", reorder = true, window = 1 : i64}] known
// CHECK:         %[[P:.*]] = attn.compute "p" (%{{.*}}: 3)
// CHECK:         attn.choice "tag" categorical ["logits"](%[[P]] : !attn.array<[3], f64>)
// CHECK:       %[[Q:.*]] = attn.compute "q" (%{{.*}}: "T", %{{.*}}: 3)
// CHECK:       %[[CASE:.*]] = attn.choice "case" categorical ["logits"](%[[Q]] : !attn.array<["T", 3], f64>) -> !attn.array<["T"], i64>
// CHECK:       attn.output "case" %[[CASE]]
attn.system @tagging {
  attn.length "T"
  %word = attn.data "word" : !attn.array<["T"], f64>
  %x = attn.compute "x" (%t: "T", %k: 3) {
    %0 = attn.read %word[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 3], f64>
  %p = attn.compute "p" (%t: "T", %k: 3) {
    %none = arith.constant 0 : i64
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 3], f64>
    %1 = attn.read %tag[%before] default %none : i64 : !attn.array<["T"], i64>
    %2 = arith.sitofp %1 : i64 to f64
    %3 = arith.addf %0, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["T", 3], f64>
  %tag = attn.choice "tag" categorical ["logits"] (%p : !attn.array<["T", 3], f64>) -> !attn.array<["T"], i64>
  %q = attn.compute "q" (%t: "T", %k: 3) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 3], f64>
    %1 = attn.read %tag[%t] : !attn.array<["T"], i64>
    %2 = arith.sitofp %1 : i64 to f64
    %3 = arith.addf %0, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["T", 3], f64>
  %case = attn.choice "case" categorical ["logits"] (%q : !attn.array<["T", 3], f64>) -> !attn.array<["T"], i64>
  attn.output "tag" %tag : !attn.array<["T"], i64>
  attn.output "case" %case : !attn.array<["T"], i64>
}

// -----

// A pointer: the choice is a place of the source, and what was chosen before
// must not be chosen again: the whole history grows, and the mark joins the
// step. Two names of one step are generated in the order of their reads.

// CHECK-LABEL: attn.program @pointer
// CHECK:       attn.search "T" states [
// CHECK-SAME:    name = "lift"
// CHECK-SAME:    {kind = "growing", name = "out", reorder = true, window = 0 : i64}
// CHECK:         %[[LIFT:.*]] = attn.choice "lift" bernoulli
// CHECK:         %[[ENERGY:.*]] = attn.compute "energy" (%{{.*}}: "N")
// CHECK-NEXT:      attn.read %[[LIFT]][]
// CHECK:         %[[OUT:.*]] = attn.choice "out" categorical ["logits"](%[[ENERGY]] : !attn.array<["N"], f64>) end "N" -> !attn.array<[], i64>
// CHECK:         %[[OK:.*]] = attn.compute "valid" () all (%[[U:.*]]: "T") where {
// CHECK:           attn.read %[[HISTORY:.*]][%[[U]]]
// CHECK-NEXT:      attn.read %[[OUT]][]
// CHECK:         attn.mark "valid" %[[OK]]
// CHECK:         attn.append %[[HISTORY]]
attn.system @pointer {
  attn.length "N"
  attn.length "T" open
  %point = attn.data "point" : !attn.array<["N"], f64>
  %p = attn.compute "p" (%t: "T") {
    %no = arith.constant false
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %lift[%before] default %no : i1 : !attn.array<["T"], i1>
    %1 = arith.uitofp %0 : i1 to f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %energy = attn.compute "energy" (%t: "T", %i: "N") {
    %0 = attn.read %lift[%t] : !attn.array<["T"], i1>
    %1 = attn.read %point[%i] : !attn.array<["N"], f64>
    %2 = arith.uitofp %0 : i1 to f64
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["T", "N"], f64>
  %out = attn.choice "out" categorical ["logits"] (%energy : !attn.array<["T", "N"], f64>) end "N" -> !attn.array<["T"], i64>
  %lift = attn.choice "lift" bernoulli ["logit"] (%p : !attn.array<["T"], f64>) -> !attn.array<["T"], i1>
  %valid = attn.compute "valid" (%t: "T") all (%u: "T") where {
    %0 = arith.cmpi slt, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %out[%u] : !attn.array<["T"], i64>
    %1 = attn.read %out[%t] : !attn.array<["T"], i64>
    %2 = arith.cmpi ne, %0, %1 : i64
    attn.yield %2 : i1
  } : !attn.array<["T"], i1>
  attn.mark "valid" %valid : !attn.array<["T"], i1>
  attn.output "out" %out : !attn.array<["T"], i64>
}

// -----

// Two generated names in sequence: the second reads all of the first, whose
// length is then known.

// CHECK-LABEL: attn.program @sequence
// CHECK:       %[[FIRST:.*]]:2 = attn.search "T"
// CHECK:       %[[MEAN:.*]] = attn.compute "m" () mean (%[[U:.*]]: "T") {
// CHECK-NEXT:    attn.read %[[FIRST]]#1[%[[U]]]
// CHECK:       attn.search "U"
// CHECK:         attn.read %[[MEAN]][]
attn.system @sequence {
  attn.length "T" open
  attn.length "U" open
  %p = attn.compute "p" (%t: "T") {
    %no = arith.constant 0.0 : f64
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %a[%before] default %no : f64 : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %a = attn.choice "a" normal ["mean", "sd"] (%p, %p : !attn.array<["T"], f64>, !attn.array<["T"], f64>) -> !attn.array<["T"], f64>
  %m = attn.compute "m" () mean (%t: "T") {
    %0 = attn.read %a[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %q = attn.compute "q" (%t: "U") {
    %no = arith.constant 0.0 : f64
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %b[%before] default %no : f64 : !attn.array<["U"], f64>
    %1 = attn.read %m[] : !attn.array<[], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["U"], f64>
  %b = attn.choice "b" normal ["mean", "sd"] (%q, %q : !attn.array<["U"], f64>, !attn.array<["U"], f64>) -> !attn.array<["U"], f64>
  attn.output "b" %b : !attn.array<["U"], f64>
}

// -----

// What is as long as the generated sentence comes after the search, even if
// it needs nothing of it.

// CHECK-LABEL: attn.program @behind
// CHECK:       attn.search "T"
// CHECK:       %[[PLACE:.*]] = attn.compute "place" (%{{.*}}: "T")
// CHECK:       attn.output "place" %[[PLACE]]
attn.system @behind {
  attn.length "T" open
  %place = attn.compute "place" (%t: "T") {
    %0 = arith.index_cast %t : index to i64
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %l = attn.compute "l" (%t: "T") {
    %0 = arith.constant 1.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %tgt = attn.choice "tgt" normal ["mean", "sd"] (%l, %l : !attn.array<["T"], f64>, !attn.array<["T"], f64>) -> !attn.array<["T"], f64>
  attn.output "place" %place : !attn.array<["T"], f64>
  attn.output "tgt" %tgt : !attn.array<["T"], f64>
}
