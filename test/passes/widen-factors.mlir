// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-widen-factors))" | FileCheck %s
// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-order-sums,attn-name-products,attn.program(attn-form-strips,attn-widen-factors))" | FileCheck %s --check-prefix=STRIPS

// Kernels of products read f32 in memory: an array of this program has it. One
// that comes from another program keeps two bytes, and is copied.

// CHECK-LABEL: attn.program @loss
attn.program @loss {
  attn.length "T"
  attn.length "S"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  // CHECK: %[[H:.*]] = attn.data "h" {{.*}} : !attn.array<["S", 16], bf16>
  // CHECK: %[[WIDE:.*]] = attn.compute (%p0: "S", %p1: 16) {
  // CHECK: attn.read %[[H]]
  // CHECK: } {attn.batch = "each"} : !attn.array<["S", 16], f64>
  %h = attn.data "h" : !attn.array<["S", 16], bf16>
  // CHECK: attn.compute "q"
  // CHECK: } {{.*}} : !attn.array<["T", 16], f64>
  %q = attn.compute "q" (%t: "T", %n: 16) {
    %0 = attn.read %x[%t, %n] : !attn.array<["T", 16], f64>
    %1 = attn.rounded %0 to bf16
    attn.yield %1 : f64
  } : !attn.array<["T", 16], bf16>
  // CHECK: attn.compute "e"
  // CHECK: attn.read %[[WIDE]]
  %e = attn.compute "e" (%t: "T", %i: "S") sum (%n: 16) order(chain, fused) {
    %0 = attn.read %q[%t, %n] : !attn.array<["T", 16], bf16>
    %1 = attn.read %h[%i, %n] : !attn.array<["S", 16], bf16>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  attn.output "e" %e : !attn.array<["T", "S"], f64>
}

// -----

// A sum that is no product reads each element once: two bytes are enough.

// CHECK-LABEL: attn.program @loss
attn.program @loss {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  // CHECK: attn.compute "k"
  // CHECK: } {{.*}} : !attn.array<["T", 16], bf16>
  %k = attn.compute "k" (%t: "T", %n: 16) {
    %0 = attn.read %x[%t, %n] : !attn.array<["T", 16], f64>
    %1 = attn.rounded %0 to bf16
    attn.yield %1 : f64
  } : !attn.array<["T", 16], bf16>
  %sum = attn.compute "sum" (%n: 16) sum (%t: "T") order(chain) {
    %0 = attn.read %k[%t, %n] : !attn.array<["T", 16], bf16>
    attn.yield %0 : f64
  } : !attn.array<[16], f64>
  attn.output "sum" %sum : !attn.array<[16], f64>
}

// -----

// A kernel in strips packs the values and widens its queries. Without one, both
// are f32.

// CHECK-LABEL: attn.program @attention
// CHECK-NOT: bf16>
// STRIPS-LABEL: attn.program @attention
// STRIPS: attn.compute "q"
// STRIPS: } {{.*}} : !attn.array<["T", 16], bf16>
// STRIPS: attn.compute "k"
// STRIPS: } {{.*}} : !attn.array<["S", 16], bf16>
// STRIPS: attn.kernel strips
// STRIPS: attn.read %q[{{.*}}] : !attn.array<["T", 16], bf16>
// STRIPS: attn.read %k[{{.*}}] : !attn.array<["S", 16], bf16>
attn.program @attention attributes {attn.target = #cpu.target<"x86-64-v3", lanes = 8, tile_rows = 6, tile_vectors = 2>} {
  attn.length "T"
  attn.length "S"
  %x = attn.data "x" : !attn.array<["T", 16], f64>
  %h = attn.data "h" : !attn.array<["S", 16], f64>
  %q = attn.compute "q" (%t: "T", %n: 16) {
    %0 = attn.read %x[%t, %n] : !attn.array<["T", 16], f64>
    %1 = attn.rounded %0 to bf16
    attn.yield %1 : f64
  } : !attn.array<["T", 16], bf16>
  %k = attn.compute "k" (%i: "S", %n: 16) {
    %0 = attn.read %h[%i, %n] : !attn.array<["S", 16], f64>
    %1 = attn.rounded %0 to bf16
    attn.yield %1 : f64
  } : !attn.array<["S", 16], bf16>
  %e = attn.compute "e" (%t: "T", %i: "S") sum (%n: 16) order(chain, fused) {
    %0 = attn.read %q[%t, %n] : !attn.array<["T", 16], bf16>
    %1 = attn.read %k[%i, %n] : !attn.array<["S", 16], bf16>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  %w = attn.compute "w" (%t: "T") softmax (%i: "S") order(lanes %i) {
    %0 = attn.read %e[%t, %i] : !attn.array<["T", "S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "S"], f64>
  %c = attn.compute "c" (%t: "T", %n: 16) sum (%i: "S") order(chain, fused) {
    %0 = attn.read %w[%t, %i] : !attn.array<["T", "S"], f64>
    %1 = attn.read %k[%i, %n] : !attn.array<["S", 16], bf16>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 16], f64>
  attn.output "c" %c : !attn.array<["T", 16], f64>
}
