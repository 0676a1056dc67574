// Whatever is wrong with the inputs is one sentence, and never an assertion.

// RUN: not fovea-eval %s --entry main --input 'x=[1]' 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: {{.*}}: parameter 'w' is not given
// RUN: not fovea-eval %s --entry main --input 'w=[[1], [2]]' 2>&1 | FileCheck %s --check-prefix=LENGTH
// LENGTH: error: length 'S' is not given, and no given data has it
// RUN: not fovea-eval %s --entry main --input 'w=[[1, 2], [3, 4]]' --input 'x=[1, 2]' --length S=3 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: data 'x' has extents [S = 3] but is given [2] with 2 values
// RUN: not fovea-eval %s --entry main --input 'w=[[1], [2]]' --input 'x=[1]' 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: parameter 'w' has extents [2, 2] but is given [2, 1] with 2 values
// RUN: not fovea-eval %s --entry main --input 'x=[1.5]' --input 'w=[[1, 2], [3, 4]]' 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: data 'x' has elements of whole numbers but is given 1.5
// RUN: not fovea-eval %s --entry main --input 'x=[2]' --input 'w=[[1, 2], [3, 4]]' 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: 'attn.read' in 'y' reads 'w' at [2, 0], outside its extents [2, 2]
// RUN: not fovea-eval %s --entry main --input 'x=[1]' --length S=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: length 'S' is -1, outside 0..2147483648
// RUN: not fovea-eval %s --entry main --input 'x=[1]' --length 'S=[1, 2]' 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: length 'S' is one number but is given one for each index
attn.system @main {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S"], i64>
  %w = attn.param "w" : !attn.array<[2, 2], f64>
  %y = attn.compute "y" (%i: "S", %k: 2) {
    %0 = attn.read %x[%i] : !attn.array<["S"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %w[%1, %k] : !attn.array<[2, 2], f64>
    attn.yield %2 : f64
  } : !attn.array<["S", 2], f64>
  attn.output "y" %y : !attn.array<["S", 2], f64>
}

// RUN: not fovea-eval %s --entry nested --input 'x=[[1], [2]]' 2>&1 | FileCheck %s --check-prefix=NESTED
// NESTED: error: length 'W', one for each index of 'M', is not given
// RUN: not fovea-eval %s --entry nested --input 'x=[[1], [2]]' --length W=1 2>&1 | FileCheck %s --check-prefix=PLAIN
// PLAIN: error: length 'W' is nested in 'M' but is given as one number
// RUN: not fovea-eval %s --entry nested --input 'x=[[1], [2]]' --length 'W=[1]' 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: length 'W' has 1 values but its parent 'M' is 2
// RUN: not fovea-eval %s --entry nested --input 'x=[[1], [2]]' --length 'W=[1, 2]' 2>&1 | FileCheck %s --check-prefix=NARROW
// NARROW: data 'x' has extents [M = 2, W = 2] but is given [2, 1] with 2 values
// RUN: not fovea-eval %s --entry nested --input 'x=[[2], [1]]' --length 'W=[1, 1]' 2>&1 | FileCheck %s --check-prefix=BIT
// BIT: data 'x' has elements of 0 and 1 but is given 2
attn.system @nested {
  attn.length "M"
  attn.length "W" over "M"
  %x = attn.data "x" : !attn.array<["M", "W"], i1>
  attn.output "x" %x : !attn.array<["M", "W"], i1>
}

// RUN: not fovea-eval %s --entry orphan --length 'W=[1]' 2>&1 | FileCheck %s --check-prefix=ORPHAN
// ORPHAN: error: length 'W' is nested in 'M', which is no length
attn.system @orphan {
  attn.length "W" over "M"
}

// RUN: not fovea-eval %s --entry deep --length 'W=[1]' --length 'C=[1]' --length M=1 2>&1 | FileCheck %s --check-prefix=DEEP
// DEEP: error: length 'C' is nested in 'W', which is itself nested in 'M'
attn.system @deep {
  attn.length "M"
  attn.length "W" over "M"
  attn.length "C" over "W"
}

// RUN: not fovea-eval %s --entry twice --length S=1 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: length 'S' is declared twice
attn.system @twice {
  attn.length "S"
  attn.length "S"
}

// RUN: not fovea-eval %s --entry late --length S=1 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: length 'N' is computed from 'S', which does not stand before it
attn.system @late {
  attn.length "N" is affine_map<()[s0] -> (s0 + 1)> ["S"]
  attn.length "S"
}

// Computed lengths, a computed nested one, and one that falls below 0.
// RUN: fovea-eval %s --entry computed --length 'W=[1, 3]' --length M=2 | FileCheck %s --check-prefix=COMPUTED
// COMPUTED:      few []: 0
// COMPUTED-NEXT: more [2]: 2 4
attn.system @computed {
  attn.length "M"
  attn.length "W" over "M"
  attn.length "M-3" is affine_map<()[s0] -> (s0 - 3)> ["M"]
  attn.length "W+1" is affine_map<()[s0] -> (s0 + 1)> ["W"]
  %one = arith.constant 1 : i64
  %few = attn.compute "few" () sum (%i: "M-3") {
    attn.yield %one : i64
  } : !attn.array<[], i64>
  %more = attn.compute "more" (%m: "M") sum (%w: "W+1") {
    attn.yield %one : i64
  } : !attn.array<["M"], i64>
  attn.output "few" %few : !attn.array<[], i64>
  attn.output "more" %more : !attn.array<["M"], i64>
}

// RUN: not fovea-eval %s --entry huge --length S=2147483648 2>&1 | FileCheck %s --check-prefix=HUGE
// HUGE: error: an array of [2147483648, 2147483648] does not fit in memory
attn.system @huge {
  attn.length "S"
  %x = attn.compute "x" (%i: "S", %j: "S") {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["S", "S"], f64>
  attn.output "x" %x : !attn.array<["S", "S"], f64>
}

// RUN: not fovea-eval %s --entry unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: extent 'Q' of 'x' is no length of the model
attn.program @unknown {
  %x = attn.compute "x" () sum (%i: "Q") {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "x" %x : !attn.array<[], f64>
}
