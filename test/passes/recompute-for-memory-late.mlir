// RUN: fovea-opt %s "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn-recompute-for-memory{bytes=60000 batch=10 lengths=T=100})" | FileCheck %s --check-prefixes=CHECK,LESS
// RUN: fovea-opt %s "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn-recompute-for-memory{bytes=1000000 batch=10 lengths=T=100})" | FileCheck %s --check-prefixes=CHECK,ROOM

// %g and %h of 32,000 bytes each wait for their only readers, far below. Under a limit of
// 60 KB one of them is computed there instead.

// CHECK-LABEL: attn.program @late
// ROOM: attn.compute "g"
// ROOM: attn.compute "h"
// CHECK: attn.compute "a8"
// LESS:  attn.compute "{{[gh]}}"
// ROOM-NOT: attn.compute "{{[gh]}}"
// CHECK: attn.compute "end"
attn.program @late {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 8], f64>
  %g = attn.compute "g" (%t: "T", %k: 8) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 8], f64>
    %1 = math.sin %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %h = attn.compute "h" (%t: "T", %k: 8) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 8], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %a0 = attn.compute "a0" (%t: "T") sum (%k: 8) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 8], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %a1 = attn.compute "a1" (%t: "T") {
    %0 = attn.read %a0[%t] : !attn.array<["T"], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %a2 = attn.compute "a2" (%t: "T") {
    %0 = attn.read %a1[%t] : !attn.array<["T"], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %a3 = attn.compute "a3" (%t: "T") {
    %0 = attn.read %a2[%t] : !attn.array<["T"], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %a4 = attn.compute "a4" (%t: "T") {
    %0 = attn.read %a3[%t] : !attn.array<["T"], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %a5 = attn.compute "a5" (%t: "T") {
    %0 = attn.read %a4[%t] : !attn.array<["T"], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %a6 = attn.compute "a6" (%t: "T") {
    %0 = attn.read %a5[%t] : !attn.array<["T"], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %a7 = attn.compute "a7" (%t: "T") {
    %0 = attn.read %a6[%t] : !attn.array<["T"], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %a8 = attn.compute "a8" (%t: "T") {
    %0 = attn.read %a7[%t] : !attn.array<["T"], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %between = attn.compute "between" (%t: "T") sum (%k: 8) {
    %0 = attn.read %g[%t, %k] : !attn.array<["T", 8], f64>
    %1 = attn.read %a8[%t] : !attn.array<["T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %end = attn.compute "end" (%t: "T") sum (%k: 8) {
    %0 = attn.read %h[%t, %k] : !attn.array<["T", 8], f64>
    %1 = attn.read %between[%t] : !attn.array<["T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  attn.output "end" %end : !attn.array<["T"], f64>
}
