// Nested lengths: each sentence m has its own number W[m] of words. What lies
// past it takes no part, whatever the storage holds.

// M = 3, W = 2 0 3; the sentences are 1 2 | - | 4 5 6, and 99 is padding.
// RUN: fovea-eval %s --entry story --length 'W=[2, 0, 3]' --input 'x=[[1, 2, 99], [99, 99, 99], [4, 5, 6]]' | FileCheck %s
// RUN: fovea-eval %s --entry scheduled --length 'W=[2, 0, 3]' --input 'x=[[1, 2, 99], [99, 99, 99], [4, 5, 6]]' | FileCheck %s
//   doubled: 2 4 | - | 8 10 12, then zeros
//   mean: 1.5, 0 over nothing, 5
//   size: W itself; last: x[m, W[m] - 1], or -1 in an empty sentence
//   total: 18
// CHECK:      doubled [3, 3]: 2 4 0 0 0 0 8 10 12
// CHECK-NEXT: last [3]: 2 -1 6
// CHECK-NEXT: mean [3]: 1.5 0 5
// CHECK-NEXT: running [3, 3]: 1 3 0 0 0 0 4 9 15
// CHECK-NEXT: size [3]: 2 0 3
// CHECK-NEXT: total []: 18

// The stored array may be wider than the longest sentence.
// RUN: fovea-eval %s --entry story --length 'W=[2, 0, 1]' --input 'x=[[1, 2, 99], [99, 99, 99], [4, 99, 99]]' | FileCheck %s --check-prefix=WIDE
// WIDE:      doubled [3, 2]: 2 4 0 0 8 0
// WIDE-NEXT: last [3]: 2 -1 4

// A place past its own length is outside, though it is stored.
// RUN: not fovea-eval %s --entry behind --length 'W=[2, 0, 3]' --input 'x=[[1, 2, 99], [99, 99, 99], [4, 5, 6]]' 2>&1 | FileCheck %s --check-prefix=BEHIND
// BEHIND: error: {{.*}}nested.mlir:[[@LINE+10]]:10: 'attn.read' in 'y' reads 'x' at [0, 2], outside its extents [M = 3, W = 2]

attn.system @behind {
  attn.length "M"
  attn.length "W" over "M"
  %x = attn.data "x" : !attn.array<["M", "W"], f64>
  %y = attn.compute "y" () {
    %m = arith.constant 0 : index
    %w = arith.constant 2 : index
    // The next line is the place of the error.
    %0 = attn.read %x[%m, %w] : !attn.array<["M", "W"], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "y" %y : !attn.array<[], f64>
}

attn.system @story {
  attn.length "M"
  attn.length "W" over "M"
  %x = attn.data "x" : !attn.array<["M", "W"], f64>
  %doubled = attn.compute "doubled" (%m: "M", %w: "W") {
    %0 = attn.read %x[%m, %w] : !attn.array<["M", "W"], f64>
    %1 = arith.addf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["M", "W"], f64>
  %mean = attn.compute "mean" (%m: "M") mean (%w: "W") {
    %0 = attn.read %x[%m, %w] : !attn.array<["M", "W"], f64>
    attn.yield %0 : f64
  } : !attn.array<["M"], f64>
  %running = attn.compute "running" (%m: "M") cumsum (%w: "W") {
    %0 = attn.read %x[%m, %w] : !attn.array<["M", "W"], f64>
    attn.yield %0 : f64
  } : !attn.array<["M", "W"], f64>
  %total = attn.compute "total" () sum (%m: "M", %w: "W") {
    %0 = attn.read %x[%m, %w] : !attn.array<["M", "W"], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %size = attn.compute "size" (%m: "M") {
    %0 = attn.extent "W"[%m]
    %1 = arith.index_cast %0 : index to i64
    attn.yield %1 : i64
  } : !attn.array<["M"], i64>
  %last = attn.compute "last" (%m: "M") {
    %none = arith.constant -1.0 : f64
    %one = arith.constant 1 : index
    %0 = attn.extent "W"[%m]
    %1 = arith.subi %0, %one : index
    %2 = attn.read %x[%m, %1] default %none : f64 : !attn.array<["M", "W"], f64>
    attn.yield %2 : f64
  } : !attn.array<["M"], f64>
  attn.output "doubled" %doubled : !attn.array<["M", "W"], f64>
  attn.output "mean" %mean : !attn.array<["M"], f64>
  attn.output "running" %running : !attn.array<["M", "W"], f64>
  attn.output "total" %total : !attn.array<[], f64>
  attn.output "size" %size : !attn.array<["M"], i64>
  attn.output "last" %last : !attn.array<["M"], f64>
}

// The same in loops: a row has no axis over M, and the loop says which it is.
attn.program @scheduled {
  attn.length "M"
  attn.length "W" over "M"
  %x = attn.data "x" : !attn.array<["M", "W"], f64>
  %zero = attn.compute () {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %total, %doubled, %mean, %running, %size, %last = attn.scan "M" (%m) carries (%sum = %zero : !attn.array<[], f64>) axes [0, 0, 0, 0, 0] {
    %row = attn.compute (%w: "W") {
      %0 = attn.read %x[%m, %w] : !attn.array<["M", "W"], f64>
      attn.yield %0 : f64
    } : !attn.array<["W"], f64>
    %twice = attn.compute (%w: "W") {
      %0 = attn.read %row[%w] : !attn.array<["W"], f64>
      %1 = arith.addf %0, %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["W"], f64>
    %average = attn.compute () mean (%w: "W") {
      %0 = attn.read %row[%w] : !attn.array<["W"], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    // A loop inside the loop, as long as this sentence.
    %all, %sums = attn.scan "W" (%w) carries (%before = %zero : !attn.array<[], f64>) axes [0] {
      %next = attn.compute () {
        %0 = attn.read %before[] : !attn.array<[], f64>
        %1 = attn.read %row[%w] : !attn.array<["W"], f64>
        %2 = arith.addf %0, %1 : f64
        attn.yield %2 : f64
      } : !attn.array<[], f64>
      attn.yield %next, %next : !attn.array<[], f64>, !attn.array<[], f64>
    } : !attn.array<[], f64>, !attn.array<["W"], f64>
    %more = attn.compute () {
      %0 = attn.read %sum[] : !attn.array<[], f64>
      %1 = attn.read %all[] : !attn.array<[], f64>
      %2 = arith.addf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    %length = attn.compute () {
      %0 = attn.extent "W"[%m]
      %1 = arith.index_cast %0 : index to i64
      attn.yield %1 : i64
    } : !attn.array<[], i64>
    %end = attn.compute () {
      %none = arith.constant -1.0 : f64
      %one = arith.constant 1 : index
      %0 = attn.extent "W"
      %1 = arith.subi %0, %one : index
      %2 = attn.read %row[%1] default %none : f64 : !attn.array<["W"], f64>
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.yield %more, %twice, %average, %sums, %length, %end : !attn.array<[], f64>, !attn.array<["W"], f64>, !attn.array<[], f64>, !attn.array<["W"], f64>, !attn.array<[], i64>, !attn.array<[], f64>
  } : !attn.array<[], f64>, !attn.array<["M", "W"], f64>, !attn.array<["M"], f64>, !attn.array<["M", "W"], f64>, !attn.array<["M"], i64>, !attn.array<["M"], f64>
  attn.output "doubled" %doubled : !attn.array<["M", "W"], f64>
  attn.output "mean" %mean : !attn.array<["M"], f64>
  attn.output "running" %running : !attn.array<["M", "W"], f64>
  attn.output "total" %total : !attn.array<[], f64>
  attn.output "size" %size : !attn.array<["M"], i64>
  attn.output "last" %last : !attn.array<["M"], f64>
}
