// Every reducer, over full, empty and excluded ranges, and with ties.

// RUN: fovea-eval %s --entry full --input 'x=[1, 3, 3, 2]' | FileCheck %s --check-prefix=FULL
// x = 1 3 3 2. Ties: argmax is the lowest place, argmin too.
//   logsumexp = 3 + log(e^-2 + 1 + 1 + e^-1) = 3 + log 2.503214724 = 3.917575796
// FULL:      argmax []: 1
// FULL-NEXT: argmin []: 0
// FULL-NEXT: cumsum [4]: 1 4 7 9
// FULL-NEXT: logsumexp []: 3.917575796
// FULL-NEXT: max []: 3
// FULL-NEXT: mean []: 2.25
// FULL-NEXT: min []: 1
// FULL-NEXT: prod []: 18
// FULL-NEXT: sum []: 9

// What `where` excludes does not take part. Only x[1] and x[2] do: the softmax
// is 1/2 each, its log is -log 2 = -0.6931471806, zeros elsewhere; the running
// sum is 0 at excluded places.
// RUN: fovea-eval %s --entry some --input 'x=[9, 3, 3, 9]' | FileCheck %s --check-prefix=SOME
// SOME:      argmax []: 1
// SOME-NEXT: cumsum [4]: 0 3 6 0
// SOME-NEXT: log_softmax [4]: 0 -0.6931471806 -0.6931471806 0
// SOME-NEXT: mean []: 3
// SOME-NEXT: softmax [4]: 0 0.5 0.5 0

// Over nothing: zeros, but all is true and a product is 1.
// RUN: fovea-eval %s --entry nothing --input 'x=[1, 3]' | FileCheck %s --check-prefix=NOTHING
// RUN: fovea-eval %s --entry nothing --length S=0 --input 'x=[]' | FileCheck %s --check-prefix=NOTHING
// NOTHING:      all []: 1
// NOTHING-NEXT: any []: 0
// NOTHING-NEXT: argmax []: 0
// NOTHING-NEXT: argmin []: 0
// NOTHING-NEXT: logsumexp []: 0
// NOTHING-NEXT: max []: 0
// NOTHING-NEXT: mean []: 0
// NOTHING-NEXT: min []: 0
// NOTHING-NEXT: prod []: 1
// NOTHING-NEXT: softmax [{{[02]}}]:{{( 0 0)?$}}
// NOTHING-NEXT: sum []: 0

// Huge values: a softmax is shifted, a sum of logarithms too. A NaN is never
// lost by a maximum.
// RUN: fovea-eval %s --entry huge --input 'x=[1000, 1000, -1e300]' | FileCheck %s --check-prefix=HUGE
// HUGE:      logsumexp []: 1000.693147
// HUGE-NEXT: max []: nan
// HUGE-NEXT: softmax [3]: 0.5 0.5 0

// RUN: fovea-eval %s --entry two --input 'x=[[1, 2, 3], [4, 9, 9]]' | FileCheck %s --check-prefix=TWO
// Two reduction indices: 9 stands at row 1, column 1, so at 1 * 3 + 1 = 4.
// TWO:      argmax []: 4
// An index from 1 on: 2 + 3 + 9 + 9 = 23; argmax is the index itself.
// TWO-NEXT: from_one []: 23
// TWO-NEXT: last [2]: 2 1
// An element below the lower bound of a parallel index is zero.
// TWO-NEXT: parallel [2]: 0 22
// Zero where the condition of a compute without reducer does not hold.
// TWO-NEXT: where [2, 3]: 0 2 3 0 0 9

attn.system @full {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S"], f64>
  %sum = attn.compute () sum (%i: "S") { %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64 } : !attn.array<[], f64>
  %prod = attn.compute () prod (%i: "S") { %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64 } : !attn.array<[], f64>
  %mean = attn.compute () mean (%i: "S") { %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64 } : !attn.array<[], f64>
  %max = attn.compute () max (%i: "S") { %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64 } : !attn.array<[], f64>
  %min = attn.compute () min (%i: "S") { %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64 } : !attn.array<[], f64>
  %argmax = attn.compute () argmax (%i: "S") { %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64 } : !attn.array<[], i64>
  %argmin = attn.compute () argmin (%i: "S") { %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64 } : !attn.array<[], i64>
  %logsumexp = attn.compute () logsumexp (%i: "S") { %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64 } : !attn.array<[], f64>
  %cumsum = attn.compute () cumsum (%i: "S") { %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64 } : !attn.array<["S"], f64>
  attn.output "sum" %sum : !attn.array<[], f64>
  attn.output "prod" %prod : !attn.array<[], f64>
  attn.output "mean" %mean : !attn.array<[], f64>
  attn.output "max" %max : !attn.array<[], f64>
  attn.output "min" %min : !attn.array<[], f64>
  attn.output "argmax" %argmax : !attn.array<[], i64>
  attn.output "argmin" %argmin : !attn.array<[], i64>
  attn.output "logsumexp" %logsumexp : !attn.array<[], f64>
  attn.output "cumsum" %cumsum : !attn.array<["S"], f64>
}

attn.program @some {
  %x = attn.data "x" : !attn.array<[4], f64>
  %mean = attn.compute () mean (%i: 4) where {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %0 = arith.cmpi sge, %i, %one : index
    %1 = arith.cmpi sle, %i, %two : index
    %2 = arith.andi %0, %1 : i1
    attn.yield %2 : i1
  } { %0 = attn.read %x[%i] : !attn.array<[4], f64>
    attn.yield %0 : f64 } : !attn.array<[], f64>
  %argmax = attn.compute () argmax (%i: 4) where {
    %0 = attn.read %x[%i] : !attn.array<[4], f64>
    %five = arith.constant 5.0 : f64
    %1 = arith.cmpf olt, %0, %five : f64
    attn.yield %1 : i1
  } { %0 = attn.read %x[%i] : !attn.array<[4], f64>
    attn.yield %0 : f64 } : !attn.array<[], i64>
  %softmax = attn.compute () softmax (%i: 4) where {
    %0 = attn.read %x[%i] : !attn.array<[4], f64>
    %five = arith.constant 5.0 : f64
    %1 = arith.cmpf olt, %0, %five : f64
    attn.yield %1 : i1
  } { %0 = attn.read %x[%i] : !attn.array<[4], f64>
    attn.yield %0 : f64 } : !attn.array<[4], f64>
  %log_softmax = attn.compute () log_softmax (%i: 4) where {
    %0 = attn.read %x[%i] : !attn.array<[4], f64>
    %five = arith.constant 5.0 : f64
    %1 = arith.cmpf olt, %0, %five : f64
    attn.yield %1 : i1
  } { %0 = attn.read %x[%i] : !attn.array<[4], f64>
    attn.yield %0 : f64 } : !attn.array<[4], f64>
  %cumsum = attn.compute () cumsum (%i: 4) where {
    %0 = attn.read %x[%i] : !attn.array<[4], f64>
    %five = arith.constant 5.0 : f64
    %1 = arith.cmpf olt, %0, %five : f64
    attn.yield %1 : i1
  } { %0 = attn.read %x[%i] : !attn.array<[4], f64>
    attn.yield %0 : f64 } : !attn.array<[4], f64>
  attn.output "mean" %mean : !attn.array<[], f64>
  attn.output "argmax" %argmax : !attn.array<[], i64>
  attn.output "softmax" %softmax : !attn.array<[4], f64>
  attn.output "log_softmax" %log_softmax : !attn.array<[4], f64>
  attn.output "cumsum" %cumsum : !attn.array<[4], f64>
}

attn.system @nothing {
  attn.length "S"
  %no = arith.constant false
  %x = attn.data "x" : !attn.array<["S"], f64>
  %sum = attn.compute () sum (%i: "S") where { attn.yield %no : i1 } {
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64 } : !attn.array<[], f64>
  %prod = attn.compute () prod (%i: "S") where { attn.yield %no : i1 } {
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64 } : !attn.array<[], f64>
  %mean = attn.compute () mean (%i: "S") where { attn.yield %no : i1 } {
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64 } : !attn.array<[], f64>
  %max = attn.compute () max (%i: "S") where { attn.yield %no : i1 } {
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64 } : !attn.array<[], f64>
  %min = attn.compute () min (%i: "S") where { attn.yield %no : i1 } {
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64 } : !attn.array<[], f64>
  %argmax = attn.compute () argmax (%i: "S") where { attn.yield %no : i1 } {
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64 } : !attn.array<[], i64>
  %argmin = attn.compute () argmin (%i: "S") where { attn.yield %no : i1 } {
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64 } : !attn.array<[], i64>
  %logsumexp = attn.compute () logsumexp (%i: "S") where { attn.yield %no : i1 } {
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64 } : !attn.array<[], f64>
  %softmax = attn.compute () softmax (%i: "S") where { attn.yield %no : i1 } {
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64 } : !attn.array<["S"], f64>
  %any = attn.compute () any (%i: "S") where { attn.yield %no : i1 } {
    %yes = arith.constant true
    attn.yield %yes : i1 } : !attn.array<[], i1>
  %all = attn.compute () all (%i: "S") where { attn.yield %no : i1 } {
    attn.yield %no : i1 } : !attn.array<[], i1>
  attn.output "sum" %sum : !attn.array<[], f64>
  attn.output "prod" %prod : !attn.array<[], f64>
  attn.output "mean" %mean : !attn.array<[], f64>
  attn.output "max" %max : !attn.array<[], f64>
  attn.output "min" %min : !attn.array<[], f64>
  attn.output "argmax" %argmax : !attn.array<[], i64>
  attn.output "argmin" %argmin : !attn.array<[], i64>
  attn.output "logsumexp" %logsumexp : !attn.array<[], f64>
  attn.output "softmax" %softmax : !attn.array<["S"], f64>
  attn.output "any" %any : !attn.array<[], i1>
  attn.output "all" %all : !attn.array<[], i1>
}

attn.system @huge {
  %x = attn.data "x" : !attn.array<[3], f64>
  %logsumexp = attn.compute () logsumexp (%i: 3) { %0 = attn.read %x[%i] : !attn.array<[3], f64>
    attn.yield %0 : f64 } : !attn.array<[], f64>
  %softmax = attn.compute () softmax (%i: 3) { %0 = attn.read %x[%i] : !attn.array<[3], f64>
    attn.yield %0 : f64 } : !attn.array<[3], f64>
  // sqrt(1000) and the NaN of sqrt(-1e300).
  %max = attn.compute () max (%i: 3) { %0 = attn.read %x[%i] : !attn.array<[3], f64>
    %1 = math.sqrt %0 : f64
    attn.yield %1 : f64 } : !attn.array<[], f64>
  attn.output "logsumexp" %logsumexp : !attn.array<[], f64>
  attn.output "softmax" %softmax : !attn.array<[3], f64>
  attn.output "max" %max : !attn.array<[], f64>
}

attn.system @two {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 3], f64>
  %argmax = attn.compute () argmax (%i: "S", %j: 3) {
    %0 = attn.read %x[%i, %j] : !attn.array<["S", 3], f64>
    attn.yield %0 : f64 } : !attn.array<[], i64>
  %from_one = attn.compute () sum (%i: "S", %j: 1 to 3) {
    %0 = attn.read %x[%i, %j] : !attn.array<["S", 3], f64>
    attn.yield %0 : f64 } : !attn.array<[], f64>
  %last = attn.compute (%i: "S") argmax (%j: 1 to 3) {
    %0 = attn.read %x[%i, %j] : !attn.array<["S", 3], f64>
    attn.yield %0 : f64 } : !attn.array<["S"], i64>
  %parallel = attn.compute (%i: 1 to "S") sum (%j: 3) {
    %0 = attn.read %x[%i, %j] : !attn.array<["S", 3], f64>
    attn.yield %0 : f64 } : !attn.array<["S"], f64>
  %where = attn.compute (%i: "S", %j: 3) where {
    %0 = arith.cmpi sgt, %j, %i : index
    attn.yield %0 : i1
  } { %0 = attn.read %x[%i, %j] : !attn.array<["S", 3], f64>
    attn.yield %0 : f64 } : !attn.array<["S", 3], f64>
  attn.output "argmax" %argmax : !attn.array<[], i64>
  attn.output "from_one" %from_one : !attn.array<[], f64>
  attn.output "last" %last : !attn.array<["S"], i64>
  attn.output "parallel" %parallel : !attn.array<["S"], f64>
  attn.output "where" %where : !attn.array<["S", 3], f64>
}
