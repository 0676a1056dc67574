// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.system @marks
attn.system @marks {
  %bit = attn.data "bit" : !attn.array<["T"], i1>
  %score = attn.data "rank" : !attn.array<["T"], f64>
  %number = attn.data "number" : !attn.array<[], i64>
  // CHECK: attn.mark "valid" %bit : !attn.array<["T"], i1>
  attn.mark "valid" %bit : !attn.array<["T"], i1>
  // CHECK: attn.mark "stop" %bit
  attn.mark "stop" %bit : !attn.array<["T"], i1>
  // CHECK: attn.mark "score" %rank
  attn.mark "score" %score : !attn.array<["T"], f64>
  // CHECK: attn.mark "longest" %number
  attn.mark "longest" %number : !attn.array<[], i64>
}
