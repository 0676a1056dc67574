// A system and its program have the same outputs.
// RUN: fovea-opt %s --attn-schedule -o %t

// One, two steps back: 1 2 3 5 8.
// RUN: fovea-eval %s --entry window --length T=5 > %t.window
// RUN: FileCheck %s --check-prefix=WINDOW < %t.window
// RUN: fovea-eval %t --entry window --length T=5 | diff %t.window -
// WINDOW: s [5]: 2 3 5 8 13

// A sum over the past doubles: 1 1+1 1+1+2 ..
// RUN: fovea-eval %s --entry past --length T=5 > %t.past
// RUN: FileCheck %s --check-prefix=PAST < %t.past
// RUN: fovea-eval %t --entry past --length T=5 | diff %t.past -
// PAST: s [5]: 1 2 4 8 16

// Paths through a grid, with a border of ones: 1 + 1, 2 + 1, ..
// RUN: fovea-eval %s --entry grid --length S=3 --length T=3 > %t.grid
// RUN: FileCheck %s --check-prefix=GRID < %t.grid
// RUN: fovea-eval %t --entry grid --length S=3 --length T=3 | diff %t.grid -
// GRID: g [3, 3]: 2 3 4 3 6 10 4 10 20

// Down, along a length that differs from row to row: sums from the right.
// RUN: fovea-eval %s --entry nested --length M=2 --length W=[3,1] --input x=[[1,2,3],[4]] > %t.nested
// RUN: FileCheck %s --check-prefix=NESTED < %t.nested
// RUN: fovea-eval %t --entry nested --length M=2 --length W=[3,1] --input x=[[1,2,3],[4]] | diff %t.nested -
// NESTED: f {{.*}}: 6 5 3 4

// x[0] = 1, x[k+1] = 2 * x[k].
// RUN: fovea-eval %s --entry image --length K=3 > %t.image
// RUN: FileCheck %s --check-prefix=IMAGE < %t.image
// RUN: fovea-eval %t --entry image --length K=3 | diff %t.image -
// IMAGE: x [4]: 1 2 4 8

// Nothing to run over.
// RUN: fovea-eval %s --entry past --length T=0 > %t.empty
// RUN: fovea-eval %t --entry past --length T=0 | diff %t.empty -

// The search gives what trying everything on the system gives.
// RUN: fovea-eval %s --entry decode --decode --beam 3 --nbest 3 --longest 4 > %t.decode
// RUN: fovea-eval %t --entry decode --decode --beam 3 --nbest 3 --longest 4 | diff %t.decode -

attn.system @window {
  attn.length "T"
  %one = attn.compute "one" () {
    %0 = arith.constant 1.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %s = attn.compute "s" (%t: "T") {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %b1 = arith.subi %t, %c1 : index
    %b2 = arith.subi %t, %c2 : index
    %0 = attn.read %s[%b1] cases [[[0, -1]]] (%one : !attn.array<[], f64>) : !attn.array<["T"], f64>
    %1 = attn.read %s[%b2] cases [[[0, -1]], [[0, -2]]] (%one, %one : !attn.array<[], f64>, !attn.array<[], f64>) : !attn.array<["T"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  attn.output "s" %s : !attn.array<["T"], f64>
}

attn.system @past {
  attn.length "T"
  %sum = attn.compute "sum" (%t: "T") sum (%u: "T") where {
    %0 = arith.cmpi slt, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %s[%u] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %s = attn.compute "s" (%t: "T") {
    %one = arith.constant 1.0 : f64
    %0 = attn.read %sum[%t] : !attn.array<["T"], f64>
    %1 = arith.addf %0, %one : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  attn.output "s" %s : !attn.array<["T"], f64>
}

attn.system @grid {
  attn.length "S"
  attn.length "T"
  %g = attn.compute "g" (%i: "S", %j: "T") {
    %one = arith.constant 1.0 : f64
    %c1 = arith.constant 1 : index
    %up = arith.subi %i, %c1 : index
    %left = arith.subi %j, %c1 : index
    %0 = attn.read %g[%up, %j] default %one : f64 : !attn.array<["S", "T"], f64>
    %1 = attn.read %g[%i, %left] default %one : f64 : !attn.array<["S", "T"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", "T"], f64>
  attn.output "g" %g : !attn.array<["S", "T"], f64>
}

attn.system @nested {
  attn.length "M"
  attn.length "W" over "M"
  %x = attn.data "x" : !attn.array<["M", "W"], f64>
  %f = attn.compute "f" (%m: "M", %j: "W") {
    %zero = arith.constant 0.0 : f64
    %c1 = arith.constant 1 : index
    %next = arith.addi %j, %c1 : index
    %0 = attn.read %f[%m, %next] default %zero : f64 : !attn.array<["M", "W"], f64>
    %1 = attn.read %x[%m, %j] : !attn.array<["M", "W"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["M", "W"], f64>
  attn.output "f" %f : !attn.array<["M", "W"], f64>
}

attn.system @image {
  attn.length "K"
  attn.length "K+1" is affine_map<()[s0] -> (s0 + 1)> ["K"]
  %twice = attn.compute "twice" (%k: "K") {
    %0 = attn.read %x[%k] : !attn.array<["K+1"], f64>
    %1 = arith.addf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["K"], f64>
  %x = attn.compute "x" (%k: "K+1") {
    %one = arith.constant 1.0 : f64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = arith.cmpi eq, %k, %c0 : index
    %1 = scf.if %0 -> (f64) {
      scf.yield %one : f64
    } else {
      %before = arith.subi %k, %c1 : index
      %2 = attn.read %twice[%before] : !attn.array<["K"], f64>
      scf.yield %2 : f64
    }
    attn.yield %1 : f64
  } : !attn.array<["K+1"], f64>
  attn.output "x" %x : !attn.array<["K+1"], f64>
}

// The score of a symbol falls with how often it was generated before, and
// with its number.
attn.system @decode {
  attn.length "T" open
  %logits = attn.compute "logits" (%t: "T", %v: 4) sum (%u: "T") where {
    %0 = arith.cmpi slt, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %y[%u] : !attn.array<["T"], i64>
    %1 = arith.index_cast %v : index to i64
    %2 = arith.cmpi eq, %0, %1 : i64
    %weight = arith.constant -0.7 : f64
    %zero = arith.constant 0.1 : f64
    %3 = arith.select %2, %weight, %zero : f64
    %4 = arith.sitofp %1 : i64 to f64
    %5 = arith.mulf %3, %4 : f64
    attn.yield %5 : f64
  } : !attn.array<["T", 4], f64>
  %biased = attn.compute "biased" (%t: "T", %v: 4) {
    %0 = attn.read %logits[%t, %v] : !attn.array<["T", 4], f64>
    %1 = arith.index_cast %v : index to i64
    %2 = arith.sitofp %1 : i64 to f64
    %third = arith.constant 0.3 : f64
    %3 = arith.mulf %2, %third : f64
    %4 = arith.addf %0, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["T", 4], f64>
  %y = attn.choice "y" categorical ["logits"] (%biased : !attn.array<["T", 4], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "y" %y : !attn.array<["T"], i64>
}
