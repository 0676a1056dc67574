// RUN: fovea-opt %s --split-input-file --attn-batch --attn-order-indices | FileCheck %s

// What stands between two convolutions has the order that the first one gives,
// whatever the file says: channels last. Parameters are turned for it.

// CHECK-LABEL: attn.program @between
attn.program @between {
  %x = attn.data "x" : !attn.array<[24, 40, 16], f64>
  %u = attn.param "u" : !attn.array<[16, 32], f64>
  // CHECK: %[[W:.*]] = attn.compute (%d1: 3, %d2: 3, %d0: 32) {
  // CHECK-NEXT: attn.read %w[%d0, %d1, %d2]
  // CHECK: attn.batch = "once"
  %w = attn.param "w" : !attn.array<[32, 3, 3], f64>
  %v = attn.param "v" : !attn.array<[64, 32], f64>
  // CHECK: %[[ONE:.*]] = attn.compute "one" (%i: 24, %j: 40, %c: 32) sum
  %one = attn.compute "one" (%i: 24, %j: 40, %c: 32) sum (%k: 16) {
    %0 = attn.read %x[%i, %j, %k] : !attn.array<[24, 40, 16], f64>
    %1 = attn.read %u[%k, %c] : !attn.array<[16, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[24, 40, 32], f64>
  // CHECK: %[[TWO:.*]] = attn.compute "two" (%i: 24, %j: 40, %c: 32) {
  // CHECK-NEXT: attn.read %[[ONE]][%i, %j, %c]
  %two = attn.compute "two" (%c: 32, %i: 24, %j: 40) {
    %0 = attn.read %one[%i, %j, %c] : !attn.array<[24, 40, 32], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[32, 24, 40], f64>
  // A sum over places of each channel by itself.
  // CHECK: %[[THREE:.*]] = attn.compute "three" (%i: 24, %j: 40, %c: 32) sum (%k: 3, %l: 3) {
  // CHECK: attn.read %[[TWO]][%{{[0-9]+}}, %{{[0-9]+}}, %c] default
  // CHECK: attn.read %[[W]][%k, %l, %c]
  %three = attn.compute "three" (%c: 32, %i: 24, %j: 40) sum (%k: 3, %l: 3) {
    %zero = arith.constant 0.0 : f64
    %0 = arith.addi %i, %k : index
    %1 = arith.addi %j, %l : index
    %2 = attn.read %two[%c, %0, %1] default %zero : f64 : !attn.array<[32, 24, 40], f64>
    %3 = attn.read %w[%c, %k, %l] : !attn.array<[32, 3, 3], f64>
    %4 = arith.mulf %2, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<[32, 24, 40], f64>
  // CHECK: attn.compute "mean" (%c: 32) mean (%i: 24, %j: 40) {
  // CHECK-NEXT: attn.read %[[THREE]][%i, %j, %c]
  %mean = attn.compute "mean" (%c: 32) mean (%i: 24, %j: 40) {
    %0 = attn.read %three[%c, %i, %j] : !attn.array<[32, 24, 40], f64>
    attn.yield %0 : f64
  } : !attn.array<[32], f64>
  // The product has its terms last, as it wants them.
  // CHECK: attn.compute "four" (%i: 24, %j: 40, %d: 64) sum (%k: 32) {
  // CHECK-NEXT: attn.read %[[THREE]][%i, %j, %k]
  %four = attn.compute "four" (%i: 24, %j: 40, %d: 64) sum (%k: 32) {
    %0 = attn.read %three[%k, %i, %j] : !attn.array<[32, 24, 40], f64>
    %1 = attn.read %v[%d, %k] : !attn.array<[64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[24, 40, 64], f64>
  attn.output "mean" %mean : !attn.array<[32], f64>
  attn.output "four" %four : !attn.array<[24, 40, 64], f64>
}

// -----

// What must stay: an output; what a product has its terms last in; what reads
// as many neighbours as it would in another order; an index that is too short.

// CHECK-LABEL: attn.program @kept
attn.program @kept {
  %x = attn.data "x" : !attn.array<[24, 32], f64>
  %y = attn.data "y" : !attn.array<[24, 4], f64>
  %w = attn.param "w" : !attn.array<[16, 24], f64>
  // CHECK: attn.compute "output" (%c: 32, %i: 24)
  %output = attn.compute "output" (%c: 32, %i: 24) {
    %0 = attn.read %x[%i, %c] : !attn.array<[24, 32], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[32, 24], f64>
  // CHECK: attn.compute "factor" (%c: 32, %i: 24)
  %factor = attn.compute "factor" (%c: 32, %i: 24) {
    %0 = attn.read %x[%i, %c] : !attn.array<[24, 32], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[32, 24], f64>
  // CHECK: attn.compute "product" (%c: 32, %d: 16)
  %product = attn.compute "product" (%c: 32, %d: 16) sum (%k: 24) {
    %0 = attn.read %factor[%c, %k] : !attn.array<[32, 24], f64>
    %1 = attn.read %w[%d, %k] : !attn.array<[16, 24], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[32, 16], f64>
  // CHECK: attn.compute "both" (%c: 32, %i: 24)
  %both = attn.compute "both" (%c: 32, %i: 24) {
    %0 = attn.read %x[%i, %c] : !attn.array<[24, 32], f64>
    %1 = attn.read %factor[%c, %i] : !attn.array<[32, 24], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[32, 24], f64>
  // CHECK: attn.compute "short" (%c: 4, %i: 24)
  %short = attn.compute "short" (%c: 4, %i: 24) {
    %0 = attn.read %y[%i, %c] : !attn.array<[24, 4], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[4, 24], f64>
  %sum = attn.compute "sum" () sum (%c: 32, %i: 24) {
    %0 = attn.read %both[%c, %i] : !attn.array<[32, 24], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %all = attn.compute "all" () sum (%c: 4, %i: 24) {
    %0 = attn.read %short[%c, %i] : !attn.array<[4, 24], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "output" %output : !attn.array<[32, 24], f64>
  attn.output "product" %product : !attn.array<[32, 16], f64>
  attn.output "sum" %sum : !attn.array<[], f64>
  attn.output "all" %all : !attn.array<[], f64>
}
