// RUN: fovea-opt %s --attn-differentiate --split-input-file | FileCheck %s
// RUN: fovea-gradcheck %s --length S=5
// RUN: fovea-gradcheck %s --length S=1 --seed 4
// RUN: fovea-gradcheck %s --length S=4 --seed 5 --passes attn-inline,cse,attn-schedule

// Reads that go around: place p of n gets something from i = (p + j) mod n, for
// the few j that there are. No adjoint is a sum over all pairs of places.

// CHECK-LABEL: module @shift
// CHECK:       attn.compute "d x" (%[[P:.*]]: 6) sum (%[[J:.*]]: 3) {
// CHECK-NEXT:    %[[SUM:.*]] = arith.addi %[[P]], %[[J]]
// CHECK-NEXT:    %[[N:.*]] = arith.constant 6
// CHECK-NEXT:    %[[Q:.*]] = arith.floordivsi %[[SUM]], %[[N]]
// CHECK-NEXT:    %[[TIMES:.*]] = arith.muli %[[Q]], %[[N]]
// CHECK-NEXT:    %[[I:.*]] = arith.subi %[[SUM]], %[[TIMES]]
// CHECK:         attn.read %{{.*}}[%[[I]]]
module @shift {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[6], f64>
    %s = attn.param "s" : !attn.array<[3], f64>
    %y = attn.compute "y" (%i: 6) sum (%j: 3) {
      %n = arith.constant 6 : index
      %0 = arith.subi %i, %j : index
      %1 = arith.floordivsi %0, %n : index
      %2 = arith.muli %1, %n : index
      %3 = arith.subi %0, %2 : index
      %4 = attn.read %x[%3] : !attn.array<[6], f64>
      %5 = attn.read %s[%j] : !attn.array<[3], f64>
      %6 = arith.mulf %4, %5 : f64
      attn.yield %6 : f64
    } : !attn.array<[6], f64>
    %nll = attn.compute "nll" () sum (%i: 6) {
      %0 = attn.read %y[%i] : !attn.array<[6], f64>
      %1 = math.sin %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// Around a length, and backwards: (2*j - i + 1) mod S = p is
// i = (2*j + 1 - p) mod S.

// CHECK-LABEL: module @around
// CHECK:       attn.compute "d x" (%[[P:.*]]: "S") sum (%[[J:.*]]: 3) {
// CHECK:         attn.extent "S"
// CHECK:         arith.floordivsi
module @around {
  attn.system @loss {
    attn.length "S"
    %x = attn.param "x" : !attn.array<["S"], f64>
    %s = attn.param "s" : !attn.array<[3], f64>
    %y = attn.compute "y" (%i: "S") sum (%j: 3) {
      %n = attn.extent "S"
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %twice = arith.muli %j, %two : index
      %next = arith.addi %twice, %one : index
      %0 = arith.subi %next, %i : index
      %1 = arith.floordivsi %0, %n : index
      %2 = arith.muli %1, %n : index
      %3 = arith.subi %0, %2 : index
      %4 = attn.read %x[%3] : !attn.array<["S"], f64>
      %5 = attn.read %s[%j] : !attn.array<[3], f64>
      %6 = arith.mulf %4, %5 : f64
      attn.yield %6 : f64
    } : !attn.array<["S"], f64>
    %nll = attn.compute "nll" () sum (%i: "S") {
      %0 = attn.read %y[%i] : !attn.array<["S"], f64>
      %1 = math.sin %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// The remainder over another number, an index with a factor, and one of fewer
// places stay conditions.

// CHECK-LABEL: module @others
// CHECK-COUNT-3: arith.cmpi eq
module @others {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[6], f64>
    %y = attn.compute "y" (%i: 6) {
      %n = arith.constant 4 : index
      %1 = arith.floordivsi %i, %n : index
      %2 = arith.muli %1, %n : index
      %3 = arith.subi %i, %2 : index
      %4 = attn.read %x[%3] : !attn.array<[6], f64>
      %5 = math.sin %4 : f64
      attn.yield %5 : f64
    } : !attn.array<[6], f64>
    %z = attn.compute "z" (%i: 6) {
      %n = arith.constant 6 : index
      %two = arith.constant 2 : index
      %0 = arith.muli %i, %two : index
      %1 = arith.floordivsi %0, %n : index
      %2 = arith.muli %1, %n : index
      %3 = arith.subi %0, %2 : index
      %4 = attn.read %x[%3] : !attn.array<[6], f64>
      %5 = math.cos %4 : f64
      attn.yield %5 : f64
    } : !attn.array<[6], f64>
    %u = attn.compute "u" (%i: 5) {
      %n = arith.constant 6 : index
      %one = arith.constant 1 : index
      %0 = arith.subi %i, %one : index
      %1 = arith.floordivsi %0, %n : index
      %2 = arith.muli %1, %n : index
      %3 = arith.subi %0, %2 : index
      %4 = attn.read %x[%3] : !attn.array<[6], f64>
      %5 = math.sin %4 : f64
      attn.yield %5 : f64
    } : !attn.array<[5], f64>
    %nll = attn.compute "nll" () sum (%i: 5) {
      %0 = attn.read %y[%i] : !attn.array<[6], f64>
      %1 = attn.read %z[%i] : !attn.array<[6], f64>
      %2 = attn.read %u[%i] : !attn.array<[5], f64>
      %3 = arith.addf %0, %1 : f64
      %4 = arith.addf %3, %2 : f64
      %5 = math.sin %4 : f64
      attn.yield %5 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}
