// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.system @parameters
attn.system @parameters {
  // CHECK: %key.weight = attn.param "key.weight" : !attn.array<[512, 1024], f64>
  %w = attn.param "key.weight" : !attn.array<[512, 1024], f64>
}
