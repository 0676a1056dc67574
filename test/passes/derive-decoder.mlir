// RUN: fovea-opt %s --split-input-file --attn-derive-decoder=show=align | FileCheck %s

// Generated names and what is shown are outputs; the log p of given data, the
// penalties and what only they need are gone. Marks steer the search and stay.

// CHECK-LABEL: attn.system @decode
// CHECK-NOT:     attn.param "q"
// CHECK-NOT:     attn.penalty
// CHECK:         %[[ALIGN:.*]] = attn.param "align"
// CHECK:         %[[Y:.*]] = attn.choice "y"
// CHECK-NOT:     attn.choice
// CHECK:         attn.mark "longest"
// CHECK-DAG:     attn.output "align" %[[ALIGN]]
// CHECK-DAG:     attn.output "y" %[[Y]]
attn.system @decoding {
  attn.length "T" open
  %l = attn.param "l" : !attn.array<["T", 3], f64>
  %q = attn.param "q" : !attn.array<[], f64>
  %align = attn.param "align" : !attn.array<["T"], f64>
  %longest = attn.param "longest" : !attn.array<[], i64>
  %x = attn.data "x" : !attn.array<[], i1>
  %y = attn.choice "y" categorical ["logits"] (%l : !attn.array<["T", 3], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.choice "x" bernoulli ["logit"] (%q : !attn.array<[], f64>) observed %x : !attn.array<[], i1>
  attn.penalty %q : !attn.array<[], f64>
  attn.mark "longest" %longest : !attn.array<[], i64>
  attn.equation "align" %align : !attn.array<["T"], f64>
  attn.equation "q" %q : !attn.array<[], f64>
}

// -----

// Must not fire: `@training` generates nothing.

// CHECK-LABEL: attn.system @training
// CHECK:         attn.choice "x"
// CHECK:         attn.equation "q"
attn.system @training {
  %q = attn.param "q" : !attn.array<[], f64>
  %x = attn.data "x" : !attn.array<[], i1>
  attn.choice "x" bernoulli ["logit"] (%q : !attn.array<[], f64>) observed %x : !attn.array<[], i1>
  attn.equation "q" %q : !attn.array<[], f64>
}

// -----

// Nothing is dropped in decoding: what dropout gives is what it is of.

// CHECK-LABEL: attn.system @decode
// CHECK:         %[[X:.*]] = attn.param "x"
// CHECK-NOT:     attn.random
// CHECK:         attn.output "align" %[[X]]
attn.system @decoding {
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
  attn.equation "align" %y : !attn.array<["T"], f64>
}
