// RUN: fovea-opt %s --attn-gather-rows --split-input-file | FileCheck %s

// Two products with the row of a word, which is a boundary word at the start:
// one array of rows.

// CHECK-LABEL: attn.system @twice
// CHECK:       %[[ROWS:.*]] = attn.compute (%[[T:.*]]: "T", %[[K:.*]]: 4) {
// CHECK:         %[[WORD:.*]] = attn.read %{{.*}} cases
// CHECK:         %[[ROW:.*]] = arith.index_cast %[[WORD]]
// CHECK:         attn.read %{{.*}}[%[[ROW]], %[[K]]] : !attn.array<[9, 4], f64>
// CHECK:       attn.compute "a" (%[[T:.*]]: "T", %{{.*}}: 8) sum (%[[K:.*]]: 4) {
// CHECK:         attn.read %[[ROWS]][%[[T]], %[[K]]]
// CHECK:       attn.compute "b" (%[[T:.*]]: "T", %{{.*}}: 8) sum (%[[K:.*]]: 4) {
// CHECK:         attn.read %[[ROWS]][%[[T]], %[[K]]]
attn.system @twice {
  attn.length "T"
  %word = attn.data "word" : !attn.array<["T"], i64>
  %start = attn.data "start" : !attn.array<[], i64>
  %emb = attn.param "emb" : !attn.array<[9, 4], f64>
  %u = attn.param "u" : !attn.array<[8, 4], f64>
  %v = attn.param "v" : !attn.array<[8, 4], f64>
  %a = attn.compute "a" (%t: "T", %d: 8) sum (%k: 4) {
    %one = arith.constant 1 : index
    %0 = attn.read %u[%d, %k] : !attn.array<[8, 4], f64>
    %1 = arith.subi %t, %one : index
    %2 = attn.read %word[%1] cases [[[0, -1]]] (%start : !attn.array<[], i64>) : !attn.array<["T"], i64>
    %3 = arith.index_cast %2 : i64 to index
    %4 = attn.read %emb[%3, %k] : !attn.array<[9, 4], f64>
    %5 = arith.mulf %0, %4 : f64
    attn.yield %5 : f64
  } : !attn.array<["T", 8], f64>
  %b = attn.compute "b" (%t: "T", %d: 8) sum (%k: 4) {
    %one = arith.constant 1 : index
    %1 = arith.subi %t, %one : index
    %2 = attn.read %word[%1] cases [[[0, -1]]] (%start : !attn.array<[], i64>) : !attn.array<["T"], i64>
    %3 = arith.index_cast %2 : i64 to index
    %4 = attn.read %emb[%3, %k] : !attn.array<[9, 4], f64>
    %0 = attn.read %v[%d, %k] : !attn.array<[8, 4], f64>
    %5 = arith.mulf %4, %0 : f64
    attn.yield %5 : f64
  } : !attn.array<["T", 8], f64>
  attn.output "a" %a : !attn.array<["T", 8], f64>
  attn.output "b" %b : !attn.array<["T", 8], f64>
}

// -----

// Not: a row that each place of the result reads for itself, one that depends
// on two lengths, one under a condition, and one at a place that no array gives.

// CHECK-LABEL: attn.system @stays
// CHECK-COUNT-4: attn.compute
// CHECK-NOT:     attn.compute
attn.system @stays {
  attn.length "S"
  attn.length "T"
  %word = attn.data "word" : !attn.array<["T"], i64>
  %pair = attn.data "pair" : !attn.array<["T", "S"], i64>
  %emb = attn.param "emb" : !attn.array<[9, 4], f64>
  %w = attn.param "w" : !attn.array<[8, 4], f64>
  %own = attn.compute (%t: "T") sum (%k: 4) {
    %2 = attn.read %word[%t] : !attn.array<["T"], i64>
    %3 = arith.index_cast %2 : i64 to index
    %4 = attn.read %emb[%3, %k] : !attn.array<[9, 4], f64>
    attn.yield %4 : f64
  } : !attn.array<["T"], f64>
  %pairs = attn.compute (%t: "T", %s: "S", %d: 8) sum (%k: 4) {
    %2 = attn.read %pair[%t, %s] : !attn.array<["T", "S"], i64>
    %3 = arith.index_cast %2 : i64 to index
    %4 = attn.read %emb[%3, %k] : !attn.array<[9, 4], f64>
    %0 = attn.read %w[%d, %k] : !attn.array<[8, 4], f64>
    %5 = arith.mulf %0, %4 : f64
    attn.yield %5 : f64
  } : !attn.array<["T", "S", 8], f64>
  %some = attn.compute (%t: "T", %d: 8) sum (%k: 4) where {
    %one = arith.constant 1 : index
    %holds = arith.cmpi sge, %t, %one : index
    attn.yield %holds : i1
  } {
    %one = arith.constant 1 : index
    %1 = arith.subi %t, %one : index
    %2 = attn.read %word[%1] : !attn.array<["T"], i64>
    %3 = arith.index_cast %2 : i64 to index
    %4 = attn.read %emb[%3, %k] : !attn.array<[9, 4], f64>
    %0 = attn.read %w[%d, %k] : !attn.array<[8, 4], f64>
    %5 = arith.mulf %0, %4 : f64
    attn.yield %5 : f64
  } : !attn.array<["T", 8], f64>
  %half = attn.compute (%e: 4, %d: 8) sum (%k: 4) {
    %two = arith.constant 2 : index
    %3 = arith.floordivsi %e, %two : index
    %4 = attn.read %emb[%3, %k] : !attn.array<[9, 4], f64>
    %0 = attn.read %w[%d, %k] : !attn.array<[8, 4], f64>
    %5 = arith.mulf %0, %4 : f64
    attn.yield %5 : f64
  } : !attn.array<[4, 8], f64>
  attn.output "own" %own : !attn.array<["T"], f64>
  attn.output "pairs" %pairs : !attn.array<["T", "S", 8], f64>
  attn.output "some" %some : !attn.array<["T", 8], f64>
  attn.output "half" %half : !attn.array<[4, 8], f64>
}
