// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-order-sums,attn-name-products,attn.program(attn-form-sums,attn-divide-work,attn-choose-blocks))" | FileCheck %s

// Gradients of a scale and of a bias are one loop, and have blocks of a warp.
// A sum over rows of another length is alone.

// CHECK-LABEL: attn.program @sums
// CHECK:      attn.compute "ds"
// CHECK:      %{{.*}}:2 = attn.kernel loop {
// CHECK-NEXT:   attn.compute "db"
// CHECK:        attn.config = #nvidia.block<32>
// CHECK:        attn.compute "dw"
// CHECK:        attn.config = #nvidia.block<32>
// CHECK:      } {attn.units = #attn.units<ranges>}
attn.program @sums attributes {attn.target = #nvidia.target<"sm_80", shared_bytes = 64512>} {
  attn.length "S"
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 64], f64>
  %u = attn.data "u" : !attn.array<["S", 64], f64>
  %db = attn.compute "db" (%k: 64) sum (%t: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<[64], f64>
  %ds = attn.compute "ds" (%k: 64) sum (%s: "S") {
    %0 = attn.read %u[%s, %k] : !attn.array<["S", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<[64], f64>
  %dw = attn.compute "dw" (%k: 64) sum (%t: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 64], f64>
    %1 = arith.mulf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[64], f64>
  attn.output "grad/b" %db : !attn.array<[64], f64>
  attn.output "grad/s" %ds : !attn.array<[64], f64>
  attn.output "grad/w" %dw : !attn.array<[64], f64>
}

// -----

// A product between them would make rows live longer.

// CHECK-LABEL: attn.program @apart
// CHECK-NOT:   attn.kernel
attn.program @apart attributes {attn.target = #nvidia.target<"sm_80", shared_bytes = 64512>} {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 64], f64>
  %z = attn.data "z" : !attn.array<["T", 64], f64>
  %db = attn.compute "db" (%k: 64) sum (%t: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<[64], f64>
  %dw = attn.compute "dw" (%k: 64, %n: 64) sum (%t: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 64], f64>
    %1 = attn.read %z[%t, %n] : !attn.array<["T", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[64, 64], f64>
  %dc = attn.compute "dc" (%k: 64) sum (%t: "T") {
    %0 = attn.read %z[%t, %k] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<[64], f64>
  attn.output "grad/b" %db : !attn.array<[64], f64>
  attn.output "grad/w" %dw : !attn.array<[64, 64], f64>
  attn.output "grad/c" %dc : !attn.array<[64], f64>
}
