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
