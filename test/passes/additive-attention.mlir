// RUN: fovea-opt %s --attn-inline --attn-differentiate --attn-inline --cse | FileCheck %s
// RUN: fovea-opt %s --attn-differentiate --attn-inline --cse | FileCheck %s

// energy[t,i] = v . tanh(q[t] + k[i]), one equation per operation: neither the
// forward equations nor their adjoints have an array of T x S x A, in whichever
// order the passes run, and neither has sum[i](a[t,i] * h[i]) one of T x S x H.

// CHECK:     attn.system @grad
// CHECK-NOT: array<["T", "S", 6], f64>
// CHECK-NOT: array<["T", "S", 5], f64>
// CHECK:     attn.output "grad/q"
// CHECK-NOT: array<["T", "S", 6], f64>
// CHECK-NOT: array<["T", "S", 5], f64>
module {
  attn.system @loss {
    attn.length "T" is affine_map<()[s0] -> (s0 + 1)> ["S"]
    attn.length "S"
    %tok = attn.data "tok" : !attn.array<["T"], i64>
    %src = attn.data "src" : !attn.array<["S"], i64>
    %q = attn.param "q" : !attn.array<[4, 6], f64>
    %k = attn.param "k" : !attn.array<[4, 6], f64>
    %v = attn.param "v" : !attn.array<[6], f64>
    %h = attn.param "h" : !attn.array<[4, 5], f64>
    %both = attn.compute (%t: "T", %i: "S", %a: 6) {
      %0 = attn.read %tok[%t] : !attn.array<["T"], i64>
      %1 = arith.index_cast %0 : i64 to index
      %2 = attn.read %q[%1, %a] : !attn.array<[4, 6], f64>
      %3 = attn.read %src[%i] : !attn.array<["S"], i64>
      %4 = arith.index_cast %3 : i64 to index
      %5 = attn.read %k[%4, %a] : !attn.array<[4, 6], f64>
      %6 = arith.addf %2, %5 : f64
      attn.yield %6 : f64
    } : !attn.array<["T", "S", 6], f64>
    %hidden = attn.compute (%t: "T", %i: "S", %a: 6) {
      %0 = attn.read %both[%t, %i, %a] : !attn.array<["T", "S", 6], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["T", "S", 6], f64>
    %weighted = attn.compute (%t: "T", %i: "S", %a: 6) {
      %0 = attn.read %v[%a] : !attn.array<[6], f64>
      %1 = attn.read %hidden[%t, %i, %a] : !attn.array<["T", "S", 6], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["T", "S", 6], f64>
    %energy = attn.compute "energy" (%t: "T", %i: "S") sum (%a: 6) {
      %0 = attn.read %weighted[%t, %i, %a] : !attn.array<["T", "S", 6], f64>
      attn.yield %0 : f64
    } : !attn.array<["T", "S"], f64>
    %align = attn.compute "align" (%t: "T") softmax (%i: "S") {
      %0 = attn.read %energy[%t, %i] : !attn.array<["T", "S"], f64>
      attn.yield %0 : f64
    } : !attn.array<["T", "S"], f64>
    %part = attn.compute (%t: "T", %i: "S", %b: 5) {
      %0 = attn.read %align[%t, %i] : !attn.array<["T", "S"], f64>
      %1 = attn.read %src[%i] : !attn.array<["S"], i64>
      %2 = arith.index_cast %1 : i64 to index
      %3 = attn.read %h[%2, %b] : !attn.array<[4, 5], f64>
      %4 = arith.mulf %0, %3 : f64
      attn.yield %4 : f64
    } : !attn.array<["T", "S", 5], f64>
    %c = attn.compute "c" (%t: "T", %b: 5) sum (%i: "S") {
      %0 = attn.read %part[%t, %i, %b] : !attn.array<["T", "S", 5], f64>
      attn.yield %0 : f64
    } : !attn.array<["T", 5], f64>
    %nll = attn.compute "nll" () sum (%t: "T", %b: 5) {
      %0 = attn.read %c[%t, %b] : !attn.array<["T", 5], f64>
      %1 = math.sin %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}
