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
