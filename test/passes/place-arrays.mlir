// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-form-strips,attn-form-epilogues,attn-place-arrays),attn-check-phase{phase=memory})" | FileCheck %s

// The rows of a recurrence are kept: each is written where it stays, and the
// state is the row of the step before. Data and parameters are the caller's.

// CHECK-LABEL: attn.program @recurrence
attn.program @recurrence {
  attn.length "S"
  // CHECK: attn.data "x" {{.*}}attn.location = #attn.location<argument 0>
  %x = attn.data "x" : !attn.array<["S", 8], f64>
  // CHECK: attn.param "zero" {{.*}}attn.location = #attn.location<argument 1>
  %zero = attn.param "zero" : !attn.array<[8], f64>
  // CHECK:      attn.scan
  // CHECK:        attn.compute "next"
  // CHECK:        attn.location = #attn.location<row 3>
  // CHECK:      attn.carries = [#attn.location<carry 3>]
  // CHECK-SAME: attn.locations = [#attn.location<own 2>, #attn.location<own 3>]
  %last, %all = attn.scan "S" (%i) carries (%before = %zero : !attn.array<[8], f64>) axes [0] {
    %next = attn.compute "next" (%k: 8) {
      %0 = attn.read %before[%k] : !attn.array<[8], f64>
      %1 = attn.read %x[%i, %k] : !attn.array<["S", 8], f64>
      %2 = arith.addf %0, %1 : f64
      %3 = math.tanh %2 : f64
      attn.yield %3 : f64
    } : !attn.array<[8], f64>
    attn.yield %next, %next : !attn.array<[8], f64>, !attn.array<[8], f64>
  } : !attn.array<[8], f64>, !attn.array<["S", 8], f64>
  attn.output "all" %all : !attn.array<["S", 8], f64>
  attn.output "last" %last : !attn.array<[8], f64>
}

// -----

// Rows that are matrix products are copied, as those of all examples are
// consecutive where they are computed: the product and the state have memory of
// their own, by rank. So have rows that stand at another axis.

// CHECK-LABEL: attn.program @copied
module attributes {attn.target = #cpu.target<"none", lanes = 4, tile_rows = 2, tile_vectors = 1>} {
attn.program @copied {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 8], f64>
  %zero = attn.param "zero" : !attn.array<[8], f64>
  %w = attn.param "w" : !attn.array<[8, 8], f64>
  // CHECK:      attn.scan
  // CHECK:        attn.compute "z"
  // CHECK:        attn.location = #attn.location<own [[Z:[0-9]+]] ranks>
  // CHECK-SAME:   attn.packed = #attn.location<packed [[W:[0-9]+]]>
  // CHECK:        attn.compute "y"
  // CHECK:        attn.location = #attn.location<own {{[0-9]+}} ranks>
  // CHECK:      attn.carries = [#attn.location<own {{[0-9]+}} ranks>]
  %last, %all, %columns = attn.scan "S" (%i) carries (%before = %zero : !attn.array<[8], f64>) axes [0, 1] {
    %z = attn.compute "z" (%n: 8) sum (%k: 8) {
      %0 = attn.read %before[%k] : !attn.array<[8], f64>
      %1 = attn.read %w[%n, %k] : !attn.array<[8, 8], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[8], f64>
    %y = attn.compute "y" (%k: 8) {
      %0 = attn.read %x[%i, %k] : !attn.array<["S", 8], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[8], f64>
    attn.yield %z, %z, %y : !attn.array<[8], f64>, !attn.array<[8], f64>, !attn.array<[8], f64>
  } : !attn.array<[8], f64>, !attn.array<["S", 8], f64>, !attn.array<[8, "S"], f64>
  // What is packed of the same weights is packed once.
  // CHECK:      attn.compute "y2"
  // CHECK:      attn.packed = #attn.location<packed [[W]]>
  %y2 = attn.compute "y2" (%i: "S", %n: 8) sum (%k: 8) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 8], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[8, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 8], f64>
  attn.output "last" %last : !attn.array<[8], f64>
  attn.output "all" %all : !attn.array<["S", 8], f64>
  attn.output "columns" %columns : !attn.array<[8, "S"], f64>
  attn.output "y2" %y2 : !attn.array<["S", 8], f64>
}
}

// -----

// Nobody keeps the rows: the state is written over itself where each element
// is read at its own place only, and has memory for the next one where not.

// CHECK-LABEL: attn.program @over
attn.program @over {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 8], f64>
  %zero = attn.param "zero" : !attn.array<[8], f64>
  // CHECK:      attn.scan
  // CHECK:        attn.compute "sum"
  // CHECK:        attn.location = #attn.location<same [[SUM:[0-9]+]]>
  // CHECK:        attn.compute "turned"
  // CHECK:        attn.location = #attn.location<own [[NEXT:[0-9]+]] ranks>
  // CHECK:      attn.carries = [#attn.location<own [[SUM]] ranks>, #attn.location<own
  // CHECK-NOT:  [[NEXT]] ranks
  // CHECK-SAME: attn.locations
  %last:2 = attn.scan "S" (%i) carries (%a = %zero : !attn.array<[8], f64>, %b = %zero : !attn.array<[8], f64>) axes [] {
    %sum = attn.compute "sum" (%k: 8) {
      %0 = attn.read %a[%k] : !attn.array<[8], f64>
      %1 = attn.read %x[%i, %k] : !attn.array<["S", 8], f64>
      %2 = arith.addf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[8], f64>
    %turned = attn.compute "turned" (%k: 8) {
      %c7 = arith.constant 7 : index
      %at = arith.subi %c7, %k : index
      %0 = attn.read %b[%at] : !attn.array<[8], f64>
      attn.yield %0 : f64
    } : !attn.array<[8], f64>
    attn.yield %sum, %turned : !attn.array<[8], f64>, !attn.array<[8], f64>
  } : !attn.array<[8], f64>, !attn.array<[8], f64>
  attn.output "a" %last#0 : !attn.array<[8], f64>
  attn.output "b" %last#1 : !attn.array<[8], f64>
}

// -----

// Carries that change places need memory in between.

// CHECK-LABEL: attn.program @swapped
attn.program @swapped {
  attn.length "S"
  %x = attn.data "x" : !attn.array<[8], f64>
  %y = attn.data "y" : !attn.array<[8], f64>
  // CHECK: attn.swaps = [#attn.location<own {{[0-9]+}} ranks>, #attn.location<own {{[0-9]+}} ranks>]
  %last:2 = attn.scan "S" (%i) carries (%a = %x : !attn.array<[8], f64>, %b = %y : !attn.array<[8], f64>) axes [] {
    attn.yield %b, %a : !attn.array<[8], f64>, !attn.array<[8], f64>
  } : !attn.array<[8], f64>, !attn.array<[8], f64>
  attn.output "a" %last#0 : !attn.array<[8], f64>
  attn.output "b" %last#1 : !attn.array<[8], f64>
}

// -----

// Attention on a machine that does not exist, with strips of 32 rows and tiles
// of 16 columns: a room for each packed right side, and one strip, which the
// softmax is written over. What is read lies in memory.

// CHECK-LABEL: attn.program @attention
module attributes {attn.target = #cpu.target<"none", lanes = 8, tile_rows = 2, tile_vectors = 2, strip_rows = 32>} {
attn.program @attention {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["S", 64], f64>
  // CHECK:      attn.compute "e"
  // CHECK:      attn.location = #attn.location<room 2>
  // CHECK-SAME: attn.packed = #attn.location<room 0>
  // CHECK:      attn.compute "w"
  // CHECK:      attn.location = #attn.location<room 2>
  // CHECK:      attn.compute "c"
  // CHECK:      attn.location = #attn.location<own 2>
  // CHECK-SAME: attn.packed = #attn.location<room 1>
  // CHECK:      attn.rooms = [#attn.room<1 x "S" to 16 x 64>, #attn.room<1 x 64 to 16 x "S">, #attn.room<32 x "S" to 16 plus 16>]
  %e = attn.compute "e" (%t: "T", %u: "S") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  %w = attn.compute "w" (%t: "T") softmax (%u: "S") {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "S"], f64>
  %c = attn.compute "c" (%t: "T", %a: 64) sum (%u: "S") {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "S"], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "c" %c : !attn.array<["T", 64], f64>
}
}

// -----

// The scores are read after the softmax, too: it has a strip of its own.

// CHECK-LABEL: attn.program @scores_again
attn.program @scores_again {
  attn.length "T"
  attn.length "S"
  %q = attn.data "q" : !attn.array<["T", 64], f64>
  %k = attn.data "k" : !attn.array<["S", 64], f64>
  // CHECK: attn.compute "e"
  // CHECK: attn.location = #attn.location<room 1>
  // CHECK: attn.compute "w"
  // CHECK: attn.location = #attn.location<room 2>
  // CHECK: attn.compute "c"
  %e = attn.compute "e" (%t: "T", %u: "S") sum (%a: 64) {
    %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
    %1 = attn.read %k[%u, %a] : !attn.array<["S", 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "S"], f64>
  %w = attn.compute "w" (%t: "T") softmax (%u: "S") {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "S"], f64>
  %c = attn.compute "c" (%t: "T") sum (%u: "S") {
    %0 = attn.read %w[%t, %u] : !attn.array<["T", "S"], f64>
    %1 = attn.read %e[%t, %u] : !attn.array<["T", "S"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  attn.output "c" %c : !attn.array<["T"], f64>
}

// -----

// A gate and its product: the sums of some rows are in a room, with a list of
// the rows of the state before, which are kept among all states. A search keeps
// what is packed. The view of a sum lies where the sum does.

// CHECK-LABEL: attn.program @gate
module attributes {attn.target = #cpu.target<"none", lanes = 16, tile_rows = 2, tile_vectors = 1, column_rows = 24>} {
attn.program @gate attributes {attn.prepares} {
  attn.length "S"
  %zero = attn.data "zero" : !attn.array<[32], f64>
  %w = attn.param "w" : !attn.array<[32, 32], f64>
  // CHECK:      attn.compute "z"
  // CHECK:      attn.list = #attn.location<room 1>
  // CHECK-SAME: attn.location = #attn.location<room 0>
  // CHECK-SAME: attn.packed = #attn.location<packed {{[0-9]+}} kept>
  // CHECK:      attn.reshape {{.*}}attn.location = #attn.location<room 0>
  // CHECK:      attn.compute "h"
  // CHECK:      attn.location = #attn.location<row [[ALL:[0-9]+]]>
  // CHECK:      attn.rooms = [#attn.room<24 x 32 plus 16>, #attn.room<24 of i64>]
  // CHECK:      attn.carries = [#attn.location<carry [[ALL]]>]
  %last, %all = attn.scan "S" (%i) carries (%before = %zero : !attn.array<[32], f64>) axes [0] {
    %z = attn.compute "z" (%n: 32) sum (%k: 32) {
      %0 = attn.read %before[%k] : !attn.array<[32], f64>
      %1 = attn.read %w[%n, %k] : !attn.array<[32, 32], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[32], f64>
    %v = attn.reshape %z keep 0 : !attn.array<[32], f64> -> !attn.array<[1, 32], f64>
    %h = attn.compute "h" (%n: 32) {
      %c0 = arith.constant 0 : index
      %0 = attn.read %v[%c0, %n] : !attn.array<[1, 32], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[32], f64>
    attn.yield %h, %h : !attn.array<[32], f64>, !attn.array<[32], f64>
  } : !attn.array<[32], f64>, !attn.array<["S", 32], f64>
  attn.output "all" %all : !attn.array<["S", 32], f64>
}
}

// -----

// What is packed of a part of a parameter is kept as well, what is packed of
// other arrays is not.

// CHECK-LABEL: attn.program @views
module attributes {attn.target = #cpu.target<"none", lanes = 16, tile_rows = 2, tile_vectors = 1>} {
attn.program @views attributes {attn.prepares} {
  attn.length "S"
  %x = attn.data "x" {attn.batch = "each"} : !attn.array<["S", 32], f64>
  %w = attn.param "w" {attn.batch = "once"} : !attn.array<[1, 32, 32], f64>
  %v = attn.reshape %w keep 0 {attn.batch = "once"} : !attn.array<[1, 32, 32], f64> -> !attn.array<[32, 32], f64>
  %twice = attn.compute "twice" (%n: 32, %k: 32) {
    %0 = attn.read %v[%n, %k] : !attn.array<[32, 32], f64>
    %1 = arith.addf %0, %0 : f64
    attn.yield %1 : f64
  } {attn.batch = "once"} : !attn.array<[32, 32], f64>
  // CHECK:      attn.compute "y"
  // CHECK:      attn.packed = #attn.location<packed {{[0-9]+}} kept>
  %y = attn.compute "y" (%s: "S", %n: 32) sum (%k: 32) {
    %0 = attn.read %x[%s, %k] : !attn.array<["S", 32], f64>
    %1 = attn.read %v[%n, %k] : !attn.array<[32, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.batch = "each", attn.product = #attn.product<weights, left = 0, rows(0), columns(1), terms(2)>} : !attn.array<["S", 32], f64>
  // CHECK:      attn.compute "z"
  // CHECK:      attn.packed = #attn.location<packed {{[0-9]+}}>
  %z = attn.compute "z" (%s: "S", %n: 32) sum (%k: 32) {
    %0 = attn.read %x[%s, %k] : !attn.array<["S", 32], f64>
    %1 = attn.read %twice[%n, %k] : !attn.array<[32, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.batch = "each", attn.product = #attn.product<weights, left = 0, rows(0), columns(1), terms(2)>} : !attn.array<["S", 32], f64>
  attn.output "y" %y : !attn.array<["S", 32], f64>
  attn.output "z" %z : !attn.array<["S", 32], f64>
}
}
