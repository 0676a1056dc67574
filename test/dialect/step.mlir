// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.program @step
attn.program @step {
  attn.length "T" open
  // CHECK: %[[T:.*]] = attn.step "T"
  %t = attn.step "T"
  // CHECK: %[[FIVE:.*]] = attn.step 5
  %five = attn.step 5
  // CHECK: arith.addi %[[T]], %[[FIVE]]
  %place = attn.compute "place" () {
    %0 = arith.addi %t, %five : index
    %1 = arith.index_cast %0 : index to i64
    attn.yield %1 : i64
  } : !attn.array<[], i64>
  attn.output "place" %place : !attn.array<[], i64>
}
