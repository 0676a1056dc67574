// RUN: fovea-opt %s --attn-differentiate --split-input-file | FileCheck %s
// RUN: fovea-gradcheck %s --length T=4
// RUN: fovea-gradcheck %s --length T=1 --seed 2
// RUN: fovea-gradcheck %s --length T=0 --seed 3
// RUN: fovea-gradcheck %s --module excluded --length T=3 --value mask=0,0,0
// RUN: fovea-gradcheck %s --module excluded --length T=3 --value mask=0,1,0
// RUN: fovea-gradcheck %s --module softmax --length T=2 --value x=1000,-1000,-inf,0 --value w=1,2,3,4 --print | FileCheck %s --check-prefix=HUGE

// y * (adjoint - sum of y * adjoint): the sum is an equation of its own.

// HUGE: x: 0 {{-?}}0 {{-?}}0 0

// CHECK-LABEL: module @softmax
// CHECK:       %[[Y:.*]] = attn.compute "y"
// CHECK:       %[[DOT:.*]] = attn.compute "adjoint of y" (%[[T:.*]]: 2) sum (%[[U:.*]]: "T") {
// CHECK:         arith.mulf
// CHECK:       attn.compute "d x" (%[[T:.*]]: 2, %[[U:.*]]: "T") {
// CHECK:         %[[G:.*]] = attn.read %{{.*}}[%[[T]], %[[U]]]
// CHECK:         %[[M:.*]] = attn.read %[[DOT]][%[[T]]]
// CHECK:         %[[C:.*]] = arith.subf %[[G]], %[[M]]
// CHECK:         %[[YTU:.*]] = attn.read %[[Y]][%[[T]], %[[U]]]
// CHECK:         arith.mulf %[[YTU]], %[[C]]
module @softmax {
  attn.system @loss {
    attn.length "T"
    %x = attn.param "x" : !attn.array<[2, "T"], f64>
    %w = attn.data "w" : !attn.array<[2, "T"], f64>
    %y = attn.compute "y" (%t: 2) softmax (%u: "T") {
      %0 = attn.read %x[%t, %u] : !attn.array<[2, "T"], f64>
      attn.yield %0 : f64
    } : !attn.array<[2, "T"], f64>
    %nll = attn.compute "nll" () sum (%t: 2, %u: "T") {
      %0 = attn.read %y[%t, %u] : !attn.array<[2, "T"], f64>
      %1 = attn.read %w[%t, %u] : !attn.array<[2, "T"], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// Only what is not after t.

// CHECK-LABEL: module @past
// CHECK:       attn.compute "d x" (%[[T:.*]]: 2, %[[U:.*]]: "T") where {
// CHECK:         arith.cmpi sle, %[[U]], %[[T]]
module @past {
  attn.system @loss {
    attn.length "T"
    %x = attn.param "x" : !attn.array<[2, "T"], f64>
    %w = attn.data "w" : !attn.array<[2, "T"], f64>
    %y = attn.compute "y" (%t: 2) softmax (%u: "T") where {
      %0 = arith.cmpi sle, %u, %t : index
      attn.yield %0 : i1
    } {
      %0 = attn.read %x[%t, %u] : !attn.array<[2, "T"], f64>
      attn.yield %0 : f64
    } : !attn.array<[2, "T"], f64>
    %nll = attn.compute "nll" () sum (%t: 2, %u: "T") {
      %0 = attn.read %y[%t, %u] : !attn.array<[2, "T"], f64>
      %1 = attn.read %w[%t, %u] : !attn.array<[2, "T"], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// The condition reads data, which may exclude everything.

// CHECK-LABEL: module @excluded
// CHECK:       attn.compute "d x" (%{{.*}}: 2, %[[U:.*]]: "T") where {
// CHECK:         attn.read %{{.*}}[%[[U]]] : !attn.array<["T"], i1>
module @excluded {
  attn.system @loss {
    attn.length "T"
    %x = attn.param "x" : !attn.array<[2, "T"], f64>
    %w = attn.data "w" : !attn.array<[2, "T"], f64>
    %mask = attn.data "mask" : !attn.array<["T"], i1>
    %y = attn.compute "y" (%t: 2) softmax (%u: "T") where {
      %0 = attn.read %mask[%u] : !attn.array<["T"], i1>
      attn.yield %0 : i1
    } {
      %0 = attn.read %x[%t, %u] : !attn.array<[2, "T"], f64>
      attn.yield %0 : f64
    } : !attn.array<[2, "T"], f64>
    %nll = attn.compute "nll" () sum (%t: 2, %u: "T") {
      %0 = attn.read %y[%t, %u] : !attn.array<[2, "T"], f64>
      %1 = attn.read %w[%t, %u] : !attn.array<[2, "T"], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}
