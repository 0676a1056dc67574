// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-order-sums,attn-name-products,attn.program(attn-form-places,attn-divide-work))" | FileCheck %s

// The equations of a layer norm are one kernel, with the view that one of them
// reads. The gradient of a bias reads another view of its rows, and comes after it.
// A view of the gradient comes last.

// CHECK-LABEL: attn.program @norm
// CHECK:      %[[X:.*]] = attn.data "x"
// CHECK-NOT:  attn.compute
// CHECK:      %[[K:.*]]:2 = attn.kernel places over "T" {
// CHECK-NEXT:   %[[A:.*]] = attn.compute "a"
// CHECK:        %[[M:.*]] = attn.compute "m"
// CHECK:          attn.read %[[A]]
// CHECK:        %[[V:.*]] = attn.reshape %[[A]]
// CHECK:        %[[Y:.*]] = attn.compute "y"
// CHECK:          attn.read %[[V]]
// CHECK:        attn.yield %[[A]], %[[Y]]
// CHECK-NEXT: } {attn.units = #attn.units<rows>}
// CHECK-NEXT: %[[W:.*]] = attn.reshape %[[K]]#0
// CHECK-NEXT: %[[DB:.*]] = attn.compute "db"
// CHECK:        attn.read %[[W]]
// CHECK:      attn.reshape %[[DB]]
attn.program @norm attributes {attn.target = #nvidia.target<"sm_80", shared_bytes = 64512>} {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 64], f64>
  %a = attn.compute "a" (%t: "T", %k: 64) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 64], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 64], f64>
  %w = attn.reshape %a keep 1 : !attn.array<["T", 64], f64> -> !attn.array<["T", 4, 16], f64>
  %db = attn.compute "db" (%k: 4, %n: 16) sum (%t: "T") {
    %0 = attn.read %w[%t, %k, %n] : !attn.array<["T", 4, 16], f64>
    attn.yield %0 : f64
  } : !attn.array<[4, 16], f64>
  %m = attn.compute "m" (%t: "T") mean (%k: 64) {
    %0 = attn.read %a[%t, %k] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %v = attn.reshape %a keep 1 : !attn.array<["T", 64], f64> -> !attn.array<["T", 8, 8], f64>
  %y = attn.compute "y" (%t: "T", %k: 8, %n: 8) {
    %0 = attn.read %v[%t, %k, %n] : !attn.array<["T", 8, 8], f64>
    %1 = attn.read %m[%t] : !attn.array<["T"], f64>
    %2 = arith.divf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 8, 8], f64>
  %row = attn.reshape %db keep 0 : !attn.array<[4, 16], f64> -> !attn.array<[64], f64>
  attn.output "y" %y : !attn.array<["T", 8, 8], f64>
  attn.output "grad/b" %row : !attn.array<[64], f64>
}

// -----

// No kernel: the row before, rows of another length, and what nothing has in
// common with.

// CHECK-LABEL: attn.program @apart
// CHECK-NOT:   attn.kernel
attn.program @apart attributes {attn.target = #nvidia.target<"sm_80", shared_bytes = 64512>} {
  attn.length "S"
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 64], f64>
  %z = attn.data "z" : !attn.array<["T", 64], f64>
  %u = attn.data "u" : !attn.array<["S", 64], f64>
  %a = attn.compute "a" (%t: "T", %k: 64) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 64], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 64], f64>
  %other = attn.compute "other" (%t: "T", %k: 64) {
    %0 = attn.read %z[%t, %k] : !attn.array<["T", 64], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 64], f64>
  %long = attn.compute "long" (%s: "S", %k: 64) {
    %0 = attn.read %u[%s, %k] : !attn.array<["S", 64], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["S", 64], f64>
  %b = attn.compute "b" (%t: "T", %k: 64) {
    %one = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    %before = arith.subi %t, %one : index
    %0 = attn.read %a[%before, %k] default %zero : f64 : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "b" %b : !attn.array<["T", 64], f64>
  attn.output "other" %other : !attn.array<["T", 64], f64>
  attn.output "long" %long : !attn.array<["S", 64], f64>
}

// -----

// A product needs the rows of all examples, and stands between two kernels.

// CHECK-LABEL: attn.program @product
// CHECK:       attn.kernel places over "T" {
// CHECK:         attn.compute "a"
// CHECK:         attn.compute "b"
// CHECK:       attn.compute "c"
// CHECK-SAME:  sum
// CHECK:       attn.kernel places over "T" {
// CHECK:         attn.compute "d"
// CHECK:         attn.compute "e"
attn.program @product attributes {attn.target = #nvidia.target<"sm_80", shared_bytes = 64512>} {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 64], f64>
  %w = attn.param "w" : !attn.array<[64, 64], f64>
  %a = attn.compute "a" (%t: "T", %k: 64) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 64], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 64], f64>
  %b = attn.compute "b" (%t: "T", %k: 64) {
    %0 = attn.read %a[%t, %k] : !attn.array<["T", 64], f64>
    %1 = attn.read %x[%t, %k] : !attn.array<["T", 64], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %c = attn.compute "c" (%t: "T", %n: 64) sum (%k: 64) {
    %0 = attn.read %b[%t, %k] : !attn.array<["T", 64], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %d = attn.compute "d" (%t: "T", %k: 64) {
    %0 = attn.read %c[%t, %k] : !attn.array<["T", 64], f64>
    %1 = attn.read %a[%t, %k] : !attn.array<["T", 64], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %e = attn.compute "e" (%t: "T", %k: 64) {
    %0 = attn.read %d[%t, %k] : !attn.array<["T", 64], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "e" %e : !attn.array<["T", 64], f64>
}

// -----

// A CPU has no launches to save.

// CHECK-LABEL: attn.program @cpu
// CHECK-NOT:   attn.kernel
attn.program @cpu attributes {attn.target = #cpu.target<"x86-64-v3", lanes = 8, tile_rows = 6, tile_vectors = 2>} {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 64], f64>
  %m = attn.compute "m" (%t: "T") mean (%k: 64) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %y = attn.compute "y" (%t: "T", %k: 64) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 64], f64>
    %1 = attn.read %m[%t] : !attn.array<["T"], f64>
    %2 = arith.divf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "y" %y : !attn.array<["T", 64], f64>
}
