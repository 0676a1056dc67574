// RUN: fovea-opt %s --attn-differentiate --split-input-file | FileCheck %s
// RUN: fovea-gradcheck %s --length T=4 --length "W=3,0,1,2"
// RUN: fovea-gradcheck %s --length T=1 --length "W=0" --seed 3
// RUN: fovea-gradcheck %s --length T=3 --length "W=1,1,4" --seed 4 --passes attn-inline,cse,canonicalize
// RUN: fovea-gradcheck %s --length T=3 --length "W=1,2,0" --seed 5 --passes attn-inline,cse,attn-schedule

// A contraction: three sums, each over the index that the operand lacks.

// CHECK-LABEL: module @contraction
// CHECK:       attn.compute "d x" (%[[T:.*]]: "T", %[[K:.*]]: 3) sum (%[[J:.*]]: 2) {
// CHECK:       attn.compute "d w" (%[[J:.*]]: 2, %[[K:.*]]: 3) sum (%[[T:.*]]: "T") {
module @contraction {
  attn.system @loss {
    attn.length "T"
    %x = attn.param "x" : !attn.array<["T", 3], f64>
    %w = attn.param "w" : !attn.array<[2, 3], f64>
    %y = attn.compute "y" (%t: "T", %j: 2) sum (%k: 3) {
      %0 = attn.read %x[%t, %k] : !attn.array<["T", 3], f64>
      %1 = attn.read %w[%j, %k] : !attn.array<[2, 3], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["T", 2], f64>
    %nll = attn.compute "nll" () sum (%t: "T", %j: 2) {
      %0 = attn.read %y[%t, %j] : !attn.array<["T", 2], f64>
      %1 = math.sin %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// A gather: the row v of the table gets what the places with that token get.

// CHECK-LABEL: module @gather
// CHECK:       attn.compute "d table" (%[[V:.*]]: 3, %[[K:.*]]: 2) sum (%[[T:.*]]: "T") where {
// CHECK:         %[[TOKEN:.*]] = attn.read %{{.*}}[%[[T]]] : !attn.array<["T"], i64>
// CHECK:         %[[ROW:.*]] = arith.index_cast %[[TOKEN]]
// CHECK:         %[[HIT:.*]] = arith.cmpi eq, %[[ROW]], %[[V]]
// CHECK:         attn.yield %[[HIT]]
module @gather {
  attn.system @loss {
    attn.length "T"
    %table = attn.param "table" : !attn.array<[3, 2], f64>
    %token = attn.data "token" : !attn.array<["T"], i64>
    %nll = attn.compute "nll" () sum (%t: "T", %k: 2) {
      %0 = attn.read %token[%t] : !attn.array<["T"], i64>
      %1 = arith.index_cast %0 : i64 to index
      %2 = attn.read %table[%1, %k] : !attn.array<[3, 2], f64>
      %3 = math.sin %2 : f64
      attn.yield %3 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// A convolution with padding: solved for the long index, summed over the short
// one. The default at the border is itself a parameter.

// CHECK-LABEL: module @convolution
// CHECK:       attn.compute "d x" (%[[P:.*]]: "T") sum (%[[R:.*]]: 3) where {
// CHECK:         %[[J:.*]] = arith.subi
// CHECK:         arith.cmpi sge
// CHECK:         arith.cmpi slt
// CHECK:       attn.compute "d w" (%[[R:.*]]: 3) sum (%{{.*}}: "T") {
module @convolution {
  attn.system @loss {
    attn.length "T"
    %x = attn.param "x" : !attn.array<["T"], f64>
    %w = attn.param "w" : !attn.array<[3], f64>
    %border = attn.param "border" : !attn.array<[], f64>
    %y = attn.compute "y" (%j: "T") sum (%r: 3) {
      %one = arith.constant 1 : index
      %0 = arith.addi %j, %r : index
      %1 = arith.subi %0, %one : index
      %2 = attn.read %border[] : !attn.array<[], f64>
      %3 = attn.read %x[%1] default %2 : f64 : !attn.array<["T"], f64>
      %4 = attn.read %w[%r] : !attn.array<[3], f64>
      %5 = arith.mulf %3, %4 : f64
      attn.yield %5 : f64
    } : !attn.array<["T"], f64>
    %nll = attn.compute "nll" () sum (%t: "T") {
      %0 = attn.read %y[%t] : !attn.array<["T"], f64>
      %1 = math.sin %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// x read backwards, with a stride, on the diagonal and at constant places.

// CHECK-LABEL: module @positions
// CHECK:       attn.compute "d x" (%[[P:.*]]: "T") {
// CHECK:         arith.subi %{{.*}}, %[[P]]
// CHECK:       attn.compute "d y" (%[[P:.*]]: 8) where {
// CHECK:         %[[I:.*]] = arith.floordivsi
// CHECK:         %[[TIMES:.*]] = arith.muli %[[I]]
// CHECK:         arith.cmpi eq, %{{.*}}, %[[TIMES]]
// CHECK:       attn.compute "d m" (%[[A:.*]]: 4, %[[B:.*]]: 4) where {
// CHECK:         arith.cmpi eq
module @positions {
  attn.system @loss {
    attn.length "T"
    %x = attn.param "x" : !attn.array<["T"], f64>
    %y = attn.param "y" : !attn.array<[8], f64>
    %m = attn.param "m" : !attn.array<[4, 4], f64>
    %back = attn.compute "back" (%t: "T") {
      %one = arith.constant 1 : index
      %T = attn.extent "T"
      %last = arith.subi %T, %one : index
      %p = arith.subi %last, %t : index
      %0 = attn.read %x[%p] : !attn.array<["T"], f64>
      %1 = arith.index_cast %t : index to i64
      %2 = arith.sitofp %1 : i64 to f64
      %3 = arith.mulf %0, %2 : f64
      %4 = math.sin %3 : f64
      attn.yield %4 : f64
    } : !attn.array<["T"], f64>
    %strided = attn.compute "strided" (%i: 4) {
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %0 = arith.muli %i, %two : index
      %1 = arith.addi %0, %one : index
      %2 = attn.read %y[%1] : !attn.array<[8], f64>
      %3 = attn.read %m[%i, %i] : !attn.array<[4, 4], f64>
      %4 = arith.mulf %2, %3 : f64
      attn.yield %4 : f64
    } : !attn.array<[4], f64>
    %nll = attn.compute "nll" () sum (%t: "T", %i: 4) {
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %0 = attn.read %back[%t] : !attn.array<["T"], f64>
      %1 = attn.read %strided[%i] : !attn.array<[4], f64>
      %2 = attn.read %m[%two, %three] : !attn.array<[4, 4], f64>
      %3 = arith.mulf %0, %1 : f64
      %4 = arith.mulf %3, %2 : f64
      attn.yield %4 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// Boundaries: each case gets what is read at its place, the first that holds;
// one stands at a place inside the array, one at the end. Two indices recur.

// CHECK-LABEL: module @boundaries
// CHECK:       attn.compute "d f" (%[[P:.*]]: "T", %[[Q:.*]]: 3) where {
// CHECK:       attn.compute "d row"
// CHECK:       attn.compute "d column"
module @boundaries {
  attn.system @loss {
    attn.length "T"
    %row = attn.param "row" : !attn.array<[3], f64>
    %column = attn.param "column" : !attn.array<["T"], f64>
    %corner = attn.param "corner" : !attn.array<[], f64>
    %f = attn.compute "f" (%t: "T", %i: 3) {
      %one = arith.constant 1 : index
      %half = arith.constant 0.5 : f64
      %a = arith.subi %t, %one : index
      %b = arith.subi %i, %one : index
      %0 = attn.read %f[%a, %b] cases [[[0, -1], [1, -1]], [[0, -1]], [[1, -1]]] (%corner, %row, %column : !attn.array<[], f64>, !attn.array<[3], f64>, !attn.array<["T"], f64>) : !attn.array<["T", 3], f64>
      %1 = attn.read %f[%a, %i] cases [[[0, -1]]] (%row : !attn.array<[3], f64>) : !attn.array<["T", 3], f64>
      %2 = arith.mulf %1, %half : f64
      %3 = math.sin %2 : f64
      %4 = arith.addf %0, %3 : f64
      attn.yield %4 : f64
    } : !attn.array<["T", 3], f64>
    %g = attn.compute "g" (%t: "T") {
      %one = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %a = arith.addi %t, %one : index
      %0 = attn.read %f[%a, %c2] cases [[[0, "T"]], [[0, 1]]] (%row, %row : !attn.array<[3], f64>, !attn.array<[3], f64>) : !attn.array<["T", 3], f64>
      %1 = math.sin %0 : f64
      attn.yield %1 : f64
    } : !attn.array<["T"], f64>
    %nll = attn.compute "nll" () sum (%t: "T") {
      %c1 = arith.constant 1 : index
      %0 = attn.read %g[%t] : !attn.array<["T"], f64>
      %1 = attn.read %f[%t, %c1] : !attn.array<["T", 3], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// A lower bound, a condition, and two lengths of which one follows from the
// other: nothing is evaluated outside.

// CHECK-LABEL: module @bounds
// CHECK:       attn.compute "d x" (%[[U:.*]]: 1 to "T") sum (%[[T:.*]]: 1 to "T") where {
// CHECK:         arith.cmpi sle
module @bounds {
  attn.system @loss {
    attn.length "T"
    attn.length "T+1" is affine_map<()[s0] -> (s0 + 1)> ["T"]
    %x = attn.param "x" : !attn.array<["T"], f64>
    %z = attn.param "z" : !attn.array<["T+1"], f64>
    %y = attn.compute "y" (%t: 1 to "T", %u: 1 to "T") where {
      %0 = arith.cmpi sle, %u, %t : index
      attn.yield %0 : i1
    } {
      %0 = attn.read %x[%u] : !attn.array<["T"], f64>
      %1 = attn.read %z[%t] : !attn.array<["T+1"], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["T", "T"], f64>
    %w = attn.compute "w" (%t: "T+1") {
      %zero = arith.constant 0.0 : f64
      %one = arith.constant 1 : index
      %before = arith.subi %t, %one : index
      %0 = attn.read %x[%before] default %zero : f64 : !attn.array<["T"], f64>
      %1 = attn.read %z[%t] : !attn.array<["T+1"], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["T+1"], f64>
    %s = attn.compute "s" () sum (%t: "T", %u: "T") {
      %0 = attn.read %y[%t, %u] : !attn.array<["T", "T"], f64>
      %1 = math.sin %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    %nll = attn.compute "nll" () sum (%t: "T+1") {
      %0 = attn.read %w[%t] : !attn.array<["T+1"], f64>
      %1 = math.sin %0 : f64
      %2 = attn.read %s[] : !attn.array<[], f64>
      %3 = arith.mulf %1, %2 : f64
      attn.yield %3 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// Nested lengths: W[m] words in each of T sentences. A sum over the words of
// the sentence before reads at another parent, so the bound of its index is
// not that of the axis.

// CHECK-LABEL: module @nested
// CHECK:       attn.compute "d x" (%[[M:.*]]: "T", %[[W:.*]]: "W")
// CHECK:       attn.extent "W"[%{{.*}}]
// CHECK:       attn.compute "d v" (%[[V:.*]]: 3) sum (%[[M:.*]]: "T", %[[W:.*]]: "W")
module @nested {
  attn.system @loss {
    attn.length "T"
    attn.length "W" over "T"
    %x = attn.param "x" : !attn.array<["T", "W"], f64>
    %v = attn.param "v" : !attn.array<[3], f64>
    %u = attn.param "u" : !attn.array<["T"], f64>
    %token = attn.data "token" : !attn.array<["T", "W"], i64>
    %y = attn.compute "y" (%m: "T", %w: "W") {
      %zero = arith.constant 0.0 : f64
      %one = arith.constant 1 : index
      %before = arith.subi %m, %one : index
      %0 = attn.read %x[%before, %w] default %zero : f64 : !attn.array<["T", "W"], f64>
      %1 = attn.read %token[%m, %w] : !attn.array<["T", "W"], i64>
      %2 = arith.index_cast %1 : i64 to index
      %3 = attn.read %v[%2] : !attn.array<[3], f64>
      %4 = arith.addf %0, %3 : f64
      %5 = attn.read %u[%m] : !attn.array<["T"], f64>
      %6 = arith.mulf %4, %5 : f64
      attn.yield %6 : f64
    } : !attn.array<["T", "W"], f64>
    %nll = attn.compute "nll" () sum (%m: "T", %w: "W") {
      %0 = attn.read %y[%m, %w] : !attn.array<["T", "W"], f64>
      %1 = attn.read %x[%m, %w] : !attn.array<["T", "W"], f64>
      %2 = arith.mulf %0, %1 : f64
      %3 = math.sin %2 : f64
      attn.yield %3 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// A sum over words that reads only the sentence after: the parent stays an
// index of the sum, or the words would lose their range.

// CHECK-LABEL: module @parent
// CHECK:       attn.compute "d u" (%[[P:.*]]: "T") sum (%[[M:.*]]: "T", %[[W:.*]]: "W") where {
// CHECK:         arith.cmpi eq
module @parent {
  attn.system @loss {
    attn.length "T"
    attn.length "W" over "T"
    %u = attn.param "u" : !attn.array<["T"], f64>
    %weight = attn.data "weight" : !attn.array<["T", "W"], f64>
    %nll = attn.compute "nll" () sum (%m: "T", %w: "W") {
      %zero = arith.constant 0.0 : f64
      %one = arith.constant 1 : index
      %after = arith.addi %m, %one : index
      %0 = attn.read %u[%after] default %zero : f64 : !attn.array<["T"], f64>
      %1 = attn.read %weight[%m, %w] : !attn.array<["T", "W"], f64>
      %2 = arith.mulf %0, %1 : f64
      %3 = math.sin %2 : f64
      attn.yield %3 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}
