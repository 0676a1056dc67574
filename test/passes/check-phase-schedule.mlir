// RUN: fovea-opt %s --attn-check-phase=phase=schedule | FileCheck %s

// CHECK-LABEL: attn.program @loss
attn.program @loss {
  %w = attn.param "w" : !attn.array<[], f64>
  attn.output "nll" %w : !attn.array<[], f64>
}
