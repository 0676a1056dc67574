// RUN: fovea-opt %s --attn-differentiate --split-input-file | FileCheck %s
// RUN: fovea-opt %s --attn-differentiate="by=x,n,unread" --split-input-file | FileCheck %s --check-prefix=BY

// s[t] = W s[t-1] with s[-1] = init. The adjoint runs the other way, and the
// gradient of W is one contraction over all of t.

// CHECK-LABEL: attn.system @loss
// CHECK-LABEL: attn.system @grad
// CHECK-DAG:   %[[W:.*]] = attn.param "w"
// CHECK-DAG:   %[[INIT:.*]] = attn.param "init"
// CHECK-DAG:   %[[S:.*]] = attn.compute "s"
// CHECK-DAG:   %[[SEED:.*]] = attn.data "seed.nll" : !attn.array<[], f64>
// CHECK:       %[[END:.*]] = attn.compute "d s" (%{{.*}}: "T", %{{.*}}: 4) {
// CHECK-NEXT:    attn.read %[[SEED]][]
// CHECK:       %[[PAST:.*]] = attn.compute "d s" (%[[T:.*]]: "T", %[[J:.*]]: 4) sum (%[[K:.*]]: 4) where {
// CHECK:         %[[NEXT:.*]] = arith.addi %[[T]], %{{.*}} : index
// CHECK:         %[[SIZE:.*]] = attn.extent "T"
// CHECK:         arith.cmpi slt, %[[NEXT]], %[[SIZE]]
// CHECK:       } {
// CHECK:         %[[LATER:.*]] = arith.addi %[[T]], %{{.*}} : index
// CHECK:         %[[DS:.*]] = attn.read %[[ADJOINT:.*]][%[[LATER]], %[[K]]]
// CHECK:         %[[WKJ:.*]] = attn.read %[[W]][%[[K]], %[[J]]]
// CHECK:         arith.mulf %[[DS]], %[[WKJ]]
// CHECK:       %[[DINIT:.*]] = attn.compute "d init" (%{{.*}}: 4) sum (%{{.*}}: 4)
// CHECK:         attn.read %[[ADJOINT]][%c0{{.*}}, %{{.*}}]
// CHECK:       %[[DW:.*]] = attn.compute "d w" (%{{.*}}: 4, %{{.*}}: 4) sum (%{{.*}}: "T") {
// CHECK:         attn.read %[[S]][{{.*}}] cases {{.*}}(%[[INIT]]
// CHECK:       %[[ADJOINT]] = attn.compute "d s"
// CHECK:         attn.read %[[END]]
// CHECK:         attn.read %[[PAST]]
// CHECK:         arith.addf
// CHECK:       attn.output "grad/w" %[[DW]]
// CHECK:       attn.output "grad/init" %[[DINIT]]
module {
  attn.system @loss {
    attn.length "T"
    %w = attn.param "w" : !attn.array<[4, 4], f64>
    %init = attn.param "init" : !attn.array<[4], f64>
    %s = attn.compute "s" (%t: "T", %k: 4) sum (%j: 4) {
      %one = arith.constant 1 : index
      %before = arith.subi %t, %one : index
      %0 = attn.read %s[%before, %j] cases [[[0, -1]]] (%init : !attn.array<[4], f64>) : !attn.array<["T", 4], f64>
      %1 = attn.read %w[%k, %j] : !attn.array<[4, 4], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["T", 4], f64>
    %nll = attn.compute "nll" () sum (%t: "T", %k: 4) {
      %0 = attn.read %s[%t, %k] : !attn.array<["T", 4], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// Both terms have their seed; a parameter that nobody reads gets zeros, and so
// does one that only a condition reads.

// CHECK-LABEL: attn.system @grad
// CHECK-DAG:   attn.data "seed.nll"
// CHECK-DAG:   attn.data "seed.penalty"
// CHECK:       %[[ZEROS:.*]] = attn.compute "d unused" (%{{.*}}: 3) {
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0.0
// CHECK-NEXT:    attn.yield %[[ZERO]]
// CHECK:       attn.output "grad/unused" %[[ZEROS]]
// CHECK:       %[[NONE:.*]] = attn.compute "d border" () {
// CHECK-NEXT:    arith.constant 0.0
// CHECK:       attn.output "grad/border" %[[NONE]]
module {
  attn.system @loss {
    %a = attn.param "a" : !attn.array<[], f64>
    %unused = attn.param "unused" : !attn.array<[3], f64>
    %border = attn.param "border" : !attn.array<[], f64>
    %nll = attn.compute "nll" () sum (%i: 3) where {
      %0 = attn.read %border[] : !attn.array<[], f64>
      %1 = attn.read %a[] : !attn.array<[], f64>
      %2 = arith.cmpf olt, %0, %1 : f64
      attn.yield %2 : i1
    } {
      %0 = attn.read %a[] : !attn.array<[], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
    attn.output "penalty" %a : !attn.array<[], f64>
  }
}

// -----

// A module without @loss stays as it is.

// CHECK-LABEL: attn.system @decode
// CHECK-NOT:   attn.system @grad
module {
  attn.system @decode {
  }
}

// -----

// nll = sum w[k] x[t,k] + n: where `by` names x it has an adjoint, w[k] times
// the seed at each place; data that nobody reads has one of zeros; whole numbers
// and data that are not named have none.

// CHECK-LABEL: attn.system @of_data
// BY-LABEL: attn.system @of_data
// CHECK-LABEL: attn.system @grad
// CHECK:         attn.output "grad/w"
// CHECK-NOT:     attn.output "adjoint/
// BY-LABEL: attn.system @grad
// BY-DAG:     %[[W:.*]] = attn.param "w"
// BY-DAG:     %[[SEED:.*]] = attn.data "seed.nll"
// BY:         %[[DX:.*]] = attn.compute "d x" (%{{.*}}: "T", %[[K:.*]]: 4) {
// BY-DAG:       attn.read %[[W]][%[[K]]]
// BY-DAG:       attn.read %[[SEED]][]
// BY:         attn.output "adjoint/x" %[[DX]]
// BY:         %[[ZEROS:.*]] = attn.compute "d unread"
// BY-NOT:     adjoint/n
// BY-NOT:     adjoint/other
// BY:         attn.output "adjoint/unread" %[[ZEROS]]
module {
  attn.system @of_data {
    attn.length "T"
  }
  attn.system @loss {
    attn.length "T"
    %w = attn.param "w" : !attn.array<[4], f64>
    %x = attn.data "x" : !attn.array<["T", 4], f64>
    %other = attn.data "other" : !attn.array<["T", 4], f64>
    %n = attn.data "n" : !attn.array<[], i64>
    %unread = attn.data "unread" : !attn.array<[], f64>
    %nll = attn.compute "nll" () sum (%t: "T", %k: 4) {
      %0 = attn.read %w[%k] : !attn.array<[4], f64>
      %1 = attn.read %x[%t, %k] : !attn.array<["T", 4], f64>
      %2 = attn.read %other[%t, %k] : !attn.array<["T", 4], f64>
      %3 = attn.read %n[] : !attn.array<[], i64>
      %4 = arith.sitofp %3 : i64 to f64
      %5 = arith.mulf %0, %1 : f64
      %6 = arith.addf %5, %2 : f64
      %7 = arith.addf %6, %4 : f64
      attn.yield %7 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}
