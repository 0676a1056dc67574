// RUN: fovea-opt %s --attn-check-phase=phase=derive | FileCheck %s
// RUN: fovea-opt %s --attn-check-phase=phase=differentiate | FileCheck %s

// What keeps every promise is left as it is: a generated choice may stay, and
// a module without @grad was not asked for gradients.

// CHECK-LABEL: attn.system @loss
attn.system @loss {
  %w = attn.param "w" : !attn.array<[], f64>
  attn.output "nll" %w : !attn.array<[], f64>
  attn.output "logp" %w : !attn.array<[], f64>
  attn.output "choices" %w : !attn.array<[], f64>
  attn.output "penalty" %w : !attn.array<[], f64>
}

// CHECK-LABEL: attn.system @decode
attn.system @decode {
  attn.length "T" open
  %l = attn.param "l" : !attn.array<["T", 3], f64>
  // CHECK: attn.choice "y"
  %y = attn.choice "y" categorical ["logits"] (%l : !attn.array<["T", 3], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "y" %y : !attn.array<["T"], i64>
}
