// RUN: fovea-opt %s --attn-differentiate --split-input-file | FileCheck %s
// RUN: fovea-gradcheck %s --length T=4
// RUN: fovea-gradcheck %s --length T=1 --seed 2
// RUN: fovea-gradcheck %s --length T=0 --seed 3
// RUN: fovea-gradcheck %s --module excluded --length T=3 --value mask=0,0,0
// RUN: fovea-gradcheck %s --module excluded --length T=3 --value mask=0,1,0
// RUN: fovea-gradcheck %s --module min --length T=3 --value x=2,5,2,-1,-1,-1 --value w=1,3 --print | FileCheck %s --check-prefix=TIES

// The first of the smallest elements gets all.

// TIES: x: 1 0 0 3 0 0

// CHECK-LABEL: module @min
// CHECK:       %[[FIRST:.*]] = attn.compute "adjoint of y" (%{{.*}}: 2) argmin (%{{.*}}: "T") {
// CHECK:       attn.compute "d x" (%[[T:.*]]: 2, %[[U:.*]]: "T") where {
// CHECK:         attn.read %[[FIRST]][%[[T]]]
module @min {
  attn.system @loss {
    attn.length "T"
    %x = attn.param "x" : !attn.array<[2, "T"], f64>
    %w = attn.data "w" : !attn.array<[2], f64>
    %y = attn.compute "y" (%t: 2) min (%u: "T") {
      %0 = attn.read %x[%t, %u] : !attn.array<[2, "T"], f64>
      attn.yield %0 : f64
    } : !attn.array<[2], f64>
    %nll = attn.compute "nll" () sum (%t: 2) {
      %0 = attn.read %y[%t] : !attn.array<[2], f64>
      %1 = attn.read %w[%t] : !attn.array<[2], f64>
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
    %w = attn.data "w" : !attn.array<[2], f64>
    %y = attn.compute "y" (%t: 2) min (%u: "T") where {
      %0 = arith.cmpi sle, %u, %t : index
      attn.yield %0 : i1
    } {
      %0 = attn.read %x[%t, %u] : !attn.array<[2, "T"], f64>
      attn.yield %0 : f64
    } : !attn.array<[2], f64>
    %nll = attn.compute "nll" () sum (%t: 2) {
      %0 = attn.read %y[%t] : !attn.array<[2], f64>
      %1 = attn.read %w[%t] : !attn.array<[2], f64>
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
    %w = attn.data "w" : !attn.array<[2], f64>
    %mask = attn.data "mask" : !attn.array<["T"], i1>
    %y = attn.compute "y" (%t: 2) min (%u: "T") where {
      %0 = attn.read %mask[%u] : !attn.array<["T"], i1>
      attn.yield %0 : i1
    } {
      %0 = attn.read %x[%t, %u] : !attn.array<[2, "T"], f64>
      attn.yield %0 : f64
    } : !attn.array<[2], f64>
    %nll = attn.compute "nll" () sum (%t: 2) {
      %0 = attn.read %y[%t] : !attn.array<[2], f64>
      %1 = attn.read %w[%t] : !attn.array<[2], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// CHECK-LABEL: module @two
module @two {
  attn.system @loss {
    attn.length "T"
    %x = attn.param "x" : !attn.array<[2, "T", 3], f64>
    %w = attn.data "w" : !attn.array<[2], f64>
    %y = attn.compute "y" (%i: 2) min (%t: "T", %k: 1 to 3) where {
      %one = arith.constant 1 : index
      %0 = arith.cmpi ne, %t, %one : index
      attn.yield %0 : i1
    } {
      %0 = attn.read %x[%i, %t, %k] : !attn.array<[2, "T", 3], f64>
      %1 = math.sin %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[2], f64>
    %nll = attn.compute "nll" () sum (%i: 2) {
      %0 = attn.read %y[%i] : !attn.array<[2], f64>
      %1 = attn.read %w[%i] : !attn.array<[2], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}
