// RUN: fovea-opt %s --split-input-file --attn-repeat-samples | FileCheck %s

// What depends on a number that is drawn has the axis of the draws in front,
// the boundary of a recurrence as well; what does not is as it was. The
// objective is the mean.
// CHECK-LABEL: attn.system @loss {
// CHECK: %[[U:.+]] = attn.compute "u" (%[[S:.+]]: 3, %[[T:.+]]: "T")
// CHECK-NEXT: attn.random[%[[T]]] sample %[[S]] ordinal 0 word 0
// CHECK: attn.compute "once" (%{{.+}}: "T")
// CHECK: %[[STATE:.+]] = attn.compute "state" (%[[S2:.+]]: 3, %[[T2:.+]]: "T")
// CHECK: attn.read %[[STATE]][%[[S2]], %{{.+}}] cases {{\[}}{{\[}}[1, -1]]](%[[SPREAD:.+]] : !attn.array<[3], f64>)
// CHECK: %[[NLL:.+]] = attn.compute "nll" (%{{.+}}: 3) sum (%{{.+}}: "T")
// CHECK: attn.output "nll" %[[MEAN:.+]] :
// CHECK: %[[SPREAD]] = attn.compute (%{{.+}}: 3) {
// CHECK-NEXT: attn.read %start[]
// CHECK: %[[MEAN]] = attn.compute "nll" () mean (%[[S3:.+]]: 3)
// CHECK-NEXT: attn.read %[[NLL]][%[[S3]]]
attn.system @loss attributes {attn.samples = 3 : i64} {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T"], f64>
  %start = attn.data "start" : !attn.array<[], f64>
  %u = attn.compute "u" (%t: "T") {
    %0 = attn.random [%t] ordinal 0 word 0
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %once = attn.compute "once" (%t: "T") {
    %0 = attn.read %x[%t] : !attn.array<["T"], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %state = attn.compute "state" (%t: "T") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %state[%before] cases [[[0, -1]]] (%start : !attn.array<[], f64>) : !attn.array<["T"], f64>
    %1 = attn.read %u[%t] : !attn.array<["T"], f64>
    %2 = attn.read %once[%t] : !attn.array<["T"], f64>
    %3 = arith.mulf %1, %2 : f64
    %4 = arith.addf %0, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["T"], f64>
  %nll = attn.compute "nll" () sum (%t: "T") {
    %0 = attn.read %state[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "nll" %nll : !attn.array<[], f64>
}

// -----

// One draw: nothing changes.
// CHECK-LABEL: attn.system @loss
// CHECK: attn.compute "u" (%[[T:.+]]: "T")
// CHECK-NEXT: attn.random[%[[T]]] ordinal 0 word 0
attn.system @loss {
  attn.length "T"
  %u = attn.compute "u" (%t: "T") {
    %0 = attn.random [%t] ordinal 0 word 0
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "u" %u : !attn.array<["T"], f64>
}

// -----

// Two choices of which all values count, the second drawn from what the first
// says: its sum stands inside. What is over all values reads the sum, and what
// is asked for is that of the most probable values.
// CHECK-LABEL: attn.system @loss
// CHECK-NOT: attn.enumerated
// CHECK: attn.output "nll" %[[OUTER:[a-z0-9_]+]] :
// CHECK-NOT: surrogate.prior
// CHECK: attn.compute () {
// CHECK-NEXT: attn.read %[[TOTAL:.+]][] :
// CHECK: attn.output "surrogate.nll"
// CHECK: attn.output "second" %[[SHOWN:.+]] :
// The inner sum, for each value of the first choice.
// CHECK: attn.compute "nll" (%[[A:.+]]: 2) logsumexp (%[[B:.+]]: 3)
// CHECK: attn.compute (%{{.+}}: 2) argmax (%{{.+}}: 3)
// CHECK: attn.compute "nll" () logsumexp (%{{.+}}: 2)
// CHECK: attn.compute () argmax (%{{.+}}: 2)
attn.system @loss {
  %p = attn.param "p" : !attn.array<[2], f64>
  %q = attn.param "q" : !attn.array<[2, 3], f64>
  %first = attn.compute "first" () {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } {attn.enumerated = 2 : i64} : !attn.array<[], i64>
  %second = attn.compute "second" () {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } {attn.enumerated = 3 : i64} : !attn.array<[], i64>
  %ofFirst = attn.compute "of_first" () {
    %0 = attn.read %first[] : !attn.array<[], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %p[%1] : !attn.array<[2], f64>
    attn.yield %2 : f64
  } : !attn.array<[], f64>
  %ofSecond = attn.compute "of_second" () {
    %0 = attn.read %first[] : !attn.array<[], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %second[] : !attn.array<[], i64>
    %3 = arith.index_cast %2 : i64 to index
    %4 = attn.read %q[%1, %3] : !attn.array<[2, 3], f64>
    attn.yield %4 : f64
  } : !attn.array<[], f64>
  %nll = attn.compute "nll" () {
    %0 = attn.read %ofSecond[] : !attn.array<[], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[], f64>
  attn.output "nll" %nll : !attn.array<[], f64>
  attn.output "surrogate.prior.first" %ofFirst : !attn.array<[], f64>
  attn.output "surrogate.prior.second" %ofSecond : !attn.array<[], f64>
  attn.output "logp" %nll : !attn.array<[], f64>
  %all = attn.compute () {
    %0 = attn.read %nll[] : !attn.array<[], f64>
    attn.yield %0 : f64
  } {attn.total = "nll"} : !attn.array<[], f64>
  attn.output "surrogate.nll" %all : !attn.array<[], f64>
  attn.output "second" %second : !attn.array<[], i64>
}

// -----

// Dropout is no draw: what it drops is the same for all draws, unless it comes
// after them; then each has words of its own.
// CHECK-LABEL: attn.system @loss
// CHECK: attn.compute "before" (%[[T:.+]]: "T")
// CHECK-NEXT: attn.random[%[[T]]] ordinal 0 word 0 : i64
// CHECK: attn.compute "behind" (%[[S:.+]]: 3, %[[T2:.+]]: "T")
// CHECK-NEXT: attn.random[%[[T2]]] sample %[[S]] ordinal 2 word 0 : i64
attn.system @loss attributes {attn.samples = 3 : i64} {
  attn.length "T"
  %before = attn.compute "before" (%t: "T") {
    %0 = attn.random [%t] ordinal 0 word 0 : i64
    attn.yield %0 : i64
  } : !attn.array<["T"], i64>
  %u = attn.compute "u" (%t: "T") {
    %0 = attn.random [%t] ordinal 1 word 0
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %behind = attn.compute "behind" (%t: "T") {
    %0 = attn.random [%t] ordinal 2 word 0 : i64
    %1 = arith.sitofp %0 : i64 to f64
    %2 = attn.read %u[%t] : !attn.array<["T"], f64>
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["T"], f64>
  attn.output "before" %before : !attn.array<["T"], i64>
  attn.output "behind" %behind : !attn.array<["T"], f64>
}
