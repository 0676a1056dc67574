// RUN: fovea-opt %s --attn-quantise-products --split-input-file | FileCheck %s
// RUN: fovea-opt %s --attn-quantise-products=weights=e4m3 --split-input-file | FileCheck %s --check-prefix=ROUNDED

// Logits: a scale and whole numbers for each row, and of the weights as
// parameters.

// CHECK-LABEL: attn.system @loss
// CHECK-DAG:   %[[NUMBERS:.*]] = attn.param "w:int8.1" : !attn.array<[20, 16], f64>
// CHECK-DAG:   %[[SCALES:.*]] = attn.param "w:scale.1" : !attn.array<[20], f64>
// CHECK-NOT:   attn.param "w" :
// CHECK:       %[[MOST:.*]] = attn.compute "y.largest" (%{{.*}}: "T") max (%{{.*}}: 16) order(lanes
// CHECK:         math.absf
// CHECK:       %[[SCALE:.*]] = attn.compute "y.scale" (%[[T:.*]]: "T") {
// CHECK:         %[[M:.*]] = attn.read %[[MOST]][%[[T]]]
// CHECK:         %[[S:.*]] = arith.divf %[[M]], %{{.*}} : f64
// CHECK:         %[[NAN:.*]] = arith.subf %[[S]], %[[S]] : f64
// CHECK:         arith.addf %[[S]], %[[NAN]] : f64
// CHECK:       %[[ROWS:.*]] = attn.compute "y.int8" (%{{.*}}: "T", %{{.*}}: 16) {
// CHECK:         math.roundeven
// CHECK:       %[[SUM:.*]] = attn.compute "y.sum" (%[[T:.*]]: "T", %[[N:.*]]: 20) sum (%[[K:.*]]: 16) order(chain, fused) {
// CHECK:         attn.read %[[ROWS]][%[[T]], %[[K]]]
// CHECK:         attn.read %[[NUMBERS]][%[[N]], %[[K]]]
// CHECK:       } {attn.precision = i8}
// CHECK:       attn.compute "y" (%[[T:.*]]: "T", %[[N:.*]]: 20) {
// CHECK:         %[[A:.*]] = attn.read %[[SCALE]][%[[T]]]
// CHECK:         %[[B:.*]] = attn.read %[[SCALES]][%[[N]]]
// CHECK:         %[[C:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK:         %[[D:.*]] = attn.read %[[SUM]][%[[T]], %[[N]]]
// CHECK:         arith.mulf %[[C]], %[[D]]

// Rounded numbers: the sum keeps its row and its order.

// ROUNDED-LABEL: attn.system @loss
// ROUNDED-DAG:   %[[X:.*]] = attn.data "x"
// ROUNDED-DAG:   %[[NUMBERS:.*]] = attn.param "w:e4m3.1" {attn.precision = f8E4M3FN} : !attn.array<[20, 16], f64>
// ROUNDED-DAG:   %[[SCALES:.*]] = attn.param "w:e4m3_scale.1" : !attn.array<[20], f64>
// ROUNDED-NOT:   attn.compute "y.
// ROUNDED:       %[[SUM:.*]] = attn.compute "y.sum" (%[[T:.*]]: "T", %[[N:.*]]: 20) sum (%[[K:.*]]: 16) order(chain, fused) {
// ROUNDED-DAG:     attn.read %[[X]][%[[T]], %[[K]]]
// ROUNDED-DAG:     attn.read %[[NUMBERS]][%[[N]], %[[K]]]
// ROUNDED:       } : !attn.array<["T", 20], f64>
// ROUNDED:       attn.compute "y" (%[[T:.*]]: "T", %[[N:.*]]: 20) {
// ROUNDED:         %[[B:.*]] = attn.read %[[SCALES]][%[[N]]]
// ROUNDED:         %[[D:.*]] = attn.read %[[SUM]][%[[T]], %[[N]]]
// ROUNDED:         arith.mulf %[[B]], %[[D]]
attn.system @loss {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  %w = attn.param "w" : !attn.array<[20, 16], f64>
  %y = attn.compute "y" (%t: "T", %n: 20) sum (%k: 16) order(chain, fused) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[20, 16], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 20], f64>
  attn.output "y" %y : !attn.array<["T", 20], f64>
}

// -----

// A table that is looked up and multiplied with: one set of numbers. A state of
// the step before is a row; 1024 terms are one part, the rest another.

// CHECK-LABEL: attn.system @decode
// CHECK-NOT:   attn.param "table" :
// CHECK:       attn.compute "word" (%[[T:.*]]: "T", %[[K:.*]]: 1030) {
// CHECK:         %[[NUMBER:.*]] = attn.read %[[NUMBERS:.*]][%[[V:.*]], %[[K]]] : !attn.array<[9, 1030], f64>
// CHECK:         %[[SCALE:.*]] = attn.read %{{.*}}[%[[V]]] : !attn.array<[9], f64>
// CHECK:         arith.mulf %[[NUMBER]], %[[SCALE]]
// CHECK:       attn.compute "h.sum" {{.*}} sum (%{{.*}}: 1024) order(chain, fused)
// CHECK:       attn.compute "h.sum" {{.*}} sum (%{{.*}}: 6) order(chain, fused)
// CHECK:         arith.constant 1024 : index
// CHECK:       attn.compute "h" (
// CHECK:         arith.addf

// One sum of all terms.

// ROUNDED-LABEL: attn.system @decode
// ROUNDED:       attn.compute "h.sum" {{.*}} sum (%{{.*}}: 1030) order(chain, fused)
attn.system @decode {
  attn.length "T"
  %id = attn.data "id" : !attn.array<["T"], i64>
  %table = attn.param "table" : !attn.array<[9, 1030], f64>
  %word = attn.compute "word" (%t: "T", %k: 1030) {
    %0 = attn.read %id[%t] : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %table[%1, %k] : !attn.array<[9, 1030], f64>
    attn.yield %2 : f64
  } : !attn.array<["T", 1030], f64>
  %h = attn.compute "h" (%t: "T", %n: 9) sum (%k: 1030) order(chain, fused) {
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1 : index
    %0 = arith.subi %t, %one : index
    %1 = attn.read %word[%0, %k] default %zero : f64 : !attn.array<["T", 1030], f64>
    %2 = attn.read %table[%n, %k] : !attn.array<[9, 1030], f64>
    %3 = arith.mulf %1, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["T", 9], f64>
  attn.output "h" %h : !attn.array<["T", 9], f64>
}

// -----

// A table that is only looked up: a scale and whole numbers for each row as well.

// CHECK-LABEL: attn.system @decode
// CHECK-NOT:   attn.param "table" :
// CHECK:       attn.compute "word" (%[[T:.*]]: "T", %[[K:.*]]: 16) {
// CHECK:         %[[NUMBER:.*]] = attn.read %{{.*}}[%[[V:.*]], %[[K]]] : !attn.array<[9, 16], f64>
// CHECK:         %[[SCALE:.*]] = attn.read %{{.*}}[%[[V]]] : !attn.array<[9], f64>
// CHECK:         arith.mulf %[[NUMBER]], %[[SCALE]]
attn.system @decode {
  attn.length "T"
  %s = attn.data "src" : !attn.array<["T"], i64>
  %table = attn.param "table" : !attn.array<[9, 16], f64>
  %word = attn.compute "word" (%t: "T", %k: 16) {
    %0 = attn.read %s[%t] : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %table[%1, %k] : !attn.array<[9, 16], f64>
    attn.yield %2 : f64
  } : !attn.array<["T", 16], f64>
  attn.output "word" %word : !attn.array<["T", 16], f64>
}

// -----

// Not: a product of two arrays of an example.

// CHECK-LABEL: attn.system @scores
// CHECK:       attn.compute "y" (%{{.*}}: "T", %{{.*}}: "T") sum (%{{.*}}: 16) order(chain, fused) {
attn.system @scores {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  %y = attn.compute "y" (%t: "T", %u: "T") sum (%k: 16) order(chain, fused) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = attn.read %x[%u, %k] : !attn.array<["T", 16], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  attn.output "y" %y : !attn.array<["T", "T"], f64>
}
