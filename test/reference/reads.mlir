// What a read gives inside and outside an array.

// RUN: fovea-eval %s --entry cases --input 'x=[[1, 2], [3, 4]]' --input 'first=[10, 20]' --input 'end=[7, 8]' | FileCheck %s --check-prefix=CASES
// y[i, k] = x[i-1, k] with x[-1] = first, plus x[i+1, k] with x[S] = end:
//   y[0] = [10 + 3, 20 + 4], y[1] = [1 + 7, 2 + 8]
// CASES: y [2, 2]: 13 24 8 10
attn.system @cases {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 2], f64>
  %first = attn.param "first" : !attn.array<[2], f64>
  %end = attn.param "end" : !attn.array<[2], f64>
  %y = attn.compute "y" (%i: "S", %k: 2) {
    %one = arith.constant 1 : index
    %before = arith.subi %i, %one : index
    %after = arith.addi %i, %one : index
    %0 = attn.read %x[%before, %k] cases [[[0, -1]]] (%first : !attn.array<[2], f64>) : !attn.array<["S", 2], f64>
    %1 = attn.read %x[%after, %k] cases [[[0, -1]], [[0, "S"]]] (%first, %end : !attn.array<[2], f64>, !attn.array<[2], f64>) : !attn.array<["S", 2], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["S", 2], f64>
  attn.output "y" %y : !attn.array<["S", 2], f64>
}

// RUN: fovea-eval %s --entry default --input 'x=[1, 2, 3]' | FileCheck %s --check-prefix=DEFAULT
// x[i-2] ?? 5, and a computed place: x[2 - i].
// DEFAULT: mirrored [3]: 3 2 1
// DEFAULT: shifted [3]: 5 5 1
attn.system @default {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S"], f64>
  %five = arith.constant 5.0 : f64
  %two = arith.constant 2 : index
  %shifted = attn.compute "shifted" (%i: "S") {
    %at = arith.subi %i, %two : index
    %0 = attn.read %x[%at] default %five : f64 : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  %mirrored = attn.compute "mirrored" (%i: "S") {
    %S = attn.extent "S"
    %one = arith.constant 1 : index
    %last = arith.subi %S, %one : index
    %at = arith.subi %last, %i : index
    %0 = attn.read %x[%at] : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  attn.output "shifted" %shifted : !attn.array<["S"], f64>
  attn.output "mirrored" %mirrored : !attn.array<["S"], f64>
}

// Both branches of an scf.if are values; only the one taken is evaluated, so
// x[i-1] is never read at i = 0.
// RUN: fovea-eval %s --entry branch --input 'x=[1, 2, 3]' | FileCheck %s --check-prefix=BRANCH
// BRANCH: y [3]: -1 1 2
attn.program @branch {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S"], f64>
  %y = attn.compute "y" (%i: "S") {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %first = arith.cmpi eq, %i, %zero : index
    %0 = scf.if %first -> f64 {
      %none = arith.constant -1.0 : f64
      scf.yield %none : f64
    } else {
      %at = arith.subi %i, %one : index
      %1 = attn.read %x[%at] : !attn.array<["S"], f64>
      scf.yield %1 : f64
    }
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  attn.output "y" %y : !attn.array<["S"], f64>
}

// RUN: fovea-eval %s --entry hidden --input 'x=[1, 2, 3]' | FileCheck %s --check-prefix=HIDDEN
// What a condition hides is not read: y[i] = sum of y[j] + 1 over j < i with
// y[j] > 0.
// HIDDEN: y [3]: 1 3 7
attn.system @hidden {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S"], f64>
  %y = attn.compute "y" (%i: "S") {
    %one = arith.constant 1.0 : f64
    %0 = attn.read %before[%i] : !attn.array<["S"], f64>
    %1 = arith.addf %0, %one : f64
    attn.yield %1 : f64
  } : !attn.array<["S"], f64>
  %before = attn.compute "before" (%i: "S") sum (%j: "S") where {
    %zero = arith.constant 0.0 : f64
    %0 = arith.cmpi slt, %j, %i : index
    %1 = attn.read %y[%j] : !attn.array<["S"], f64>
    %2 = arith.cmpf ogt, %1, %zero : f64
    %3 = arith.andi %0, %2 : i1
    attn.yield %3 : i1
  } {
    %one = arith.constant 1.0 : f64
    %0 = attn.read %y[%j] : !attn.array<["S"], f64>
    %1 = arith.addf %0, %one : f64
    attn.yield %1 : f64
  } : !attn.array<["S"], f64>
  attn.output "y" %y : !attn.array<["S"], f64>
}
