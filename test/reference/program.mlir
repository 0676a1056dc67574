// Programs: scans in both directions, a buffer that grows, and the array ops.

// h[i] = 2 * h[i-1] + x[i] with h[-1] = 1, up: 3, 8, 19. Down, with h[S] = 1:
// h[2] = 2 + 3 = 5, h[1] = 12, h[0] = 25. The last value is that of the last
// step. A scan over nothing gives its init.
// RUN: fovea-eval %s --entry scans --input 'x=[1, 2, 3]' | FileCheck %s --check-prefix=SCANS
// SCANS:      down [2, 3]: 25 12 5 50 24 10
// SCANS-NEXT: down_last []: 25
// SCANS-NEXT: up [3]: 3 8 19
// SCANS-NEXT: up_last []: 19
// RUN: fovea-eval %s --entry scans --length S=0 --input 'x=[]' | FileCheck %s --check-prefix=NONE
// NONE:      down [2, 0]:
// NONE-NEXT: down_last []: 1
// NONE-NEXT: up [0]:
// NONE-NEXT: up_last []: 1
attn.program @scans {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S"], f64>
  %init = attn.compute () {
    %0 = arith.constant 1.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %up_last, %up = attn.scan "S" (%i) carries (%h = %init : !attn.array<[], f64>) axes [0] {
    %next = attn.compute () {
      %0 = attn.read %h[] : !attn.array<[], f64>
      %1 = attn.read %x[%i] : !attn.array<["S"], f64>
      %2 = arith.addf %0, %0 : f64
      %3 = arith.addf %2, %1 : f64
      attn.yield %3 : f64
    } : !attn.array<[], f64>
    attn.yield %next, %next : !attn.array<[], f64>, !attn.array<[], f64>
  } : !attn.array<[], f64>, !attn.array<["S"], f64>
  // A row of two, stacked along axis 1.
  %down_last, %down = attn.scan "S" reverse (%i) carries (%h = %init : !attn.array<[], f64>) axes [1] {
    %next = attn.compute () {
      %0 = attn.read %h[] : !attn.array<[], f64>
      %1 = attn.read %x[%i] : !attn.array<["S"], f64>
      %2 = arith.addf %0, %0 : f64
      %3 = arith.addf %2, %1 : f64
      attn.yield %3 : f64
    } : !attn.array<[], f64>
    %row = attn.compute (%k: 2) {
      %one = arith.constant 1 : index
      %0 = attn.read %next[] : !attn.array<[], f64>
      %1 = arith.addi %k, %one : index
      %2 = arith.index_cast %1 : index to i64
      %3 = arith.sitofp %2 : i64 to f64
      %4 = arith.mulf %0, %3 : f64
      attn.yield %4 : f64
    } : !attn.array<[2], f64>
    attn.yield %next, %row : !attn.array<[], f64>, !attn.array<[2], f64>
  } : !attn.array<[], f64>, !attn.array<[2, "S"], f64>
  attn.output "up" %up : !attn.array<["S"], f64>
  attn.output "up_last" %up_last : !attn.array<[], f64>
  attn.output "down" %down : !attn.array<[2, "S"], f64>
  attn.output "down_last" %down_last : !attn.array<[], f64>
}

// y[i] = sum over u <= i of x[u], through a buffer of rows: the row is put at
// `i`, and rows after it are zeros.
// RUN: fovea-eval %s --entry buffer --input 'x=[1, 2, 3]' | FileCheck %s --check-prefix=BUFFER
// BUFFER:      kept [3]: 1 2 3
// BUFFER-NEXT: y [3]: 1 3 6
attn.program @buffer {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S"], f64>
  %empty = attn.compute (%i: "S") {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  %kept, %y = attn.scan "S" (%i) carries (%before = %empty : !attn.array<["S"], f64>) axes [0] {
    %row = attn.compute () {
      %0 = attn.read %x[%i] : !attn.array<["S"], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    %now = attn.append %before[%i] axis 0 = %row : !attn.array<["S"], f64>, !attn.array<[], f64>
    %sum = attn.compute () sum (%u: "S") where {
      %0 = arith.cmpi sle, %u, %i : index
      attn.yield %0 : i1
    } {
      %0 = attn.read %now[%u] : !attn.array<["S"], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    attn.yield %now, %sum : !attn.array<["S"], f64>, !attn.array<[], f64>
  } : !attn.array<["S"], f64>, !attn.array<["S"], f64>
  attn.output "kept" %kept : !attn.array<["S"], f64>
  attn.output "y" %y : !attn.array<["S"], f64>
}

// A system and a program have the same array ops.
// RUN: fovea-eval %s --entry joins --input 'a=[[1, 2], [3, 4]]' --input 'b=[[5], [6]]' | FileCheck %s --check-prefix=JOINS
// RUN: fovea-eval %s --entry joined --input 'a=[[1, 2], [3, 4]]' --input 'b=[[5], [6]]' | FileCheck %s --check-prefix=JOINS
// JOINS:      ab [2, 4]: 1 2 5 1 3 4 6 3
// JOINS-NEXT: folded [2, 2, 2]: 1 2 5 1 3 4 6 3
attn.program @joins {
  attn.length "S"
  %a = attn.data "a" : !attn.array<["S", 2], f64>
  %b = attn.data "b" : !attn.array<["S", 1], f64>
  %first = attn.compute (%i: "S", %k: 1) {
    %0 = attn.read %a[%i, %k] : !attn.array<["S", 2], f64>
    attn.yield %0 : f64
  } : !attn.array<["S", 1], f64>
  %ab = attn.concat %a, %b, %first : !attn.array<["S", 2], f64>, !attn.array<["S", 1], f64>, !attn.array<["S", 1], f64> -> !attn.array<["S", 4], f64>
  %folded = attn.reshape %ab keep 1 : !attn.array<["S", 4], f64> -> !attn.array<["S", 2, 2], f64>
  attn.output "ab" %ab : !attn.array<["S", 4], f64>
  attn.output "folded" %folded : !attn.array<["S", 2, 2], f64>
}
attn.system @joined {
  attn.length "S"
  %folded = attn.reshape %ab keep 1 : !attn.array<["S", 4], f64> -> !attn.array<["S", 2, 2], f64>
  %ab = attn.concat %a, %b, %first : !attn.array<["S", 2], f64>, !attn.array<["S", 1], f64>, !attn.array<["S", 1], f64> -> !attn.array<["S", 4], f64>
  %first = attn.compute (%i: "S", %k: 1) {
    %0 = attn.read %a[%i, %k] : !attn.array<["S", 2], f64>
    attn.yield %0 : f64
  } : !attn.array<["S", 1], f64>
  %a = attn.data "a" : !attn.array<["S", 2], f64>
  %b = attn.data "b" : !attn.array<["S", 1], f64>
  attn.output "ab" %ab : !attn.array<["S", 4], f64>
  attn.output "folded" %folded : !attn.array<["S", 2, 2], f64>
}

// RUN: not fovea-eval %s --entry search 2>&1 | FileCheck %s --check-prefix=SEARCH
// SEARCH: error: {{.*}}: a program with an 'attn.search' is decoded, not evaluated
attn.program @search {
  attn.length "T" open
  attn.search "T" states [] (%t) axes [] {
    attn.yield
  }
}
