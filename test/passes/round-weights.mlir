// RUN: fovea-opt %s --attn-round-weights --split-input-file | FileCheck %s
// RUN: fovea-opt %s --attn-round-weights=weights=int4 --split-input-file | FileCheck %s --check-prefix=GROUPS
// RUN: fovea-opt %s --attn-round-weights=weights=f16 --split-input-file | FileCheck %s --check-prefix=HALVES

// A matrix is read in bf16; a bias, and what computes with both, stay.

// CHECK-LABEL: attn.system @loss
attn.system @loss {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  // GROUPS: attn.param "w:int4.16" {attn.precision = i4} : !attn.array<[20, 16], f64>
  // HALVES: attn.param "w:f16" {attn.precision = f16} : !attn.array<[20, 16], f64>
  // GROUPS: attn.param "b" : !attn.array<[20], f64>
  // CHECK: %[[W:.*]] = attn.param "w:bf16" {attn.precision = bf16} : !attn.array<[20, 16], f64>
  %w = attn.param "w" : !attn.array<[20, 16], f64>
  // CHECK: attn.param "b" : !attn.array<[20], f64>
  %b = attn.param "b" : !attn.array<[20], f64>
  // CHECK: attn.compute "y" {{.*}} order(chain, fused)
  // CHECK: attn.read %[[W]]
  %y = attn.compute "y" (%t: "T", %n: 20) sum (%k: 16) order(chain, fused) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[20, 16], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 20], f64>
  attn.output "y" %y : !attn.array<["T", 20], f64>
  attn.output "b" %b : !attn.array<[20], f64>
}

// -----

// Whole numbers are not rounded.

// CHECK-LABEL: attn.system @loss
attn.system @loss {
  // CHECK: attn.param "table" : !attn.array<[20, 16], i64>
  %table = attn.param "table" : !attn.array<[20, 16], i64>
  attn.output "table" %table : !attn.array<[20, 16], i64>
}
