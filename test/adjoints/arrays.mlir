// RUN: fovea-opt %s --attn-differentiate --split-input-file | FileCheck %s
// RUN: fovea-gradcheck %s --length T=3
// RUN: fovea-gradcheck %s --length T=1 --seed 2 --passes attn-split-concat,attn-inline

// A part gets its columns; a part that stands twice gets both.

// CHECK-LABEL: module @concat
// CHECK:       %[[DH:.*]] = attn.compute "d h"
// CHECK:       attn.compute "d y" (%[[T:.*]]: "T", %[[K:.*]]: 2) {
// CHECK-NEXT:    attn.read %[[DH]][%[[T]], %[[K]]]
// CHECK:       attn.compute "d c" (%[[T:.*]]: "T", %[[K:.*]]: 3) {
// CHECK:         %[[COLUMN:.*]] = arith.addi %[[K]], %c2
// CHECK-NEXT:    attn.read %[[DH]][%[[T]], %[[COLUMN]]]
// CHECK:       attn.compute "d y" (%[[T:.*]]: "T", %[[K:.*]]: 2) {
// CHECK:         %[[COLUMN:.*]] = arith.addi %[[K]], %c5
module @concat {
  attn.system @loss {
    attn.length "T"
    %a = attn.param "a" : !attn.array<["T", 2], f64>
    %b = attn.param "b" : !attn.array<["T", 3], f64>
    %y = attn.compute "y" (%t: "T", %k: 2) {
      %0 = attn.read %a[%t, %k] : !attn.array<["T", 2], f64>
      %1 = math.sin %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["T", 2], f64>
    %c = attn.compute "c" (%t: "T", %k: 3) {
      %0 = attn.read %b[%t, %k] : !attn.array<["T", 3], f64>
      %1 = math.sin %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["T", 3], f64>
    %h = attn.concat "h" %y, %c, %y : !attn.array<["T", 2], f64>, !attn.array<["T", 3], f64>, !attn.array<["T", 2], f64> -> !attn.array<["T", 7], f64>
    %nll = attn.compute "nll" () sum (%t: "T", %k: 7) {
      %0 = attn.read %h[%t, %k] : !attn.array<["T", 7], f64>
      %1 = arith.index_cast %k : index to i64
      %2 = arith.sitofp %1 : i64 to f64
      %3 = arith.mulf %0, %2 : f64
      %4 = math.sin %3 : f64
      attn.yield %4 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// CHECK-LABEL: module @reshape
// CHECK:       attn.reshape "d x" %{{.*}} keep 1 : !attn.array<["T", 2, 3], f64> -> !attn.array<["T", 6], f64>
module @reshape {
  attn.system @loss {
    attn.length "T"
    %x = attn.param "x" : !attn.array<["T", 6], f64>
    %y = attn.reshape %x keep 1 : !attn.array<["T", 6], f64> -> !attn.array<["T", 2, 3], f64>
    %nll = attn.compute "nll" () sum (%t: "T", %i: 2, %k: 3) {
      %0 = attn.read %y[%t, %i, %k] : !attn.array<["T", 2, 3], f64>
      %1 = arith.index_cast %i : index to i64
      %2 = arith.sitofp %1 : i64 to f64
      %3 = arith.mulf %0, %2 : f64
      %4 = math.sin %3 : f64
      attn.yield %4 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// The same elements are dropped, by the same words, which are drawn again: no
// array keeps them.

// CHECK-LABEL: module @dropout
// CHECK:       attn.compute "y" (%[[T:.*]]: "T")
// CHECK:         attn.random[%[[T]]] ordinal 3 word 0 : i64
// CHECK:       attn.compute "d x" (%[[T2:.*]]: "T")
// CHECK-DAG:     %[[WORD:.*]] = attn.random[%[[T2]]] ordinal 3 word 0 : i64
// CHECK-DAG:     %[[DROP:.*]] = arith.cmpi slt, %[[WORD]], %{{.*}} : i64
// CHECK-DAG:     %[[FACTOR:.*]] = arith.select %[[DROP]]
// CHECK-DAG:     arith.mulf {{.*}}%[[FACTOR]]
module @dropout {
  attn.system @loss {
    attn.length "T"
    %x = attn.param "x" : !attn.array<["T"], f64>
    %y = attn.compute "y" (%t: "T") {
      %limit = arith.constant 2147483648 : i64
      %zero = arith.constant 0.0 : f64
      %two = arith.constant 2.0 : f64
      %word = attn.random [%t] ordinal 3 word 0 : i64
      %isDropped = arith.cmpi slt, %word, %limit : i64
      %factor = arith.select %isDropped, %zero, %two : f64
      %0 = attn.read %x[%t] : !attn.array<["T"], f64>
      %1 = arith.mulf %0, %factor : f64
      attn.yield %1 : f64
    } : !attn.array<["T"], f64>
    %nll = attn.compute "nll" () sum (%t: "T") {
      %0 = attn.read %y[%t] : !attn.array<["T"], f64>
      %1 = math.sin %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}
