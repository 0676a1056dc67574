// RUN: fovea-opt %s --split-input-file --attn-remove-dropout | FileCheck %s

// Nothing is dropped in decoding: what dropout gives is what it is of.

// CHECK-LABEL: attn.system @decode
// CHECK:         %[[X:.*]] = attn.param "x"
// CHECK-NOT:     attn.random
// CHECK:         attn.output "align" %[[X]]
attn.system @decode {
  attn.length "T"
  %x = attn.param "x" : !attn.array<["T"], f64>
  %y = attn.compute "y" (%t: "T") {
    %limit = arith.constant 2147483648 : i64
    %none = arith.constant 4294967296 : i64
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1.0 : f64
    %two = arith.constant 2.0 : f64
    %word = attn.random [%t] ordinal 3 word 0 : i64
    %isDropped = arith.cmpi slt, %word, %limit : i64
    %isDrawn = arith.cmpi slt, %word, %none : i64
    %kept = arith.select %isDrawn, %two, %one : f64
    %factor = arith.select %isDropped, %zero, %kept : f64
    %0 = attn.read %x[%t] : !attn.array<["T"], f64>
    %1 = arith.mulf %0, %factor : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  attn.output "align" %y : !attn.array<["T"], f64>
}

// -----

// In a sum it is gone, and the sum keeps its order.

// CHECK-LABEL: attn.system @decode
// CHECK:         attn.compute "s" () sum (%{{.*}}: "T") order(lanes %{{.*}}, fused) {
// CHECK-NOT:       attn.random
// CHECK:           arith.mulf
// CHECK-NEXT:      attn.yield
attn.system @decode {
  attn.length "T"
  %x = attn.param "x" : !attn.array<["T"], f64>
  %s = attn.compute "s" () sum (%t: "T") order(lanes %t, fused) {
    %limit = arith.constant 2147483648 : i64
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1.0 : f64
    %word = attn.random [%t] ordinal 3 word 0 : i64
    %isDropped = arith.cmpi slt, %word, %limit : i64
    %factor = arith.select %isDropped, %zero, %one : f64
    %0 = attn.read %x[%t] : !attn.array<["T"], f64>
    %1 = arith.mulf %0, %factor : f64
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[], f64>
  attn.output "s" %s : !attn.array<[], f64>
}

// -----

// A fused sum of a product that is dropped adds the product, which has a rounding
// of its own, in training. So it does here.

// CHECK-LABEL: attn.system @decode
// CHECK:         attn.compute "s" () sum (%{{.*}}: "T") order(lanes %{{[a-z]+}}) {
// CHECK:           %[[P:.*]] = arith.mulf
// CHECK-NEXT:      attn.yield %[[P]]
attn.system @decode {
  attn.length "T"
  %x = attn.param "x" : !attn.array<["T"], f64>
  %s = attn.compute "s" () sum (%t: "T") order(lanes %t, fused) {
    %limit = arith.constant 2147483648 : i64
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1.0 : f64
    %word = attn.random [%t] ordinal 3 word 0 : i64
    %isDropped = arith.cmpi slt, %word, %limit : i64
    %factor = arith.select %isDropped, %zero, %one : f64
    %0 = attn.read %x[%t] : !attn.array<["T"], f64>
    %1 = arith.mulf %0, %0 : f64
    %2 = arith.mulf %1, %factor : f64
    attn.yield %2 : f64
  } : !attn.array<[], f64>
  attn.output "s" %s : !attn.array<[], f64>
}

// -----

// A constant is not what dropout multiplies by: the sum stays fused.

// CHECK-LABEL: attn.system @decode
// CHECK:         attn.compute "s" () sum (%{{.*}}: "T") order(lanes %{{[a-z]+}}, fused) {
attn.system @decode {
  attn.length "T"
  %x = attn.param "x" : !attn.array<["T"], f64>
  %s = attn.compute "s" () sum (%t: "T") order(lanes %t, fused) {
    %limit = arith.constant 2147483648 : i64
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1.0 : f64
    %three = arith.constant 3.0 : f64
    %word = attn.random [%t] ordinal 3 word 0 : i64
    %isDropped = arith.cmpi slt, %word, %limit : i64
    %factor = arith.select %isDropped, %zero, %one : f64
    %0 = attn.read %x[%t] : !attn.array<["T"], f64>
    %1 = arith.mulf %0, %factor : f64
    %2 = arith.mulf %1, %three : f64
    attn.yield %2 : f64
  } : !attn.array<[], f64>
  attn.output "s" %s : !attn.array<[], f64>
}

// -----

// Must not fire: draws are random without a seed as well, and training drops.

// CHECK-LABEL: attn.system @decode
// CHECK:         attn.random
// CHECK-LABEL: attn.system @loss
// CHECK:         attn.random
attn.system @decode {
  attn.length "T"
  %u = attn.compute "u" (%t: "T") {
    %0 = attn.random [%t] ordinal 0 word 0 : f64
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "u" %u : !attn.array<["T"], f64>
}
attn.system @loss {
  attn.length "T"
  %u = attn.compute "u" (%t: "T") {
    %0 = attn.random [%t] ordinal 0 word 0 : i64
    attn.yield %0 : i64
  } : !attn.array<["T"], i64>
  attn.output "u" %u : !attn.array<["T"], i64>
}
