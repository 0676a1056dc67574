// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.program @locations
attn.program @locations {
  attn.length "S"
  // CHECK: attn.location = #attn.location<argument 0>
  %x = attn.data "x" {attn.location = #attn.location<argument 0>} : !attn.array<["S", 8], f64>
  %zero = attn.param "zero" {attn.location = #attn.location<argument 1>} : !attn.array<[8], f64>
  // CHECK: #attn.location<own 4 ranks>
  // CHECK: #attn.location<same 4>
  // CHECK: attn.carries = [#attn.location<carry 3>]
  // CHECK-SAME: attn.locations = [#attn.location<own 2>, #attn.location<own 3>]
  // CHECK-SAME: attn.swaps = [unit]
  %last, %all = attn.scan "S" (%i) carries (%before = %zero : !attn.array<[8], f64>) axes [0] {
    %next = attn.compute (%k: 8) {
      %0 = attn.read %before[%k] : !attn.array<[8], f64>
      attn.yield %0 : f64
    } {attn.location = #attn.location<own 4 ranks>} : !attn.array<[8], f64>
    %view = attn.reshape %next keep 0 {attn.location = #attn.location<same 4>} : !attn.array<[8], f64> -> !attn.array<[2, 4], f64>
    attn.yield %next, %next : !attn.array<[8], f64>, !attn.array<[8], f64>
  } : !attn.array<[8], f64>, !attn.array<["S", 8], f64> {attn.locations = [#attn.location<own 2>, #attn.location<own 3>], attn.carries = [#attn.location<carry 3>],
     attn.swaps = [unit]}
  // CHECK: attn.location = #attn.location<room 1>
  // CHECK: attn.rooms = [#attn.room<64 of i64>, #attn.room<64 x "S" to 16 plus 16>, #attn.room<1 x 8 x "S" plus 3>]
  %c = attn.kernel strips over "S" {
    %s = attn.compute "s" (%t: "S") softmax (%k: 8) {
      %0 = attn.read %x[%t, %k] : !attn.array<["S", 8], f64>
      attn.yield %0 : f64
    } {attn.shared = array<i64: 0>, attn.location = #attn.location<room 1>} : !attn.array<["S", 8], f64>
    %own = attn.compute "c" (%t: "S") sum (%k: 8) {
      %0 = attn.read %s[%t, %k] : !attn.array<["S", 8], f64>
      attn.yield %0 : f64
    } {attn.shared = array<i64: 0>} : !attn.array<["S"], f64>
    attn.yield %own : !attn.array<["S"], f64>
  } {attn.rooms = [#attn.room<64 of i64>, #attn.room<64 x "S" to 16 plus 16>, #attn.room<1 x 8 x "S" plus 3>]} : !attn.array<["S"], f64>
  // CHECK: attn.list = #attn.location<list 8>
  // CHECK-SAME: attn.packed = #attn.location<packed 7 kept>
  %y = attn.compute (%k: 8) {
    %0 = attn.read %zero[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.packed = #attn.location<packed 7 kept>, attn.list = #attn.location<list 8>} : !attn.array<[8], f64>
}
