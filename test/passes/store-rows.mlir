// RUN: fovea-opt %s --attn-batch --attn-store-rows --split-input-file | FileCheck %s

// What is rounded takes two bytes; so do a copy of it, and a carry that begins
// with zeros.

// CHECK-LABEL: attn.program @loss
attn.program @loss {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  // CHECK: attn.compute "k" {{.*}} {
  // CHECK: } {{.*}} : !attn.array<["T", 16], bf16>
  %k = attn.compute "k" (%t: "T", %n: 16) {
    %0 = attn.read %x[%t, %n] : !attn.array<["T", 16], f64>
    %1 = attn.rounded %0 to bf16
    attn.yield %1 : f64
  } : !attn.array<["T", 16], f64>
  // CHECK: attn.compute "copy" {{.*}} {
  // CHECK: attn.read %k[%t, %n] : !attn.array<["T", 16], bf16>
  // CHECK: } {{.*}} : !attn.array<["T", 16], f64>
  %copy = attn.compute "copy" (%t: "T", %n: 16) {
    %0 = attn.read %k[%t, %n] : !attn.array<["T", 16], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 16], f64>
  // CHECK: attn.compute "zero"
  // CHECK: } {{.*}} : !attn.array<[16], bf16>
  %zero = attn.compute "zero" (%n: 16) {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[16], f64>
  // CHECK: attn.scan "T" {{.*}} carries (%{{.*}} = %zero : !attn.array<[16], bf16>)
  // CHECK: } : !attn.array<[16], bf16>
  %last = attn.scan "T" (%t) carries (%before = %zero : !attn.array<[16], f64>) axes [] {
    %next = attn.compute "next" (%n: 16) {
      %0 = attn.read %before[%n] : !attn.array<[16], f64>
      %1 = attn.read %k[%t, %n] : !attn.array<["T", 16], f64>
      %2 = arith.addf %0, %1 : f64
      %3 = attn.rounded %2 to bf16
      attn.yield %3 : f64
    } : !attn.array<[16], f64>
    attn.yield %next : !attn.array<[16], f64>
  } : !attn.array<[16], f64>
  %sum = attn.compute "sum" () sum (%n: 16) order(chain) {
    %0 = attn.read %last[%n] : !attn.array<[16], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "sum" %sum : !attn.array<[], f64>
  attn.output "copy" %copy : !attn.array<["T", 16], f64>
}

// -----

// A caller reads outputs in f32, and so is a concatenation with other numbers.

// CHECK-LABEL: attn.program @loss
// CHECK-NOT: !attn.array<{{.*}}, bf16>
attn.program @loss {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  %k = attn.compute "k" (%t: "T", %n: 16) {
    %0 = attn.read %x[%t, %n] : !attn.array<["T", 16], f64>
    %1 = attn.rounded %0 to bf16
    attn.yield %1 : f64
  } : !attn.array<["T", 16], f64>
  %v = attn.compute "v" (%t: "T", %n: 16) {
    %0 = attn.read %x[%t, %n] : !attn.array<["T", 16], f64>
    %1 = attn.rounded %0 to bf16
    attn.yield %1 : f64
  } : !attn.array<["T", 16], f64>
  %both = attn.concat %v, %x : !attn.array<["T", 16], f64>, !attn.array<["T", 16], f64> -> !attn.array<["T", 32], f64>
  %sum = attn.compute "sum" (%n: 32) sum (%t: "T") order(chain) {
    %0 = attn.read %both[%t, %n] : !attn.array<["T", 32], f64>
    attn.yield %0 : f64
  } : !attn.array<[32], f64>
  attn.output "k" %k : !attn.array<["T", 16], f64>
  attn.output "sum" %sum : !attn.array<[32], f64>
}
