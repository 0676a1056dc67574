// Dropout is an equation of the words of attn.random, which are 2^32 without a
// seed: it is the identity then. With one it drops by a word of its own for each
// element: the loop over rows drops what the whole array drops.

// RUN: fovea-eval %s --entry whole --input 'x=[[1, 1, 1], [1, 1, 1]]' | FileCheck %s --check-prefix=PLAIN
// PLAIN: y [2, 3]: 1 1 1 1 1 1

// The numbers are the first words of Philox4x32-10 with key (7, 3) and counters
// (element, 0, example 5, update 2), divided by 2^32:
//   0.0976 0.9153 0.9257 0.9603 0.5353 0.9823
// At the rate 0.5 the elements below it are 0, the others 1 / 0.5 = 2.
// RUN: fovea-eval %s --entry whole --input 'x=[[1, 1, 1], [1, 1, 1]]' --seed 7 --update 2 --example 5 | FileCheck %s
// RUN: fovea-eval %s --entry rows --input 'x=[[1, 1, 1], [1, 1, 1]]' --seed 7 --update 2 --example 5 | FileCheck %s
// RUN: fovea-eval %s --entry columns --input 'x=[[1, 1, 1], [1, 1, 1]]' --seed 7 --update 2 --example 5 | FileCheck %s
// CHECK: y [2, 3]: 0 2 2 2 2 2

// Another example has other numbers.
// RUN: fovea-eval %s --entry whole --input 'x=[[1, 1, 1], [1, 1, 1]]' --seed 7 --update 2 --example 6 | FileCheck %s --check-prefix=OTHER
//   0.5180 0.2034 0.2726 0.9453 0.9204 0.6705
// OTHER: y [2, 3]: 2 0 0 2 2 2

attn.system @whole {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 3], f64>
  %y = attn.compute "y" (%i: "S", %k: 3) {
      %limit = arith.constant 2147483648 : i64
      %none = arith.constant 4294967296 : i64
      %zero = arith.constant 0.0 : f64
      %one = arith.constant 1.0 : f64
      %two = arith.constant 2.0 : f64
      %c3 = arith.constant 3 : index
      %first = arith.muli %i, %c3 : index
      %place = arith.addi %first, %k : index
      %word = attn.random [%place] ordinal 3 word 0 : i64
      %isDropped = arith.cmpi slt, %word, %limit : i64
      %isDrawn = arith.cmpi slt, %word, %none : i64
      %kept = arith.select %isDrawn, %two, %one : f64
      %factor = arith.select %isDropped, %zero, %kept : f64
      %0 = attn.read %x[%i, %k] : !attn.array<["S", 3], f64>
      %1 = arith.mulf %0, %factor : f64
      attn.yield %1 : f64
    } : !attn.array<["S", 3], f64>
  attn.output "y" %y : !attn.array<["S", 3], f64>
}

attn.program @rows {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 3], f64>
  %y = attn.scan "S" (%i) axes [0] {
    %row = attn.compute (%k: 3) {
      %limit = arith.constant 2147483648 : i64
      %none = arith.constant 4294967296 : i64
      %zero = arith.constant 0.0 : f64
      %one = arith.constant 1.0 : f64
      %two = arith.constant 2.0 : f64
      %c3 = arith.constant 3 : index
      %first = arith.muli %i, %c3 : index
      %place = arith.addi %first, %k : index
      %word = attn.random [%place] ordinal 3 word 0 : i64
      %isDropped = arith.cmpi slt, %word, %limit : i64
      %isDrawn = arith.cmpi slt, %word, %none : i64
      %kept = arith.select %isDrawn, %two, %one : f64
      %factor = arith.select %isDropped, %zero, %kept : f64
      %0 = attn.read %x[%i, %k] : !attn.array<["S", 3], f64>
      %1 = arith.mulf %0, %factor : f64
      attn.yield %1 : f64
    } : !attn.array<[3], f64>
    attn.yield %row : !attn.array<[3], f64>
  } : !attn.array<["S", 3], f64>
  attn.output "y" %y : !attn.array<["S", 3], f64>
}

attn.program @columns {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S", 3], f64>
  %y = attn.scan 3 (%k) axes [1] {
    %column = attn.compute (%i: "S") {
      %limit = arith.constant 2147483648 : i64
      %none = arith.constant 4294967296 : i64
      %zero = arith.constant 0.0 : f64
      %one = arith.constant 1.0 : f64
      %two = arith.constant 2.0 : f64
      %c3 = arith.constant 3 : index
      %first = arith.muli %i, %c3 : index
      %place = arith.addi %first, %k : index
      %word = attn.random [%place] ordinal 3 word 0 : i64
      %isDropped = arith.cmpi slt, %word, %limit : i64
      %isDrawn = arith.cmpi slt, %word, %none : i64
      %kept = arith.select %isDrawn, %two, %one : f64
      %factor = arith.select %isDropped, %zero, %kept : f64
      %0 = attn.read %x[%i, %k] : !attn.array<["S", 3], f64>
      %1 = arith.mulf %0, %factor : f64
      attn.yield %1 : f64
    } : !attn.array<["S"], f64>
    attn.yield %column : !attn.array<["S"], f64>
  } : !attn.array<["S", 3], f64>
  attn.output "y" %y : !attn.array<["S", 3], f64>
}
