// RUN: fovea-opt %s --split-input-file --attn-schedule | FileCheck %s
// RUN: fovea-opt %s --split-input-file --attn-schedule=explain -o /dev/null | FileCheck %s --check-prefix=EXPLAIN

// What a search keeps of arrays of which a step reads every place so far.

// A sum of what does not look at the step: what it was, plus one place.

// EXPLAIN:      @decode
// EXPLAIN:          per step: x, logits
// EXPLAIN-NEXT:     carried: y (last 1)
// EXPLAIN-NEXT:     accumulator: c
// EXPLAIN-NEXT:     reordered: c, y
// CHECK-LABEL: attn.program @decode
// CHECK:         attn.search "T" states [{kind = "carried", name = "y", reorder = true, window = 1 : i64}, {kind = "accumulator", name = "c", reorder = true, window = 1 : i64}]
// CHECK-SAME:      (%[[T:.*]]) carries (%{{.*}} = %{{.*}}, %[[SOFAR:.*]] = %
// CHECK:           %[[PART:.*]] = attn.compute ()
// CHECK-NEXT:        attn.read %x[]
// CHECK:           %c = attn.compute "c" ()
// CHECK-NEXT:        %[[A:.*]] = attn.read %[[SOFAR]][]
// CHECK-NEXT:        %[[B:.*]] = attn.read %[[PART]][]
// CHECK-NEXT:        arith.addf %[[A]], %[[B]]
attn.system @decode {
  attn.length "T" open
  %begin = attn.compute "begin" () {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } : !attn.array<[], i64>
  %x = attn.compute "x" (%t: "T") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %y[%before] cases [[[0, -1]]] (%begin : !attn.array<[], i64>) : !attn.array<["T"], i64>
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %c = attn.compute "c" (%t: "T") sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %x[%u] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %logits = attn.compute "logits" (%t: "T", %v: 4) {
    %0 = attn.read %c[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 4], f64>
  %y = attn.choice "y" categorical ["logits"] (%logits : !attn.array<["T", 4], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "y" %y : !attn.array<["T"], i64>
}

// -----

// A largest value starts with what any other is larger than.

// CHECK-LABEL: attn.program @decode
// CHECK:         arith.constant 0xFFF0000000000000
// CHECK:         {kind = "accumulator", name = "c"
// CHECK:           arith.maximumf
attn.system @decode {
  attn.length "T" open
  %begin = attn.compute "begin" () {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } : !attn.array<[], i64>
  %x = attn.compute "x" (%t: "T") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %y[%before] cases [[[0, -1]]] (%begin : !attn.array<[], i64>) : !attn.array<["T"], i64>
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %c = attn.compute "c" (%t: "T") max (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %x[%u] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %logits = attn.compute "logits" (%t: "T", %v: 4) {
    %0 = attn.read %c[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 4], f64>
  %y = attn.choice "y" categorical ["logits"] (%logits : !attn.array<["T", 4], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "y" %y : !attn.array<["T"], i64>
}

// -----

// A mean is a sum by the number of places.

// CHECK-LABEL: attn.program @decode
// CHECK:         {kind = "accumulator", name = "c"
// CHECK-NOT:     mean
// CHECK:           arith.divf
attn.system @decode {
  attn.length "T" open
  %begin = attn.compute "begin" () {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } : !attn.array<[], i64>
  %x = attn.compute "x" (%t: "T") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %y[%before] cases [[[0, -1]]] (%begin : !attn.array<[], i64>) : !attn.array<["T"], i64>
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %c = attn.compute "c" (%t: "T") mean (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %x[%u] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %logits = attn.compute "logits" (%t: "T", %v: 4) {
    %0 = attn.read %c[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 4], f64>
  %y = attn.choice "y" categorical ["logits"] (%logits : !attn.array<["T", 4], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "y" %y : !attn.array<["T"], i64>
}

// -----

// Not: a body that looks at the step.

// CHECK-LABEL: attn.program @decode
// CHECK:         attn.search "T" states [{kind = "carried", name = "y", reorder = true, window = 1 : i64}, {kind = "growing", name = "x", reorder = true, window = 0 : i64}]
// CHECK:           %c = attn.compute "c" () sum (%{{.*}}: "T")
attn.system @decode {
  attn.length "T" open
  %begin = attn.compute "begin" () {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } : !attn.array<[], i64>
  %x = attn.compute "x" (%t: "T") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %y[%before] cases [[[0, -1]]] (%begin : !attn.array<[], i64>) : !attn.array<["T"], i64>
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %c = attn.compute "c" (%t: "T") sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %x[%u] : !attn.array<["T"], f64>
    %1 = attn.read %x[%t] : !attn.array<["T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %logits = attn.compute "logits" (%t: "T", %v: 4) {
    %0 = attn.read %c[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 4], f64>
  %y = attn.choice "y" categorical ["logits"] (%logits : !attn.array<["T", 4], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "y" %y : !attn.array<["T"], i64>
}

// -----

// Not: a reduction that no single number continues.

// CHECK-LABEL: attn.program @decode
// CHECK:         attn.search "T" states [{kind = "carried", name = "y", reorder = true, window = 1 : i64}, {kind = "growing", name = "x", reorder = true, window = 0 : i64}]
// CHECK:           logsumexp
attn.system @decode {
  attn.length "T" open
  %begin = attn.compute "begin" () {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } : !attn.array<[], i64>
  %x = attn.compute "x" (%t: "T") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %y[%before] cases [[[0, -1]]] (%begin : !attn.array<[], i64>) : !attn.array<["T"], i64>
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %c = attn.compute "c" (%t: "T") logsumexp (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %x[%u] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %logits = attn.compute "logits" (%t: "T", %v: 4) {
    %0 = attn.read %c[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 4], f64>
  %y = attn.choice "y" categorical ["logits"] (%logits : !attn.array<["T", 4], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "y" %y : !attn.array<["T"], i64>
}

// -----

// Not: a product of some of the places, which a place that does not count
// would have to leave as it is.

// CHECK-LABEL: attn.program @decode
// CHECK:         attn.search "T" states [{kind = "carried", name = "y", reorder = true, window = 1 : i64}, {kind = "growing", name = "x", reorder = true, window = 0 : i64}]
attn.system @decode {
  attn.length "T" open
  %begin = attn.compute "begin" () {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } : !attn.array<[], i64>
  %x = attn.compute "x" (%t: "T") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %y[%before] cases [[[0, -1]]] (%begin : !attn.array<[], i64>) : !attn.array<["T"], i64>
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %c = attn.compute "c" (%t: "T") prod (%u: "T") where {
    %zero = arith.constant 0.0 : f64
    %0 = arith.cmpi sle, %u, %t : index
    %1 = attn.read %x[%u] : !attn.array<["T"], f64>
    %2 = arith.cmpf ogt, %1, %zero : f64
    %3 = arith.andi %0, %2 : i1
    attn.yield %3 : i1
  } {
    %0 = attn.read %x[%u] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %logits = attn.compute "logits" (%t: "T", %v: 4) {
    %0 = attn.read %c[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 4], f64>
  %y = attn.choice "y" categorical ["logits"] (%logits : !attn.array<["T", 4], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "y" %y : !attn.array<["T"], i64>
}

// -----

// A sum over the last three places: a window of them, shifted at each step.

// EXPLAIN:          window: x (last 3)
// EXPLAIN-NEXT:     reordered: x, y
// CHECK-LABEL: attn.program @decode
// CHECK:         attn.search "T" states [{kind = "carried", name = "y", reorder = true, window = 1 : i64}, {kind = "window", name = "x", reorder = true, window = 3 : i64}]
// CHECK-SAME:      carries (%{{.*}} = %{{.*}}, %[[BEFORE:.*]] = %{{.*}} : !attn.array<[3], f64>)
// CHECK:           %[[KEPT:.*]] = attn.compute "x" (%[[BACK:.*]]: 3)
// CHECK:             attn.read %x[]
// CHECK:             attn.read %[[BEFORE]]
// CHECK:           attn.compute "c" () sum
// CHECK:             attn.read %[[KEPT]]
attn.system @decode {
  attn.length "T" open
  %begin = attn.compute "begin" () {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } : !attn.array<[], i64>
  %x = attn.compute "x" (%t: "T") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %y[%before] cases [[[0, -1]]] (%begin : !attn.array<[], i64>) : !attn.array<["T"], i64>
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %c = attn.compute "c" (%t: "T") sum (%u: "T") where {
    %k = arith.constant 2 : index
    %0 = arith.cmpi sle, %u, %t : index
    %1 = arith.addi %u, %k : index
    %2 = arith.cmpi sle, %t, %1 : index
    %3 = arith.andi %0, %2 : i1
    attn.yield %3 : i1
  } {
    %0 = attn.read %x[%u] : !attn.array<["T"], f64>
    %1 = attn.read %x[%t] : !attn.array<["T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %logits = attn.compute "logits" (%t: "T", %v: 4) {
    %0 = attn.read %c[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 4], f64>
  %y = attn.choice "y" categorical ["logits"] (%logits : !attn.array<["T", 4], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "y" %y : !attn.array<["T"], i64>
}

// -----

// Without the present place: two places of the step before.

// CHECK-LABEL: attn.program @decode
// CHECK:         attn.search "T" states [{kind = "carried", name = "y", reorder = true, window = 1 : i64}, {kind = "window", name = "x", reorder = true, window = 2 : i64}]
// CHECK-SAME:      carries (%{{.*}} = %{{.*}}, %[[BEFORE:.*]] = %{{.*}} : !attn.array<[2], f64>)
// CHECK:           attn.compute "c" () sum
// CHECK:             attn.read %[[BEFORE]]
attn.system @decode {
  attn.length "T" open
  %begin = attn.compute "begin" () {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } : !attn.array<[], i64>
  %x = attn.compute "x" (%t: "T") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %y[%before] cases [[[0, -1]]] (%begin : !attn.array<[], i64>) : !attn.array<["T"], i64>
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %c = attn.compute "c" (%t: "T") sum (%u: "T") where {
    %k = arith.constant 2 : index
    %0 = arith.cmpi slt, %u, %t : index
    %1 = arith.addi %u, %k : index
    %2 = arith.cmpi sle, %t, %1 : index
    %3 = arith.andi %0, %2 : i1
    attn.yield %3 : i1
  } {
    %0 = attn.read %x[%u] : !attn.array<["T"], f64>
    %1 = attn.read %x[%t] : !attn.array<["T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %logits = attn.compute "logits" (%t: "T", %v: 4) {
    %0 = attn.read %c[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 4], f64>
  %y = attn.choice "y" categorical ["logits"] (%logits : !attn.array<["T", 4], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "y" %y : !attn.array<["T"], i64>
}

// -----

// Not: one more reader that looks at everything so far.

// CHECK-LABEL: attn.program @decode
// CHECK:         attn.search "T" states [{kind = "carried", name = "y", reorder = true, window = 1 : i64}, {kind = "growing", name = "x", reorder = true, window = 0 : i64}]
attn.system @decode {
  attn.length "T" open
  %begin = attn.compute "begin" () {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } : !attn.array<[], i64>
  %x = attn.compute "x" (%t: "T") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %y[%before] cases [[[0, -1]]] (%begin : !attn.array<[], i64>) : !attn.array<["T"], i64>
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %near = attn.compute "near" (%t: "T") sum (%u: "T") where {
    %k = arith.constant 2 : index
    %0 = arith.cmpi sle, %u, %t : index
    %1 = arith.addi %u, %k : index
    %2 = arith.cmpi sle, %t, %1 : index
    %3 = arith.andi %0, %2 : i1
    attn.yield %3 : i1
  } {
    %0 = attn.read %x[%u] : !attn.array<["T"], f64>
    %1 = attn.read %x[%t] : !attn.array<["T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %all = attn.compute "all" (%t: "T") softmax (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %x[%u] : !attn.array<["T"], f64>
    %1 = attn.read %x[%t] : !attn.array<["T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %c = attn.compute "c" (%t: "T") {
    %0 = attn.read %near[%t] : !attn.array<["T"], f64>
    %1 = attn.read %all[%t, %t] : !attn.array<["T", "T"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %logits = attn.compute "logits" (%t: "T", %v: 4) {
    %0 = attn.read %c[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 4], f64>
  %y = attn.choice "y" categorical ["logits"] (%logits : !attn.array<["T", 4], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "y" %y : !attn.array<["T"], i64>
}

// -----

// The difference of the step and an index of a fixed range is bounded, too.

// CHECK-LABEL: attn.program @decode
// CHECK:         attn.search "T" states [{kind = "carried", name = "y", reorder = true, window = 1 : i64}, {kind = "window", name = "x", reorder = true, window = 3 : i64}]
attn.system @decode {
  attn.length "T" open
  %begin = attn.compute "begin" () {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } : !attn.array<[], i64>
  %x = attn.compute "x" (%t: "T") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %y[%before] cases [[[0, -1]]] (%begin : !attn.array<[], i64>) : !attn.array<["T"], i64>
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %c = attn.compute "c" (%t: "T") sum (%j: 3) {
    %zero = arith.constant 0.0 : f64
    %place = arith.subi %t, %j : index
    %0 = attn.read %x[%place] default %zero : f64 : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %logits = attn.compute "logits" (%t: "T", %v: 4) {
    %0 = attn.read %c[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 4], f64>
  %y = attn.choice "y" categorical ["logits"] (%logits : !attn.array<["T", 4], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "y" %y : !attn.array<["T"], i64>
}
