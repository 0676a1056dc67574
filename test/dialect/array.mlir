// RUN: fovea-opt %s | FileCheck %s

// Extents are numbers and names in any order; elements are f64, i64 or i1.
// CHECK-LABEL: attn.system @types
attn.system @types {
  // CHECK: attn.data "number" : !attn.array<[], f64>
  attn.data "number" : !attn.array<[], f64>
  // CHECK: attn.data "words" : !attn.array<["S", 512], f64>
  attn.data "words" : !attn.array<["S", 512], f64>
  // CHECK: attn.data "nothing" : !attn.array<[0], i64>
  attn.data "nothing" : !attn.array<[0], i64>
  // CHECK: attn.data "given" : !attn.array<["2*S + 1", "T"], i1>
  attn.data "given" : !attn.array<["2*S + 1", "T"], i1>
}

// A type inside another type has its dialect's prefix.
// CHECK: test.some = tuple<!attn.array<["S"], f64>>
module attributes {test.some = tuple<!attn.array<["S"], f64>>} {}
