// RUN: fovea-opt %s --split-input-file --attn-batch --attn-shorten-lives | FileCheck %s

// Guarded rows are computed again for a reader far behind. What it reads, `h`, is
// there anyway; a chain of such rows is computed again as a whole.

// CHECK-LABEL: attn.program @again
// CHECK:     %[[H:.*]] = attn.compute "h"
// CHECK:     %[[A:.*]] = attn.compute "a"
// CHECK:     attn.read %[[H]]
// CHECK:     %[[B:.*]] = attn.compute "b"
// CHECK:     attn.read %[[A]]
// CHECK:     attn.compute "early"
// CHECK:     attn.read %[[B]]
// CHECK:     %[[F:.*]] = attn.compute "f8"
// CHECK:     %[[A2:.*]] = attn.compute "a"
// CHECK:     attn.read %[[H]]
// CHECK:     %[[B2:.*]] = attn.compute "b"
// CHECK:     attn.read %[[A2]]
// CHECK:     attn.compute "late"
// CHECK-DAG: attn.read %[[B2]]
// CHECK-DAG: attn.read %[[H]]
// CHECK-DAG: attn.read %[[F]]
attn.program @again {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 8], f64>
  %g = attn.data "g" : !attn.array<["T"], f64>
  %h = attn.compute "h" (%t: "T", %n: 8) where {
    %zero = arith.constant 0.0 : f64
    %g0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %on = arith.cmpf ogt, %g0, %zero : f64
    attn.yield %on : i1
  } {
    %0 = attn.read %x[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %a = attn.compute "a" (%t: "T", %n: 8) where {
    %zero = arith.constant 0.0 : f64
    %g0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %on = arith.cmpf ogt, %g0, %zero : f64
    attn.yield %on : i1
  } {
    %0 = attn.read %h[%t, %n] : !attn.array<["T", 8], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %b = attn.compute "b" (%t: "T", %n: 8) where {
    %zero = arith.constant 0.0 : f64
    %g0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %on = arith.cmpf ogt, %g0, %zero : f64
    attn.yield %on : i1
  } {
    %0 = attn.read %a[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %early = attn.compute "early" (%t: "T", %n: 8) where {
    %zero = arith.constant 0.0 : f64
    %g0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %on = arith.cmpf ogt, %g0, %zero : f64
    attn.yield %on : i1
  } {
    %0 = attn.read %b[%t, %n] : !attn.array<["T", 8], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 8], f64>
  attn.output "early" %early : !attn.array<["T", 8], f64>
  %f0 = attn.compute "f0" (%t: "T", %n: 8) {
    %0 = attn.read %x[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f1 = attn.compute "f1" (%t: "T", %n: 8) {
    %0 = attn.read %f0[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f2 = attn.compute "f2" (%t: "T", %n: 8) {
    %0 = attn.read %f1[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f3 = attn.compute "f3" (%t: "T", %n: 8) {
    %0 = attn.read %f2[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f4 = attn.compute "f4" (%t: "T", %n: 8) {
    %0 = attn.read %f3[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f5 = attn.compute "f5" (%t: "T", %n: 8) {
    %0 = attn.read %f4[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f6 = attn.compute "f6" (%t: "T", %n: 8) {
    %0 = attn.read %f5[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f7 = attn.compute "f7" (%t: "T", %n: 8) {
    %0 = attn.read %f6[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f8 = attn.compute "f8" (%t: "T", %n: 8) {
    %0 = attn.read %f7[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %late = attn.compute "late" (%t: "T", %n: 8) where {
    %zero = arith.constant 0.0 : f64
    %g0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %on = arith.cmpf ogt, %g0, %zero : f64
    attn.yield %on : i1
  } {
    %0 = attn.read %b[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.read %h[%t, %n] : !attn.array<["T", 8], f64>
    %2 = attn.read %f8[%t, %n] : !attn.array<["T", 8], f64>
    %3 = arith.mulf %0, %1 : f64
    %4 = arith.mulf %2, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["T", 8], f64>
  attn.output "late" %late : !attn.array<["T", 8], f64>
}

// -----

// What rows are computed from would only be kept for them: they stay.

// CHECK-LABEL: attn.program @once
// CHECK:     attn.compute "a"
// CHECK-NOT: attn.compute "a"
// CHECK:     attn.compute "late"
attn.program @once {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 8], f64>
  %g = attn.data "g" : !attn.array<["T"], f64>
  %h = attn.compute "h" (%t: "T", %n: 8) {
    %0 = attn.read %x[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  attn.output "h" %h : !attn.array<["T", 8], f64>
  %a = attn.compute "a" (%t: "T", %n: 8) where {
    %zero = arith.constant 0.0 : f64
    %g0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %on = arith.cmpf ogt, %g0, %zero : f64
    attn.yield %on : i1
  } {
    %0 = attn.read %h[%t, %n] : !attn.array<["T", 8], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %early = attn.compute "early" (%t: "T", %n: 8) where {
    %zero = arith.constant 0.0 : f64
    %g0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %on = arith.cmpf ogt, %g0, %zero : f64
    attn.yield %on : i1
  } {
    %0 = attn.read %a[%t, %n] : !attn.array<["T", 8], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 8], f64>
  attn.output "early" %early : !attn.array<["T", 8], f64>
  %f0 = attn.compute "f0" (%t: "T", %n: 8) {
    %0 = attn.read %x[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f1 = attn.compute "f1" (%t: "T", %n: 8) {
    %0 = attn.read %f0[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f2 = attn.compute "f2" (%t: "T", %n: 8) {
    %0 = attn.read %f1[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f3 = attn.compute "f3" (%t: "T", %n: 8) {
    %0 = attn.read %f2[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f4 = attn.compute "f4" (%t: "T", %n: 8) {
    %0 = attn.read %f3[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f5 = attn.compute "f5" (%t: "T", %n: 8) {
    %0 = attn.read %f4[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f6 = attn.compute "f6" (%t: "T", %n: 8) {
    %0 = attn.read %f5[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f7 = attn.compute "f7" (%t: "T", %n: 8) {
    %0 = attn.read %f6[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f8 = attn.compute "f8" (%t: "T", %n: 8) {
    %0 = attn.read %f7[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %late = attn.compute "late" (%t: "T", %n: 8) where {
    %zero = arith.constant 0.0 : f64
    %g0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %on = arith.cmpf ogt, %g0, %zero : f64
    attn.yield %on : i1
  } {
    %0 = attn.read %a[%t, %n] : !attn.array<["T", 8], f64>
    %2 = attn.read %f8[%t, %n] : !attn.array<["T", 8], f64>
    %4 = arith.mulf %2, %0 : f64
    attn.yield %4 : f64
  } : !attn.array<["T", 8], f64>
  attn.output "late" %late : !attn.array<["T", 8], f64>
}

// -----

// The last reader of rows comes as soon as it can.

// CHECK-LABEL: attn.program @sooner
// CHECK:      attn.compute "h"
// CHECK-NOT:  attn.compute "f
// CHECK:      attn.compute "last"
// CHECK:      attn.compute "f0"
attn.program @sooner {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 8], f64>
  %g = attn.data "g" : !attn.array<["T"], f64>
  %h = attn.compute "h" (%t: "T", %n: 8) where {
    %zero = arith.constant 0.0 : f64
    %g0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %on = arith.cmpf ogt, %g0, %zero : f64
    attn.yield %on : i1
  } {
    %0 = attn.read %x[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f0 = attn.compute "f0" (%t: "T", %n: 8) {
    %0 = attn.read %x[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f1 = attn.compute "f1" (%t: "T", %n: 8) {
    %0 = attn.read %f0[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f2 = attn.compute "f2" (%t: "T", %n: 8) {
    %0 = attn.read %f1[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f3 = attn.compute "f3" (%t: "T", %n: 8) {
    %0 = attn.read %f2[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f4 = attn.compute "f4" (%t: "T", %n: 8) {
    %0 = attn.read %f3[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f5 = attn.compute "f5" (%t: "T", %n: 8) {
    %0 = attn.read %f4[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f6 = attn.compute "f6" (%t: "T", %n: 8) {
    %0 = attn.read %f5[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f7 = attn.compute "f7" (%t: "T", %n: 8) {
    %0 = attn.read %f6[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %f8 = attn.compute "f8" (%t: "T", %n: 8) {
    %0 = attn.read %f7[%t, %n] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %last = attn.compute "last" (%t: "T", %n: 8) where {
    %zero = arith.constant 0.0 : f64
    %g0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %on = arith.cmpf ogt, %g0, %zero : f64
    attn.yield %on : i1
  } {
    %0 = attn.read %h[%t, %n] : !attn.array<["T", 8], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  attn.output "last" %last : !attn.array<["T", 8], f64>
  attn.output "f8" %f8 : !attn.array<["T", 8], f64>
}
