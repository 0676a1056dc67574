// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.system @stop
attn.system @stop {
  attn.compute () {
    %0 = arith.constant 1.0 : f64
    // CHECK: attn.stop %{{.+}} : f64
    %1 = attn.stop %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[], f64>
}
