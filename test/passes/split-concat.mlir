// RUN: fovea-opt %s --attn-split-concat --split-input-file | FileCheck %s

// W (y ++ c): one sum per part, columns of W shifted, then the sum of both.

// CHECK-LABEL: attn.system @columns
// CHECK-DAG:   %[[Y:.*]] = attn.data "y"
// CHECK-DAG:   %[[C:.*]] = attn.data "c"
// CHECK-DAG:   %[[W:.*]] = attn.param "w"
// CHECK-NOT:   attn.concat
// CHECK:       %[[FIRST:.*]] = attn.compute "z" (%[[T:.*]]: "T", %[[J:.*]]: 4) sum (%[[K:.*]]: 3) {
// CHECK-DAG:     attn.read %[[Y]][%[[T]], %[[K]]]
// CHECK-DAG:     attn.read %[[W]][%[[J]], %[[K]]]
// CHECK:       %[[SECOND:.*]] = attn.compute "z" (%[[T:.*]]: "T", %[[J:.*]]: 4) sum (%[[K:.*]]: 2) {
// CHECK:         %[[THREE:.*]] = arith.constant 3
// CHECK:         %[[SHIFTED:.*]] = arith.addi %[[K]], %[[THREE]]
// CHECK-DAG:     attn.read %[[C]][%[[T]], %[[K]]]
// CHECK-DAG:     attn.read %[[W]][%[[J]], %[[SHIFTED]]]
// CHECK:       %[[Z:.*]] = attn.compute "z" (%[[T:.*]]: "T", %[[J:.*]]: 4) {
// CHECK:         %[[LEFT:.*]] = attn.read %[[FIRST]][%[[T]], %[[J]]]
// CHECK:         %[[RIGHT:.*]] = attn.read %[[SECOND]][%[[T]], %[[J]]]
// CHECK:         arith.addf %[[LEFT]], %[[RIGHT]]
// CHECK:       attn.output "z" %[[Z]]
attn.system @columns {
  attn.length "T"
  %y = attn.data "y" : !attn.array<["T", 3], f64>
  %c = attn.data "c" : !attn.array<["T", 2], f64>
  %w = attn.param "w" : !attn.array<[4, 5], f64>
  %h = attn.concat %y, %c : !attn.array<["T", 3], f64>, !attn.array<["T", 2], f64> -> !attn.array<["T", 5], f64>
  %z = attn.compute "z" (%t: "T", %j: 4) sum (%k: 5) {
    %0 = attn.read %h[%t, %k] : !attn.array<["T", 5], f64>
    %1 = attn.read %w[%j, %k] : !attn.array<[4, 5], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 4], f64>
  attn.output "z" %z : !attn.array<["T", 4], f64>
}

// -----

// A recurrence through the concatenation stays one, the condition is repeated,
// and the index keeps its value where it is a number.

// CHECK-LABEL: attn.system @recurrence
// CHECK:       %[[X:.*]] = attn.data "x"
// CHECK:       attn.compute (%[[T:.*]]: "T") sum (%[[K:.*]]: 2) where {
// CHECK:         arith.cmpi slt, %[[K]]
// CHECK:       } {
// CHECK:         attn.read %[[S:.*]][%{{.*}}] default
// CHECK:         arith.index_cast %[[K]]
// CHECK:       attn.compute (%[[T:.*]]: "T") sum (%[[K:.*]]: 1) where {
// CHECK:         %[[SHIFTED:.*]] = arith.addi %[[K]]
// CHECK:         arith.cmpi slt, %[[SHIFTED]]
// CHECK:       } {
// CHECK:         %[[SHIFTED:.*]] = arith.addi %[[K]]
// CHECK:         attn.read %[[X]][%{{.*}}, %[[K]]]
// CHECK:         arith.index_cast %[[SHIFTED]]
// CHECK:       %[[S]] = attn.compute (%{{.*}}: "T") {
attn.system @recurrence {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 1], f64>
  %pair = attn.compute "pair" (%t: "T", %i: 2) {
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %s[%before] default %zero : f64 : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 2], f64>
  %h = attn.concat %pair, %x : !attn.array<["T", 2], f64>, !attn.array<["T", 1], f64> -> !attn.array<["T", 3], f64>
  %s = attn.compute (%t: "T") sum (%k: 3) where {
    %c2 = arith.constant 2 : index
    %0 = arith.cmpi slt, %k, %c2 : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %h[%t, %k] : !attn.array<["T", 3], f64>
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %1 = attn.read %s[%before] default %zero : f64 : !attn.array<["T"], f64>
    %2 = arith.index_cast %k : index to i64
    %3 = arith.sitofp %2 : i64 to f64
    %4 = arith.mulf %0, %3 : f64
    %5 = arith.addf %4, %1 : f64
    attn.yield %5 : f64
  } : !attn.array<["T"], f64>
  attn.output "s" %s : !attn.array<["T"], f64>
}

// -----

// Parts of parts; two concatenations that are cut at different places.

// CHECK-LABEL: attn.system @nested
// CHECK-DAG:   %[[A:.*]] = attn.data "a"
// CHECK-DAG:   %[[B:.*]] = attn.data "b"
// CHECK-NOT:   attn.concat
// CHECK-DAG:   sum (%{{.*}}: 1)
// CHECK-DAG:   sum (%{{.*}}: 1)
// CHECK-DAG:   sum (%{{.*}}: 1)
// CHECK-NOT:   attn.concat
attn.system @nested {
  %a = attn.data "a" : !attn.array<[1], f64>
  %b = attn.data "b" : !attn.array<[2], f64>
  %ab = attn.concat %a, %b : !attn.array<[1], f64>, !attn.array<[2], f64> -> !attn.array<[3], f64>
  %aba = attn.concat %b, %a : !attn.array<[2], f64>, !attn.array<[1], f64> -> !attn.array<[3], f64>
  %z = attn.compute "z" () sum (%k: 3) {
    %0 = attn.read %ab[%k] : !attn.array<[3], f64>
    %1 = attn.read %aba[%k] : !attn.array<[3], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[], f64>
  attn.output "z" %z : !attn.array<[], f64>
}

// -----

// Not a sum; not the reduction index; not the joined axis.

// CHECK-LABEL: attn.system @stays
// CHECK:       %[[H:.*]] = attn.concat
// CHECK:       max (%{{.*}}: 3) {
// CHECK-NEXT:    attn.read %[[H]]
// CHECK:       (%{{.*}}: 3) sum (%{{.*}}: "T") {
// CHECK-NEXT:    attn.read %[[H]]
// CHECK-NOT:   attn.compute
attn.system @stays {
  attn.length "T"
  %a = attn.data "a" : !attn.array<["T", 1], f64>
  %b = attn.data "b" : !attn.array<["T", 2], f64>
  %h = attn.concat %a, %b : !attn.array<["T", 1], f64>, !attn.array<["T", 2], f64> -> !attn.array<["T", 3], f64>
  %largest = attn.compute (%t: "T") max (%k: 3) {
    %0 = attn.read %h[%t, %k] : !attn.array<["T", 3], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %total = attn.compute (%k: 3) sum (%t: "T") {
    %0 = attn.read %h[%t, %k] : !attn.array<["T", 3], f64>
    attn.yield %0 : f64
  } : !attn.array<[3], f64>
  attn.output "largest" %largest : !attn.array<["T"], f64>
  attn.output "total" %total : !attn.array<[3], f64>
}

// -----

// Each array is the one before it, twice: of the 4096 parts that the last one
// has, no more than 256 are summed each for itself.

// CHECK-LABEL: attn.system @doubled
// CHECK-COUNT-256: sum (%
// CHECK-NOT:   sum (%
attn.system @doubled {
  %a0 = attn.data "a" : !attn.array<[1], f64>
  %a1 = attn.concat %a0, %a0 : !attn.array<[1], f64>, !attn.array<[1], f64> -> !attn.array<[2], f64>
  %a2 = attn.concat %a1, %a1 : !attn.array<[2], f64>, !attn.array<[2], f64> -> !attn.array<[4], f64>
  %a3 = attn.concat %a2, %a2 : !attn.array<[4], f64>, !attn.array<[4], f64> -> !attn.array<[8], f64>
  %a4 = attn.concat %a3, %a3 : !attn.array<[8], f64>, !attn.array<[8], f64> -> !attn.array<[16], f64>
  %a5 = attn.concat %a4, %a4 : !attn.array<[16], f64>, !attn.array<[16], f64> -> !attn.array<[32], f64>
  %a6 = attn.concat %a5, %a5 : !attn.array<[32], f64>, !attn.array<[32], f64> -> !attn.array<[64], f64>
  %a7 = attn.concat %a6, %a6 : !attn.array<[64], f64>, !attn.array<[64], f64> -> !attn.array<[128], f64>
  %a8 = attn.concat %a7, %a7 : !attn.array<[128], f64>, !attn.array<[128], f64> -> !attn.array<[256], f64>
  %a9 = attn.concat %a8, %a8 : !attn.array<[256], f64>, !attn.array<[256], f64> -> !attn.array<[512], f64>
  %a10 = attn.concat %a9, %a9 : !attn.array<[512], f64>, !attn.array<[512], f64> -> !attn.array<[1024], f64>
  %a11 = attn.concat %a10, %a10 : !attn.array<[1024], f64>, !attn.array<[1024], f64> -> !attn.array<[2048], f64>
  %a12 = attn.concat %a11, %a11 : !attn.array<[2048], f64>, !attn.array<[2048], f64> -> !attn.array<[4096], f64>
  %z = attn.compute "z" () sum (%k: 4096) {
    %0 = attn.read %a12[%k] : !attn.array<[4096], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "z" %z : !attn.array<[], f64>
}
