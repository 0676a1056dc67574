// RUN: fovea-opt %s --attn-batch --attn-expose-products | FileCheck %s

// The gradient of a recurrent weight: the state before is an array of its own,
// so that the sum is a product of rows. A factor that is a plain read is left.

// CHECK-LABEL: attn.program @grad
attn.program @grad {
  attn.length "T"
  attn.length "T+1" is affine_map<()[s0] -> (s0 + 1)> ["T"]
  %g = attn.data "g" : !attn.array<["T", 16], f64>
  %w = attn.param "w" : !attn.array<[16, 16], f64>
  %more = attn.data "more" : !attn.array<["T+1", 16], f64>
  %s = attn.data "s" : !attn.array<["T", 16], f64>
  %start = attn.param "start" : !attn.array<[16], f64>
  // CHECK:      %[[BEFORE:.*]] = attn.compute (%{{.*}}: "T", %{{.*}}: 16) {
  // CHECK:        attn.read %s{{.*}} cases
  // CHECK:      {attn.batch = "each"}
  // CHECK:      attn.compute "d w"
  // CHECK:        attn.read %g
  // CHECK:        attn.read %[[BEFORE]][
  %dw = attn.compute "d w" (%d: 16, %k: 16) sum (%t: "T") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %g[%t, %d] : !attn.array<["T", 16], f64>
    %1 = attn.read %s[%before, %k] cases [[[0, -1]]] (%start : !attn.array<[16], f64>) : !attn.array<["T", 16], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[16, 16], f64>
  attn.output "grad/w" %dw : !attn.array<[16, 16], f64>

  // A sum that every example has for itself stays as it is.
  // CHECK-NOT:  attn.compute (
  // CHECK:      attn.compute "own"
  %own = attn.compute "own" (%d: 16, %k: 16) sum (%t: "T") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %g[%t, %d] : !attn.array<["T", 16], f64>
    %1 = attn.read %s[%before, %k] cases [[[0, -1]]] (%start : !attn.array<[16], f64>) : !attn.array<["T", 16], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[16, 16], f64>
  attn.output "own" %own : !attn.array<[16, 16], f64>

  // So is the left side of a product with weights, where a row of it stands
  // outside of the array, or where the array has more rows.
  // CHECK:      %[[ROWS:.*]] = attn.compute (%{{.*}}: "T", %{{.*}}: 16) {
  // CHECK:        attn.read %s{{.*}} cases
  // CHECK:      attn.compute "layer"
  // CHECK:        attn.read %[[ROWS]][%{{.*}}, %{{.*}}]
  %layer = attn.compute "layer" (%t: "T", %d: 16) sum (%k: 16) {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %w[%d, %k] : !attn.array<[16, 16], f64>
    %1 = attn.read %s[%before, %k] cases [[[0, -1]]] (%start : !attn.array<[16], f64>) : !attn.array<["T", 16], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 16], f64>
  attn.output "layer" %layer : !attn.array<["T", 16], f64>
  // CHECK:      %[[PART:.*]] = attn.compute (%{{.*}}: "T", %{{.*}}: 16) {
  // CHECK:        attn.read %more[
  // CHECK:      attn.compute "part"
  // CHECK:        attn.read %[[PART]][
  %part = attn.compute "part" (%t: "T", %d: 16) sum (%k: 16) {
    %0 = attn.read %w[%d, %k] : !attn.array<[16, 16], f64>
    %1 = attn.read %more[%t, %k] : !attn.array<["T+1", 16], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 16], f64>
  attn.output "part" %part : !attn.array<["T", 16], f64>

  // Whole rows are none, and neither are few columns.
  // CHECK-NOT:  attn.compute (
  // CHECK:      attn.compute "whole"
  %whole = attn.compute "whole" (%t: "T", %d: 16) sum (%k: 16) {
    %0 = attn.read %w[%d, %k] : !attn.array<[16, 16], f64>
    %1 = attn.read %s[%t, %k] : !attn.array<["T", 16], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 16], f64>
  attn.output "whole" %whole : !attn.array<["T", 16], f64>
  // CHECK-NOT:  attn.compute (
  // CHECK:      attn.compute "few"
  %few = attn.compute "few" (%t: "T", %d: 9) sum (%k: 16) {
    %0 = attn.read %w[%d, %k] : !attn.array<[16, 16], f64>
    %1 = attn.read %more[%t, %k] : !attn.array<["T+1", 16], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 9], f64>
  attn.output "few" %few : !attn.array<["T", 9], f64>

  // From the second step on: what is before the first is never read.
  // CHECK:      %[[LATER:.*]] = attn.compute (%{{.*}}: 1 to "T", %{{.*}}: 16) {
  // CHECK:      attn.compute "later"
  // CHECK:        attn.read %[[LATER]][
  %later = attn.compute "later" (%d: 16, %k: 16) sum (%t: 1 to "T") {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %g[%t, %d] : !attn.array<["T", 16], f64>
    %1 = attn.read %s[%before, %k] : !attn.array<["T", 16], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[16, 16], f64>
  attn.output "grad/later" %later : !attn.array<[16, 16], f64>
}
