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
