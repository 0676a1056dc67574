// RUN: fovea-opt %s --split-input-file --attn-order-equations | FileCheck %s

// Rows of the examples times a parameter, on either side, round both factors.

// CHECK-LABEL: attn.system @loss
module attributes {attn.sums = array<i64: 1>} {
  attn.system @loss {
    attn.length "T"
    %x = attn.data "x" : !attn.array<["T", 16], f64>
    %w = attn.param "w" : !attn.array<[20, 16], f64>
    // CHECK: attn.compute "y" {{.*}} order(chain, fused) {
    // CHECK: attn.precision = bf16, attn.sums = array<i64: 1>
    %y = attn.compute "y" (%t: "T", %n: 20) sum (%k: 16) order(chain, fused) {
      %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
      %1 = attn.read %w[%n, %k] : !attn.array<[20, 16], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["T", 20], f64>
    // CHECK: attn.compute "z" {{.*}} order(chain, fused) {
    // CHECK: attn.precision = bf16, attn.sums = array<i64: 1>
    %z = attn.compute "z" (%t: "T", %k: 16) sum (%n: 20) order(chain, fused) {
      %0 = attn.read %y[%t, %n] : !attn.array<["T", 20], f64>
      %1 = attn.read %w[%n, %k] : !attn.array<[20, 16], f64>
      %2 = arith.mulf %1, %0 : f64
      attn.yield %2 : f64
    } : !attn.array<["T", 16], f64>
    attn.output "z" %z : !attn.array<["T", 16], f64>
  }
}

// -----

// What is small stays as it is: fewer than 16 terms, or columns.

// CHECK-LABEL: attn.system @loss
// CHECK-NOT: attn.precision
module attributes {attn.sums = array<i64: 1>} {
  attn.system @loss {
    attn.length "T"
    %x = attn.data "x" : !attn.array<["T", 15], f64>
    %u = attn.param "u" : !attn.array<[20, 15], f64>
    %w = attn.param "w" : !attn.array<[15, 20], f64>
    %y = attn.compute "y" (%t: "T", %n: 20) sum (%k: 15) order(chain, fused) {
      %0 = attn.read %x[%t, %k] : !attn.array<["T", 15], f64>
      %1 = attn.read %u[%n, %k] : !attn.array<[20, 15], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["T", 20], f64>
    %z = attn.compute "z" (%t: "T", %n: 15) sum (%k: 20) order(chain, fused) {
      %0 = attn.read %y[%t, %k] : !attn.array<["T", 20], f64>
      %1 = attn.read %w[%n, %k] : !attn.array<[15, 20], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["T", 15], f64>
    attn.output "z" %z : !attn.array<["T", 15], f64>
  }
}

// -----

// So do scores of attention, products of parameters alone, sums in lanes, and
// convolutions, which compute the places that they read.

// CHECK-LABEL: attn.system @loss
// CHECK-NOT: attn.precision
module attributes {attn.sums = array<i64: 1>} {
  attn.system @loss {
    attn.length "T"
    %x = attn.data "x" : !attn.array<["T", 16], f64>
    %u = attn.param "u" : !attn.array<[20, 16], f64>
    %w = attn.param "w" : !attn.array<[20, 3, 16], f64>
    %v = attn.param "v" : !attn.array<[16], f64>
    %e = attn.compute "e" (%t: "T", %i: "T") sum (%k: 16) order(chain, fused) {
      %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
      %1 = attn.read %x[%i, %k] : !attn.array<["T", 16], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["T", "T"], f64>
    %p = attn.compute "p" (%m: 20, %n: 20) sum (%k: 16) order(chain, fused) {
      %0 = attn.read %u[%m, %k] : !attn.array<[20, 16], f64>
      %1 = attn.read %u[%n, %k] : !attn.array<[20, 16], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[20, 20], f64>
    %l = attn.compute "l" (%t: "T") sum (%k: 16) order(lanes %k, fused) {
      %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
      %1 = attn.read %v[%k] : !attn.array<[16], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["T"], f64>
    %c = attn.compute "c" (%t: "T", %n: 20) sum (%j: 3, %k: 16) order(chain, fused) where {
      %last = attn.extent "T"
      %at = arith.addi %t, %j : index
      %0 = arith.cmpi slt, %at, %last : index
      attn.yield %0 : i1
    } {
      %at = arith.addi %t, %j : index
      %0 = attn.read %x[%at, %k] : !attn.array<["T", 16], f64>
      %1 = attn.read %w[%n, %j, %k] : !attn.array<[20, 3, 16], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["T", 20], f64>
    attn.output "e" %e : !attn.array<["T", "T"], f64>
    attn.output "p" %p : !attn.array<[20, 20], f64>
    attn.output "l" %l : !attn.array<["T"], f64>
    attn.output "c" %c : !attn.array<["T", 20], f64>
  }
}

// -----

// Without the attribute of the module no product is.

// CHECK-LABEL: attn.system @loss
// CHECK-NOT: attn.precision
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
  %z = attn.compute "z" (%t: "T", %k: 16) sum (%n: 20) order(chain, fused) {
    %0 = attn.read %y[%t, %n] : !attn.array<["T", 20], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[20, 16], f64>
    %2 = arith.mulf %1, %0 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 16], f64>
  attn.output "z" %z : !attn.array<["T", 16], f64>
}
