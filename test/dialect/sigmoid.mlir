// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.system @sigmoid
attn.system @sigmoid {
  attn.compute () {
    %0 = arith.constant 1.0 : f64
    // CHECK: attn.sigmoid %{{.+}} : f64
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[], f64>
}
