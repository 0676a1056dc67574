// RUN: fovea-opt %s --attn-differentiate | FileCheck %s
// RUN: fovea-gradcheck %s --length T=3

// argmax, argmin, any and all give whole numbers and bits: nothing flows back
// through them, and what reads at their place is a gather.

// CHECK-LABEL: attn.system @grad
// CHECK-NOT:   "adjoint of
// CHECK:       attn.compute "d x" (%[[P:.*]]: "T") where {
// CHECK:         arith.index_cast
// CHECK:         arith.cmpi eq, %{{.*}}, %[[P]]
// CHECK-NOT:   "d x"
module {
  attn.system @loss {
    attn.length "T"
    %x = attn.param "x" : !attn.array<["T"], f64>
    %best = attn.compute "best" () argmax (%t: "T") {
      %0 = attn.read %x[%t] : !attn.array<["T"], f64>
      attn.yield %0 : f64
    } : !attn.array<[], i64>
    %positive = attn.compute "positive" () any (%t: "T") {
      %zero = arith.constant 0.0 : f64
      %0 = attn.read %x[%t] : !attn.array<["T"], f64>
      %1 = arith.cmpf ogt, %0, %zero : f64
      attn.yield %1 : i1
    } : !attn.array<[], i1>
    %nll = attn.compute "nll" () {
      %one = arith.constant 1.0 : f64
      %two = arith.constant 2.0 : f64
      %0 = attn.read %best[] : !attn.array<[], i64>
      %1 = arith.index_cast %0 : i64 to index
      %2 = attn.read %x[%1] : !attn.array<["T"], f64>
      %3 = attn.read %positive[] : !attn.array<[], i1>
      %4 = arith.select %3, %one, %two : f64
      %5 = arith.mulf %2, %4 : f64
      attn.yield %5 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}
