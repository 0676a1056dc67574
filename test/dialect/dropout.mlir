// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.program @dropout
attn.program @dropout {
  %x = attn.data "x" : !attn.array<["T", 650], f64>
  // CHECK: %y = attn.dropout "y" %x rate 5.000000e-01 ordinal 0 : !attn.array<["T", 650], f64>
  %y = attn.dropout "y" %x rate 0.5 ordinal 0 : !attn.array<["T", 650], f64>
  %row = attn.data "row" : !attn.array<[650], f64>
  // In a loop: the row of the sequence that the index says.
  // CHECK: attn.scan "T" (%[[STEP:.+]]) axes [0]
  %rows = attn.scan "T" (%t) axes [0] {
    // CHECK: attn.dropout %row at(%[[STEP]]) axes [0] rate 0.000000e+00 ordinal 1
    %0 = attn.dropout %row at (%t) axes [0] rate 0.0 ordinal 1 : !attn.array<[650], f64>
    attn.yield %0 : !attn.array<[650], f64>
  } : !attn.array<["T", 650], f64>
}
