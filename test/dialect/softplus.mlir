// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.system @softplus
attn.system @softplus {
  attn.compute () {
    %0 = arith.constant 1.0 : f64
    // CHECK: attn.softplus %{{.+}} : f64
    %1 = attn.softplus %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[], f64>
}
