// Equations in no order: what is needed is computed first.

// Two recurrences through each other, against the order of the text, and one
// that runs down: f[i] = x[i] + g[i-1], g[i] = 2 * f[i], b[i] = x[i] + b[i+1].
// RUN: fovea-eval %s --entry both --input 'x=[1, 2, 3]' | FileCheck %s --check-prefix=BOTH
//   f = 1, 2 + 2, 3 + 8; g = 2, 8, 22; b = 6, 5, 3
// BOTH:      b [3]: 6 5 3
// BOTH-NEXT: f [3]: 1 4 11
// BOTH-NEXT: g [3]: 2 8 22
attn.system @both {
  attn.length "S"
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1 : index
  attn.output "g" %g : !attn.array<["S"], f64>
  attn.output "b" %b : !attn.array<["S"], f64>
  attn.output "f" %f : !attn.array<["S"], f64>
  %g = attn.compute "g" (%i: "S") {
    %0 = attn.read %f[%i] : !attn.array<["S"], f64>
    %1 = arith.addf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["S"], f64>
  %f = attn.compute "f" (%i: "S") {
    %before = arith.subi %i, %one : index
    %0 = attn.read %g[%before] default %zero : f64 : !attn.array<["S"], f64>
    %1 = attn.read %x[%i] : !attn.array<["S"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S"], f64>
  %b = attn.compute "b" (%i: "S") {
    %after = arith.addi %i, %one : index
    %0 = attn.read %b[%after] default %zero : f64 : !attn.array<["S"], f64>
    %1 = attn.read %x[%i] : !attn.array<["S"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S"], f64>
  %x = attn.data "x" : !attn.array<["S"], f64>
}

// A recurrence in two indices (the number of ways on a grid: binomials), and a
// softmax that reads its own earlier rows.
// RUN: fovea-eval %s --entry grid | FileCheck %s --check-prefix=GRID
// GRID: ways [3, 4]: 1 1 1 1 1 2 3 4 1 3 6 10
// a[0] = softmax(0, 0) = 1/2, 1/2; a[t] = softmax(a[t-1]) stays.
// GRID: weights [2, 2]: 0.5 0.5 0.5 0.5
attn.system @grid {
  %one = arith.constant 1 : index
  %ways = attn.compute "ways" (%i: 3, %j: 4) {
    %zero = arith.constant 0 : index
    %first = arith.constant 1.0 : f64
    %none = arith.constant 0.0 : f64
    %sum = arith.addi %i, %j : index
    %start = arith.cmpi eq, %sum, %zero : index
    %0 = scf.if %start -> f64 {
      scf.yield %first : f64
    } else {
      %up = arith.subi %i, %one : index
      %left = arith.subi %j, %one : index
      %1 = attn.read %ways[%up, %j] default %none : f64 : !attn.array<[3, 4], f64>
      %2 = attn.read %ways[%i, %left] default %none : f64 : !attn.array<[3, 4], f64>
      %3 = arith.addf %1, %2 : f64
      scf.yield %3 : f64
    }
    attn.yield %0 : f64
  } : !attn.array<[3, 4], f64>
  %weights = attn.compute "weights" (%t: 2) softmax (%k: 2) {
    %none = arith.constant 0.0 : f64
    %before = arith.subi %t, %one : index
    %0 = attn.read %weights[%before, %k] default %none : f64 : !attn.array<[2, 2], f64>
    attn.yield %0 : f64
  } : !attn.array<[2, 2], f64>
  attn.output "ways" %ways : !attn.array<[3, 4], f64>
  attn.output "weights" %weights : !attn.array<[2, 2], f64>
}

// A chain of 20000 elements does not use the machine's stack.
// RUN: fovea-eval %s --entry long | FileCheck %s --check-prefix=LONG
// LONG: first []: 20000
attn.system @long {
  %s = attn.compute "s" (%i: 20000) {
    %one = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    %unit = arith.constant 1.0 : f64
    %after = arith.addi %i, %one : index
    %0 = attn.read %s[%after] default %zero : f64 : !attn.array<[20000], f64>
    %1 = arith.addf %0, %unit : f64
    attn.yield %1 : f64
  } : !attn.array<[20000], f64>
  %first = attn.compute "first" () {
    %zero = arith.constant 0 : index
    %0 = attn.read %s[%zero] : !attn.array<[20000], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "first" %first : !attn.array<[], f64>
}

// What nobody asks for is not evaluated: `bad` reads out of bounds.
// RUN: fovea-eval %s --entry dead --input 'x=[4]' | FileCheck %s --check-prefix=DEAD
// RUN: fovea-eval %s --entry dead --input 'x=[4]' --equation good | FileCheck %s --check-prefixes=DEAD,GOOD
// RUN: not fovea-eval %s --entry dead --input 'x=[4]' --input 'never=[1]' --equation bad 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not fovea-eval %s --entry dead --input 'x=[4]' --equation god 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// GOOD: good [1]: 8
// DEAD: x [1]: 4
// BAD: 'attn.read' in 'bad' reads 'x' at [7], outside its extents [S = 1]
// UNKNOWN: error: there is no equation 'god'
attn.system @dead {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S"], f64>
  %never = attn.data "never" : !attn.array<["S"], f64>
  %bad = attn.compute "bad" (%i: "S") {
    %seven = arith.constant 7 : index
    %0 = attn.read %x[%seven] : !attn.array<["S"], f64>
    %1 = attn.read %never[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  %good = attn.compute "good" (%i: "S") {
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    %1 = arith.addf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["S"], f64>
  attn.equation "bad" %bad : !attn.array<["S"], f64>
  attn.equation "good" %good : !attn.array<["S"], f64>
  attn.output "x" %x : !attn.array<["S"], f64>
}
