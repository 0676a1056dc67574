// RUN: fovea-opt %s --attn-differentiate --split-input-file | FileCheck %s
// RUN: fovea-gradcheck %s --length S=9 --length T=6
// RUN: fovea-gradcheck %s --length S=8 --length T=5 --seed 3
// RUN: fovea-gradcheck %s --length S=1 --length T=1 --seed 4
// RUN: fovea-gradcheck %s --length S=10 --length T=4 --seed 5 --passes attn-inline,cse,canonicalize
// RUN: fovea-gradcheck %s --length S=7 --length T=3 --seed 6 --passes attn-inline,cse,attn-schedule

// Reads with a stride: the place p of what is read gets something from the
// indices i = (p - j) / 2 without a remainder, for the few j that there are. No
// adjoint is a sum over all places.

// Two axes with different strides, as in pooling of 2 x 3 places.

// CHECK-LABEL: module @pooling
// CHECK:       attn.compute "d x" (%[[P:.*]]: "S", %[[Q:.*]]: 12) sum (%[[J:.*]]: 2, %[[L:.*]]: 3) where {
// CHECK:         %[[AT:.*]] = arith.subi %[[P]], %[[J]]
// CHECK:         %[[I:.*]] = arith.floordivsi %[[AT]], %c2
// CHECK:         %[[TIMES:.*]] = arith.muli %[[I]], %c2
// CHECK:         arith.cmpi eq, %{{.*}}, %[[TIMES]]
// CHECK:         arith.floordivsi %{{.*}}, %c3
module @pooling {
  attn.system @loss {
    attn.length "S"
    attn.length "H" is affine_map<()[s0] -> (s0 floordiv 2)> ["S"]
    %x = attn.param "x" : !attn.array<["S", 12], f64>
    %y = attn.compute "y" (%i: "H", %k: 4) sum (%j: 2, %l: 3) {
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %0 = arith.muli %i, %two : index
      %1 = arith.addi %0, %j : index
      %2 = arith.muli %three, %k : index
      %3 = arith.addi %2, %l : index
      %4 = attn.read %x[%1, %3] : !attn.array<["S", 12], f64>
      %5 = math.sin %4 : f64
      attn.yield %5 : f64
    } : !attn.array<["H", 4], f64>
    %nll = attn.compute "nll" () sum (%i: "H", %k: 4) {
      %0 = attn.read %y[%i, %k] : !attn.array<["H", 4], f64>
      %1 = math.sin %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// A convolution with stride 2, dilation 3 and padding: i = (p - 3*j + 4) / 2.

// CHECK-LABEL: module @convolution
// CHECK:       attn.compute "d x" (%{{.*}}: "S") sum (%{{.*}}: 3) where {
// CHECK:         arith.floordivsi %{{.*}}, %c2
// CHECK:       attn.compute "d w" (%{{.*}}: 3) sum (%{{.*}}: "H")
module @convolution {
  attn.system @loss {
    attn.length "S"
    attn.length "H" is affine_map<()[s0] -> ((s0 + 2) floordiv 2)> ["S"]
    %x = attn.param "x" : !attn.array<["S"], f64>
    %w = attn.param "w" : !attn.array<[3], f64>
    %border = attn.param "border" : !attn.array<[], f64>
    %y = attn.compute "y" (%i: "H") sum (%j: 3) {
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %four = arith.constant 4 : index
      %0 = arith.muli %i, %two : index
      %1 = arith.muli %j, %three : index
      %2 = arith.addi %0, %1 : index
      %3 = arith.subi %2, %four : index
      %4 = attn.read %border[] : !attn.array<[], f64>
      %5 = attn.read %x[%3] default %4 : f64 : !attn.array<["S"], f64>
      %6 = attn.read %w[%j] : !attn.array<[3], f64>
      %7 = arith.mulf %5, %6 : f64
      attn.yield %7 : f64
    } : !attn.array<["H"], f64>
    %nll = attn.compute "nll" () sum (%i: "H") {
      %0 = attn.read %y[%i] : !attn.array<["H"], f64>
      %1 = math.sin %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// No index has a factor of one: solved for the one with the longer range.

// CHECK-LABEL: module @coprime
// CHECK:       attn.compute "d x" (%{{.*}}: "N") sum (%{{.*}}: 4) where {
// CHECK:         arith.floordivsi %{{.*}}, %c2
module @coprime {
  attn.system @loss {
    attn.length "S"
    attn.length "N" is affine_map<()[s0] -> (2 * s0 + 9)> ["S"]
    %x = attn.param "x" : !attn.array<["N"], f64>
    %nll = attn.compute "nll" () sum (%i: "S", %j: 4) {
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %0 = arith.muli %i, %two : index
      %1 = arith.muli %j, %three : index
      %2 = arith.addi %0, %1 : index
      %3 = attn.read %x[%2] : !attn.array<["N"], f64>
      %4 = math.sin %3 : f64
      attn.yield %4 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// Both axes depend on both indices: 2*i + j = p and i - j = q give
// i = (p + q) / 3, and j from that: nothing is summed over. Backwards and from
// the end: 2*T - 2*i - 1 = p.

// CHECK-LABEL: module @solved
// CHECK:       attn.compute "d x" (%{{.*}}: "N", %{{.*}}: "M") where {
// CHECK:         arith.floordivsi %{{.*}}, %c3
// CHECK:       attn.compute "d y" (%{{.*}}: "D") sum (%{{.*}}: 4) where {
// CHECK:         arith.floordivsi %{{.*}}, %c2
module @solved {
  attn.system @loss {
    attn.length "T"
    attn.length "N" is affine_map<()[s0] -> (2 * s0 + 3)> ["T"]
    attn.length "M" is affine_map<()[s0] -> (s0 + 3)> ["T"]
    attn.length "D" is affine_map<()[s0] -> (2 * s0)> ["T"]
    %x = attn.param "x" : !attn.array<["N", "M"], f64>
    %y = attn.param "y" : !attn.array<["D"], f64>
    %nll = attn.compute "nll" () sum (%i: "T", %j: 4) {
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %0 = arith.muli %i, %two : index
      %1 = arith.addi %0, %j : index
      %2 = arith.subi %i, %j : index
      %3 = arith.addi %2, %three : index
      %4 = attn.read %x[%1, %3] : !attn.array<["N", "M"], f64>
      %T = attn.extent "T"
      %5 = arith.muli %T, %two : index
      %6 = arith.subi %5, %0 : index
      %7 = arith.subi %6, %one : index
      %8 = attn.read %y[%7] : !attn.array<["D"], f64>
      %9 = arith.mulf %4, %8 : f64
      %10 = math.sin %9 : f64
      attn.yield %10 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// Not worth a division: both ranges are as long.

// CHECK-LABEL: module @as_long
// CHECK:       attn.compute "d x" (%{{.*}}: 7) sum (%{{.*}}: 3) where {
// CHECK-NOT:     arith.floordivsi
module @as_long {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[7], f64>
    %nll = attn.compute "nll" () sum (%i: 3, %j: 3) {
      %two = arith.constant 2 : index
      %0 = arith.muli %i, %two : index
      %1 = arith.addi %0, %j : index
      %2 = attn.read %x[%1] : !attn.array<[7], f64>
      %3 = math.sin %2 : f64
      attn.yield %3 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// Numbers that are too large to calculate with stay in a condition.

// CHECK-LABEL: module @huge
// CHECK:       attn.compute "d x" (%{{.*}}: 7) sum (%{{.*}}: 3, %{{.*}}: 2) where {
// CHECK-NOT:     arith.floordivsi
module @huge {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[7], f64>
    %nll = attn.compute "nll" () sum (%i: 3, %j: 2) {
      %large = arith.constant 4000000000000000000 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %0 = arith.muli %i, %large : index
      %1 = arith.muli %j, %three : index
      %2 = arith.addi %0, %1 : index
      %zero = arith.constant 0.0 : f64
      %3 = attn.read %x[%2] default %zero : f64 : !attn.array<[7], f64>
      %4 = math.sin %3 : f64
      attn.yield %4 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}
