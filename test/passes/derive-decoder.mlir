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

// -----

// A concatenation keeps its copy: training splits no sum over what drops, and
// the sums of both have one order.

// CHECK-LABEL: attn.system @decode
// CHECK:         %[[C:.*]] = attn.concat
// CHECK:         %[[Y:.*]] = attn.compute "y"
// CHECK-NOT:     attn.random
// CHECK:           attn.read %[[C]]
// CHECK:         attn.output "align" %[[Y]]
attn.system @decoding {
  %x = attn.param "x" : !attn.array<[2], f64>
  %c = attn.concat %x, %x : !attn.array<[2], f64>, !attn.array<[2], f64> -> !attn.array<[4], f64>
  %y = attn.compute "y" (%t: 4) {
    %limit = arith.constant 2147483648 : i64
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1.0 : f64
    %word = attn.random [%t] ordinal 3 word 0 : i64
    %isDropped = arith.cmpi slt, %word, %limit : i64
    %factor = arith.select %isDropped, %zero, %one : f64
    %0 = attn.read %c[%t] : !attn.array<[4], f64>
    %1 = arith.mulf %0, %factor : f64
    attn.yield %1 : f64
  } : !attn.array<[4], f64>
  attn.equation "align" %y : !attn.array<[4], f64>
}

// -----

// A bit, and a category of which probabilities are given, are chosen among log p
// of their values, as the objective has them: of probabilities that are a
// softmax, without the softmax.

// CHECK-LABEL: attn.system @decode
// CHECK:         %[[BIT:.*]] = attn.compute "log_p.bit"
// CHECK:           attn.softplus
// CHECK:         attn.choice "bit" bernoulli ["logp"](%[[BIT]] : !attn.array<["T", 2], f64>)
// CHECK:         %[[P:.*]] = attn.compute "p"
// CHECK-SAME:      log_softmax
// CHECK:         attn.choice "y" categorical ["logp"](%[[P]] : !attn.array<["T", 3], f64>)
// CHECK:         %[[Q:.*]] = attn.compute "log_p.z"
// CHECK:         attn.choice "z" categorical ["logp"](%[[Q]] : !attn.array<["T", 3], f64>)
attn.system @decoding {
  attn.length "T"
  %l = attn.param "l" : !attn.array<["T"], f64>
  %s = attn.param "s" : !attn.array<["T", 3], f64>
  %q = attn.param "q" : !attn.array<["T", 3], f64>
  %bit = attn.choice "bit" bernoulli ["logit"] (%l : !attn.array<["T"], f64>) -> !attn.array<["T"], i1>
  %p = attn.compute "p" (%t: "T") softmax (%k: 3) {
    %v = attn.read %s[%t, %k] : !attn.array<["T", 3], f64>
    attn.yield %v : f64
  } : !attn.array<["T", 3], f64>
  %y = attn.choice "y" categorical ["probs"] (%p : !attn.array<["T", 3], f64>) -> !attn.array<["T"], i64>
  %z = attn.choice "z" categorical ["probs"] (%q : !attn.array<["T", 3], f64>) -> !attn.array<["T"], i64>
  attn.equation "align" %l : !attn.array<["T"], f64>
}
