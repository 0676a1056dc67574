// RUN: fovea-opt %s --attn-inherit-support --split-input-file | FileCheck %s

// The sum takes over that u <= t, not what reads the mask.

// CHECK-LABEL: attn.system @causal
// CHECK:       %[[A:.*]] = attn.compute "a"
// CHECK:       attn.compute "c" (%[[T:.*]]: "T", %{{.*}}: 3) sum (%[[U:.*]]: "T") where {
// CHECK-NOT:     attn.read
// CHECK:         %[[PAST:.*]] = arith.cmpi sle, %[[U]], %[[T]]
// CHECK-NEXT:    attn.yield %[[PAST]]
// CHECK:       } {
// CHECK:         attn.read %[[A]][%[[T]], %[[U]]]
attn.system @causal {
  attn.length "T"
  %e = attn.data "e" : !attn.array<["T", "T"], f64>
  %mask = attn.data "mask" : !attn.array<["T"], i1>
  %v = attn.data "v" : !attn.array<["T", 3], f64>
  %a = attn.compute "a" (%t: "T") softmax (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    %1 = attn.read %mask[%u] : !attn.array<["T"], i1>
    %2 = arith.andi %0, %1 : i1
    attn.yield %2 : i1
  } {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "T"], f64>
  %c = attn.compute "c" (%t: "T", %k: 3) sum (%u: "T") {
    %0 = attn.read %a[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %v[%u, %k] : !attn.array<["T", 3], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 3], f64>
  attn.output "c" %c : !attn.array<["T", 3], f64>
}

// -----

// A condition that the sum has already is not repeated; one of its own stays.

// CHECK-LABEL: attn.system @own
// CHECK:       attn.compute "c" (%[[T:.*]]: "T") sum (%[[U:.*]]: "T") where {
// CHECK-DAG:     %[[OWN:.*]] = arith.cmpi ne, %[[T]], %[[U]]
// CHECK-DAG:     %[[PAST:.*]] = arith.cmpi sle, %[[U]], %[[T]]
// CHECK:         arith.andi
// CHECK:       attn.compute "twice" (%[[T:.*]]: "T") sum (%[[U:.*]]: "T") where {
// CHECK-NEXT:    %[[PAST:.*]] = arith.cmpi sle, %[[U]], %[[T]]
// CHECK-NEXT:    attn.yield %[[PAST]]
attn.system @own {
  attn.length "T"
  %e = attn.data "e" : !attn.array<["T", "T"], f64>
  %a = attn.compute "a" (%t: "T") softmax (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "T"], f64>
  %c = attn.compute "c" (%t: "T") sum (%u: "T") where {
    %0 = arith.cmpi ne, %t, %u : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %a[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = arith.negf %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %twice = attn.compute "twice" (%t: "T") sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %a[%t, %u] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "c" %c : !attn.array<["T"], f64>
  attn.output "twice" %twice : !attn.array<["T"], f64>
}

// -----

// Not where the weight does not multiply everything, is read at another place,
// or only divides.

// CHECK-LABEL: attn.system @stays
// CHECK:       attn.compute "added" (%{{.*}}: "T") sum (%{{.*}}: "T") {
// CHECK:       attn.compute "elsewhere" (%{{.*}}: "T") sum (%{{.*}}: "T") {
// CHECK:       attn.compute "divisor" (%{{.*}}: "T") sum (%{{.*}}: "T") {
// CHECK:       attn.compute "largest" (%{{.*}}: "T") max (%{{.*}}: "T") {
attn.system @stays {
  attn.length "T"
  %e = attn.data "e" : !attn.array<["T", "T"], f64>
  %a = attn.compute "a" (%t: "T") softmax (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "T"], f64>
  %added = attn.compute "added" (%t: "T") sum (%u: "T") {
    %0 = attn.read %a[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %elsewhere = attn.compute "elsewhere" (%t: "T") sum (%u: "T") {
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %a[%before, %u] default %zero : f64 : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %divisor = attn.compute "divisor" (%t: "T") sum (%u: "T") {
    %0 = attn.read %a[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = arith.divf %1, %0 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %largest = attn.compute "largest" (%t: "T") max (%u: "T") {
    %0 = attn.read %a[%t, %u] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "added" %added : !attn.array<["T"], f64>
  attn.output "elsewhere" %elsewhere : !attn.array<["T"], f64>
  attn.output "divisor" %divisor : !attn.array<["T"], f64>
  attn.output "largest" %largest : !attn.array<["T"], f64>
}

// -----

// What a copy is zero outside of, its readers are.

// CHECK-LABEL: attn.system @copied
// CHECK:       attn.compute "sum of a copy" (%[[T:.*]]: "T") sum (%[[U:.*]]: "T") where {
// CHECK-NEXT:    %[[PAST:.*]] = arith.cmpi sle, %[[U]], %[[T]]
// CHECK-NEXT:    attn.yield %[[PAST]]
attn.system @copied {
  attn.length "T"
  %e = attn.data "e" : !attn.array<["T", "T"], f64>
  %a = attn.compute "a" (%t: "T") softmax (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "T"], f64>
  %turned = attn.compute "turned" (%u: "T", %t: "T") {
    %0 = attn.read %a[%t, %u] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "T"], f64>
  %c = attn.compute "sum of a copy" (%t: "T") sum (%u: "T") {
    %0 = attn.read %turned[%u, %t] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "c" %c : !attn.array<["T"], f64>
}

// -----

// Nor is a multiple of it, by a number that reads no array, as dropout is; a
// product with an array may be no number there.

// CHECK-LABEL: attn.system @dropped
// CHECK:       attn.compute "kept" (%[[T:.*]]: "T") sum (%[[U:.*]]: "T") where {
// CHECK-NEXT:    %[[PAST:.*]] = arith.cmpi sle, %[[U]], %[[T]]
// CHECK-NEXT:    attn.yield %[[PAST]]
// CHECK:       attn.compute "read" (%{{.*}}: "T") sum (%{{.*}}: "T") {
attn.system @dropped {
  attn.length "T"
  %e = attn.data "e" : !attn.array<["T", "T"], f64>
  %a = attn.compute "a" (%t: "T") softmax (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "T"], f64>
  %dropped = attn.compute "dropped" (%t: "T", %u: "T") {
    %limit = arith.constant 2147483648 : i64
    %zero = arith.constant 0.0 : f64
    %two = arith.constant 2.0 : f64
    %word = attn.random [%t] ordinal 3 word 0 : i64
    %isDropped = arith.cmpi slt, %word, %limit : i64
    %factor = arith.select %isDropped, %zero, %two : f64
    %0 = attn.read %a[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = arith.mulf %0, %factor : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "T"], f64>
  %scaled = attn.compute "scaled" (%t: "T", %u: "T") {
    %0 = attn.read %a[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %kept = attn.compute "kept" (%t: "T") sum (%u: "T") {
    %0 = attn.read %dropped[%t, %u] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %read = attn.compute "read" (%t: "T") sum (%u: "T") {
    %0 = attn.read %scaled[%t, %u] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "kept" %kept : !attn.array<["T"], f64>
  attn.output "read" %read : !attn.array<["T"], f64>
}

// -----

// A weight that is zero in one branch, itself or in the equation that is read,
// and a score that is minus infinity there, or has such an addend.

// CHECK-LABEL: attn.system @branches
// CHECK:       attn.compute "p" (%[[T:.*]]: "T") softmax (%[[U:.*]]: "T") where {
// CHECK-NEXT:    %[[PAST:.*]] = arith.cmpi sle, %[[U]], %[[T]]
// CHECK-NEXT:    attn.yield %[[PAST]]
// CHECK:       attn.compute "masked" (%[[T:.*]]: "T") softmax (%[[U:.*]]: "T") where {
// CHECK-NEXT:    %[[PAST:.*]] = arith.cmpi sle, %[[U]], %[[T]]
// CHECK-NEXT:    attn.yield %[[PAST]]
// CHECK:       attn.compute "read" (%[[T:.*]]: "T") sum (%[[U:.*]]: "T") where {
// CHECK-NEXT:    %[[PAST:.*]] = arith.cmpi sle, %[[U]], %[[T]]
// CHECK-NEXT:    attn.yield %[[PAST]]
// CHECK:       attn.compute "own" (%[[T:.*]]: "T") sum (%[[U:.*]]: "T") where {
// CHECK-NEXT:    %[[PAST:.*]] = arith.cmpi sle, %[[U]], %[[T]]
// CHECK-NEXT:    attn.yield %[[PAST]]
// CHECK:       attn.compute "of p" (%[[T:.*]]: "T") sum (%[[U:.*]]: "T") where {
attn.system @branches {
  attn.length "T"
  %e = attn.data "e" : !attn.array<["T", "T"], f64>
  %v = attn.data "v" : !attn.array<["T"], f64>
  %s = attn.compute "s" (%t: "T", %u: "T") {
    %zero = arith.constant 0.0 : f64
    %0 = arith.cmpi sle, %u, %t : index
    %1 = scf.if %0 -> (f64) {
      %2 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
      scf.yield %2 : f64
    } else {
      scf.yield %zero : f64
    }
    attn.yield %1 : f64
  } : !attn.array<["T", "T"], f64>
  %mask = attn.compute "mask" (%t: "T", %u: "T") {
    %zero = arith.constant 0.0 : f64
    %never = arith.constant 0xFFF0000000000000 : f64
    %0 = arith.cmpi sle, %u, %t : index
    %1 = arith.select %0, %zero, %never : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "T"], f64>
  %p = attn.compute "p" (%t: "T") softmax (%u: "T") {
    %never = arith.constant 0xFFF0000000000000 : f64
    %0 = arith.cmpi sgt, %u, %t : index
    %1 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = arith.select %0, %never, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %masked = attn.compute "masked" (%t: "T") softmax (%u: "T") {
    %0 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %mask[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %read = attn.compute "read" (%t: "T") sum (%u: "T") {
    %0 = attn.read %s[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %v[%u] : !attn.array<["T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %own = attn.compute "own" (%t: "T") sum (%u: "T") {
    %zero = arith.constant 0.0 : f64
    %0 = arith.cmpi sle, %u, %t : index
    %1 = arith.cmpi sge, %t, %u : index
    %2 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    %3 = arith.select %0, %2, %zero : f64
    %4 = attn.read %v[%u] : !attn.array<["T"], f64>
    %5 = arith.mulf %3, %4 : f64
    attn.yield %5 : f64
  } : !attn.array<["T"], f64>
  %ofP = attn.compute "of p" (%t: "T") sum (%u: "T") {
    %0 = attn.read %p[%t, %u] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "masked" %masked : !attn.array<["T", "T"], f64>
  attn.output "read" %read : !attn.array<["T"], f64>
  attn.output "own" %own : !attn.array<["T"], f64>
  attn.output "of p" %ofP : !attn.array<["T"], f64>
}

// -----

// Not where another value is in the branch, where the condition reads an array,
// where it is of no term, or of a largest value.

// CHECK-LABEL: attn.system @unlike
// CHECK:       attn.compute "one" (%{{.*}}: "T") sum (%{{.*}}: "T") {
// CHECK:       attn.compute "valued" (%{{.*}}: "T") sum (%{{.*}}: "T") {
// CHECK:       attn.compute "outer" (%{{.*}}: "T") sum (%{{.*}}: "T") {
// CHECK:       attn.compute "zero" (%{{.*}}: "T") softmax (%{{.*}}: "T") {
// CHECK:       attn.compute "largest" (%{{.*}}: "T") max (%{{.*}}: "T") {
attn.system @unlike {
  attn.length "T"
  %e = attn.data "e" : !attn.array<["T", "T"], f64>
  %on = attn.data "on" : !attn.array<["T"], i1>
  %one = attn.compute "one" (%t: "T") sum (%u: "T") {
    %one = arith.constant 1.0 : f64
    %0 = arith.cmpi sle, %u, %t : index
    %1 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = arith.select %0, %1, %one : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %valued = attn.compute "valued" (%t: "T") sum (%u: "T") {
    %zero = arith.constant 0.0 : f64
    %0 = attn.read %on[%u] : !attn.array<["T"], i1>
    %1 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = arith.select %0, %1, %zero : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %outer = attn.compute "outer" (%t: "T") sum (%u: "T") {
    %zero = arith.constant 0.0 : f64
    %first = arith.constant 0 : index
    %0 = arith.cmpi sgt, %t, %first : index
    %1 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = arith.select %0, %1, %zero : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %zero = attn.compute "zero" (%t: "T") softmax (%u: "T") {
    %zero = arith.constant 0.0 : f64
    %0 = arith.cmpi sle, %u, %t : index
    %1 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = arith.select %0, %1, %zero : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %largest = attn.compute "largest" (%t: "T") max (%u: "T") {
    %never = arith.constant 0xFFF0000000000000 : f64
    %0 = arith.cmpi sle, %u, %t : index
    %1 = attn.read %e[%t, %u] : !attn.array<["T", "T"], f64>
    %2 = arith.select %0, %1, %never : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  attn.output "one" %one : !attn.array<["T"], f64>
  attn.output "valued" %valued : !attn.array<["T"], f64>
  attn.output "outer" %outer : !attn.array<["T"], f64>
  attn.output "zero" %zero : !attn.array<["T", "T"], f64>
  attn.output "largest" %largest : !attn.array<["T"], f64>
}

// -----

// An `any` has the parts of the conjunction of which it looks for one that
// holds, of its own and of an array.

// CHECK-LABEL: attn.system @any
// CHECK:       attn.compute "found" (%[[T:.*]]: "T") any (%[[U:.*]]: "T") where {
// CHECK-NEXT:    %[[PAST:.*]] = arith.cmpi sle, %[[U]], %[[T]]
// CHECK-NEXT:    attn.yield %[[PAST]]
// CHECK:       } {
// CHECK:       attn.compute "own" (%[[T2:.*]]: "T") any (%[[U2:.*]]: "T") where {
// CHECK-NEXT:    arith.cmpi slt, %[[U2]], %[[T2]]
// CHECK:       attn.compute "either" (%{{.*}}: "T") any (%{{.*}}: "T") {
// CHECK:       attn.compute "each" (%{{.*}}: "T") all (%{{.*}}: "T") {
attn.system @any {
  attn.length "T"
  %on = attn.data "on" : !attn.array<["T"], i1>
  %chosen = attn.compute "chosen" (%t: "T", %u: "T") {
    %0 = arith.cmpi sle, %u, %t : index
    %1 = attn.read %on[%u] : !attn.array<["T"], i1>
    %2 = arith.andi %0, %1 : i1
    attn.yield %2 : i1
  } : !attn.array<["T", "T"], i1>
  %found = attn.compute "found" (%t: "T") any (%u: "T") {
    %0 = attn.read %chosen[%t, %u] : !attn.array<["T", "T"], i1>
    attn.yield %0 : i1
  } : !attn.array<["T"], i1>
  %own = attn.compute "own" (%t: "T") any (%u: "T") {
    %0 = arith.cmpi slt, %u, %t : index
    %1 = attn.read %on[%u] : !attn.array<["T"], i1>
    %2 = arith.andi %0, %1 : i1
    attn.yield %2 : i1
  } : !attn.array<["T"], i1>
  %either = attn.compute "either" (%t: "T") any (%u: "T") {
    %0 = arith.cmpi slt, %u, %t : index
    %1 = attn.read %on[%u] : !attn.array<["T"], i1>
    %2 = arith.ori %0, %1 : i1
    attn.yield %2 : i1
  } : !attn.array<["T"], i1>
  %each = attn.compute "each" (%t: "T") all (%u: "T") {
    %0 = attn.read %chosen[%t, %u] : !attn.array<["T", "T"], i1>
    attn.yield %0 : i1
  } : !attn.array<["T"], i1>
  attn.output "found" %found : !attn.array<["T"], i1>
  attn.output "own" %own : !attn.array<["T"], i1>
  attn.output "either" %either : !attn.array<["T"], i1>
  attn.output "each" %each : !attn.array<["T"], i1>
}
