// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.system @output
attn.system @output {
  %x = attn.data "x" : !attn.array<["S"], f64>
  // CHECK: attn.output "y" %x : !attn.array<["S"], f64>
  attn.output "y" %x : !attn.array<["S"], f64>
}
