// RUN: fovea-opt %s --attn-derive-objective=get=a,c | FileCheck %s

// What is asked for is an output, what is not is dead.

// CHECK-LABEL: attn.system @loss
// CHECK:         %[[A:.*]] = attn.param "a"
// CHECK-NOT:     attn.param "b"
// CHECK:         %[[C:.*]] = attn.param "c"
// CHECK:         attn.output "a" %[[A]]
// CHECK-NEXT:    attn.output "c" %[[C]]
attn.system @training {
  %a = attn.param "a" : !attn.array<[], f64>
  %b = attn.param "b" : !attn.array<[], f64>
  %c = attn.param "c" : !attn.array<[], f64>
  attn.equation "a" %a : !attn.array<[], f64>
  attn.equation "b" %b : !attn.array<[], f64>
  attn.equation "c" %c : !attn.array<[], f64>
}
