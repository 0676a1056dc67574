// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-check-phase=phase=memory

attn.program @no_location {
  // expected-error @+1 {{'attn.data' op yields an array without a location after phase 'memory'}}
  %x = attn.data "x" {attn.batch = "each"} : !attn.array<[8], f64>
}

// -----

attn.program @twice {
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<[8], f64>
  // expected-error @+1 {{has memory 0 of its own, which another array also has}}
  %y = attn.compute (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.batch = "each", attn.location = #attn.location<own 0>} : !attn.array<[8], f64>
}

// -----

attn.program @nobodys {
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<[8], f64>
  // expected-error @+1 {{lies in memory 7, which no array before it has}}
  %y = attn.compute (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.batch = "each", attn.location = #attn.location<same 7>} : !attn.array<[8], f64>
}

// -----

attn.program @larger {
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<[8], f64>
  // expected-error @+1 {{of type '!attn.array<[9], f64>' lies in memory 0 of an array of type '!attn.array<[8], f64>'}}
  %y = attn.compute (%k: 9) {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } {attn.batch = "each", attn.location = #attn.location<same 0>} : !attn.array<[9], f64>
}

// -----

attn.program @over_data {
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<[8], f64>
  // expected-error @+1 {{lies in memory 0 but is not the next value of a carry there}}
  %y = attn.compute (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.batch = "each", attn.location = #attn.location<same 0>} : !attn.array<[8], f64>
}

// -----

attn.program @elsewhere {
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<[8], f64>
  // expected-error @+1 {{is a view of an array in #attn.location<argument 0> but lies in #attn.location<own 1>}}
  %y = attn.reshape %x keep 0 {attn.batch = "each", attn.location = #attn.location<own 1>} : !attn.array<[8], f64> -> !attn.array<[2, 4], f64>
}

// -----

// The next value is written before the state is read for the last time.

attn.program @read_after {
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<[8], f64>
  %last:2 = attn.scan 3 (%i) carries (%a = %x : !attn.array<[8], f64>, %b = %x : !attn.array<[8], f64>) axes [] {
    // expected-error @+1 {{is written over memory 3, which is read after it}}
    %next = attn.compute (%k: 8) {
      %0 = attn.read %a[%k] : !attn.array<[8], f64>
      %1 = arith.addf %0, %0 : f64
      attn.yield %1 : f64
    } {attn.batch = "each", attn.location = #attn.location<same 3>} : !attn.array<[8], f64>
    // expected-note @+1 {{it is read here}}
    %late = attn.compute (%k: 8) {
      %0 = attn.read %a[%k] : !attn.array<[8], f64>
      attn.yield %0 : f64
    } {attn.batch = "each", attn.location = #attn.location<own 5>} : !attn.array<[8], f64>
    attn.yield %next, %late : !attn.array<[8], f64>, !attn.array<[8], f64>
  } : !attn.array<[8], f64>, !attn.array<[8], f64> {attn.batch = "each", attn.locations = [#attn.location<own 1>, #attn.location<own 2>],
     attn.carries = [#attn.location<own 3>, #attn.location<own 4>]}
}

// -----

attn.program @no_row {
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<[8], f64>
  %last, %all = attn.scan 3 (%i) carries (%a = %x : !attn.array<[8], f64>) axes [0] {
    // expected-error @+1 {{is a row of memory 9, which no loop around it keeps}}
    %next = attn.compute (%k: 8) {
      %0 = attn.read %a[%k] : !attn.array<[8], f64>
      attn.yield %0 : f64
    } {attn.batch = "each", attn.location = #attn.location<row 9>} : !attn.array<[8], f64>
    attn.yield %next, %next : !attn.array<[8], f64>, !attn.array<[8], f64>
  } : !attn.array<[8], f64>, !attn.array<[3, 8], f64> {attn.batch = "each", attn.locations = [#attn.location<own 1>, #attn.location<own 2>],
     attn.carries = [#attn.location<own 3>]}
}

// -----

// Another array is what the loop keeps.

attn.program @other_row {
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<[8], f64>
  %last, %all = attn.scan 3 (%i) carries (%a = %x : !attn.array<[8], f64>) axes [0] {
    // expected-error @+1 {{is not a row of '!attn.array<[3, 8], f64>' in memory 2}}
    %next = attn.compute (%k: 8) {
      %0 = attn.read %a[%k] : !attn.array<[8], f64>
      attn.yield %0 : f64
    } {attn.batch = "each", attn.location = #attn.location<row 2>} : !attn.array<[8], f64>
    attn.yield %next, %x : !attn.array<[8], f64>, !attn.array<[8], f64>
  } : !attn.array<[8], f64>, !attn.array<[3, 8], f64> {attn.batch = "each", attn.locations = [#attn.location<own 1>, #attn.location<own 2>],
     attn.carries = [#attn.location<own 3>]}
}

// -----

attn.program @not_packed {
  attn.length "S"
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<["S", 8], f64>
  %w = attn.param "w" {attn.batch = "once", attn.location = #attn.location<argument 1>} : !attn.array<[8, 8], f64>
  // expected-error @+1 {{is a product whose right side has no memory after phase 'memory'}}
  %y = attn.compute (%i: "S", %n: 8) sum (%k: 8) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 8], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[8, 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.batch = "each", attn.location = #attn.location<own 2>,
     attn.product = #attn.product<weights, left = 0, rows(0), columns(1), terms(2)>} : !attn.array<["S", 8], f64>
}

// -----

// A machine that reads copies in bf16 has room for both.

module attributes {attn.target = #nvidia.target<"chip", copy_rows = 128>} {
attn.program @not_copied {
  attn.length "S"
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<["S", 64], f64>
  %w = attn.param "w" {attn.batch = "once", attn.location = #attn.location<argument 1>} : !attn.array<[256, 64], f64>
  // expected-error @+1 {{is a product whose copied factors have no memory after phase 'memory'}}
  %y = attn.compute (%i: "S", %n: 256) sum (%k: 64) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 64], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[256, 64], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } {attn.batch = "each", attn.location = #attn.location<own 2>, attn.packed = #attn.location<packed 3>, attn.precision = bf16,
     attn.product = #attn.product<weights, left = 0, rows(0), columns(1), terms(2)>} : !attn.array<["S", 256], f64>
}
}

// -----

attn.program @no_list {
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<[8], f64>
  %w = attn.param "w" {attn.batch = "once", attn.location = #attn.location<argument 1>} : !attn.array<[8, 8], f64>
  %last, %all = attn.scan 3 (%i) carries (%a = %x : !attn.array<[8], f64>) axes [0] {
    // expected-error @+1 {{is a product whose rows have no list after phase 'memory'}}
    %z = attn.compute (%n: 8) sum (%k: 8) {
      %0 = attn.read %a[%k] : !attn.array<[8], f64>
      %1 = attn.read %w[%n, %k] : !attn.array<[8, 8], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } {attn.batch = "each", attn.location = #attn.location<own 4>, attn.packed = #attn.location<packed 5>,
       attn.product = #attn.product<weights, left = 0, columns(0), terms(1)>} : !attn.array<[8], f64>
    %next = attn.compute (%k: 8) {
      %0 = attn.read %z[%k] : !attn.array<[8], f64>
      attn.yield %0 : f64
    } {attn.batch = "each", attn.location = #attn.location<row 3>} : !attn.array<[8], f64>
    attn.yield %next, %next : !attn.array<[8], f64>, !attn.array<[8], f64>
  } : !attn.array<[8], f64>, !attn.array<[3, 8], f64> {attn.batch = "each", attn.locations = [#attn.location<own 2>, #attn.location<own 3>],
     attn.carries = [#attn.location<carry 3>]}
}

// -----

attn.program @no_view {
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<[8], f64>
  %y = attn.compute (%k: 16) {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } {attn.batch = "each", attn.location = #attn.location<own 1>} : !attn.array<[16], f64>
  // expected-error @+1 {{is not a view but lies in memory 1 of another array}}
  %z = attn.concat %x, %x {attn.batch = "each", attn.location = #attn.location<same 1>} : !attn.array<[8], f64>, !attn.array<[8], f64> -> !attn.array<[16], f64>
}

// -----

attn.program @no_room {
  attn.length "T"
  %q = attn.data "q" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<["T", 64], f64>
  %c = attn.kernel strips over "T" {
    // expected-error @+1 {{is a product whose right side has no room after phase 'memory'}}
    %e = attn.compute "e" (%t: "T", %u: "T") sum (%a: 64) {
      %0 = attn.read %q[%t, %a] : !attn.array<["T", 64], f64>
      %1 = attn.read %q[%u, %a] : !attn.array<["T", 64], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } {attn.batch = "each", attn.location = #attn.location<room 0>, attn.shared = array<i64: 0>,
       attn.product = #attn.product<each, left = 0, rows(0), columns(1), terms(2)>} : !attn.array<["T", "T"], f64>
    %own = attn.compute "c" (%t: "T") sum (%u: "T") {
      %0 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
      attn.yield %0 : f64
    } {attn.batch = "each", attn.location = #attn.location<own 1>, attn.shared = array<i64: 0>} : !attn.array<["T"], f64>
    attn.yield %own : !attn.array<["T"], f64>
  } {attn.rooms = [#attn.room<64 x "T" to 16 plus 16>]} : !attn.array<["T"], f64>
}

// -----

attn.program @sums_in_memory {
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<[16], f64>
  %w = attn.param "w" {attn.batch = "once", attn.location = #attn.location<argument 1>} : !attn.array<[16, 16], f64>
  %h = attn.kernel columns {
    // expected-error @+1 {{is a product whose sums have no room after phase 'memory'}}
    %z = attn.compute (%n: 16) sum (%k: 16) {
      %0 = attn.read %x[%k] : !attn.array<[16], f64>
      %1 = attn.read %w[%n, %k] : !attn.array<[16, 16], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } {attn.batch = "each", attn.location = #attn.location<own 2>, attn.packed = #attn.location<packed 3>,
       attn.product = #attn.product<weights, left = 0, columns(0), terms(1)>} : !attn.array<[16], f64>
    %own = attn.compute (%k: 16) {
      %0 = attn.read %z[%k] : !attn.array<[16], f64>
      attn.yield %0 : f64
    } {attn.batch = "each", attn.location = #attn.location<own 4>} : !attn.array<[16], f64>
    attn.yield %own : !attn.array<[16], f64>
  } : !attn.array<[16], f64>
}

// -----

attn.program @copy_of_sums {
  attn.length "S"
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<["S", 64], f64>
  // expected-error @+1 {{only an equation outside loops that computes whole rows can store a copy}}
  %y = attn.compute (%i: "S", %n: 64) sum (%k: 64) {
    %0 = attn.read %x[%i, %k] : !attn.array<["S", 64], f64>
    attn.yield %0 : f64
  } {attn.batch = "each", attn.location = #attn.location<own 1>, attn.stored_copy = #attn.location<packed 2>} : !attn.array<["S", 64], f64>
}
