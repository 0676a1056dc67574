// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn.program(attn-divide-work,attn-run-target-passes{stage=after-kernels}))" | FileCheck %s
// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn.program(attn-divide-work,attn-run-target-passes{stage=after-kernels leave-out=attn-choose-blocks}))" | FileCheck %s --check-prefix=OUT
// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn.program(attn-divide-work,attn-run-target-passes{stage=before-strips}))" | FileCheck %s --check-prefix=OUT
// RUN: fovea-opt %s --split-input-file --mlir-print-ir-after=attn-choose-blocks "--pass-pipeline=builtin.module(attn-batch,attn.program(attn-divide-work,attn-run-target-passes{stage=after-kernels}))" 2>&1 >/dev/null | FileCheck %s --check-prefix=DUMP

// The target adds the pass, so MLIR's flags know it.
// DUMP-COUNT-1: IR Dump After ChooseBlocks (attn-choose-blocks)
// DUMP-NOT:     IR Dump
// OUT-NOT: attn.config

// CHECK-LABEL: @gpu
attn.program @gpu attributes {attn.target = #nvidia.target<"sm_80">} {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 8], f64>
  // CHECK: attn.config = #nvidia.block<32>
  %sum = attn.compute "sum" (%k: 8) sum (%t: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 8], f64>
    attn.yield %0 : f64
  } : !attn.array<[8], f64>
  attn.output "grad/sum" %sum : !attn.array<[8], f64>
}

// -----

// A CPU has no such pass, and neither has a program that writes no target.

// CHECK-LABEL: @cpu
// CHECK-NOT:   attn.config
attn.program @cpu attributes {attn.target = #cpu.target<"none", lanes = 4, tile_rows = 2, tile_vectors = 1>} {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 8], f64>
  %sum = attn.compute "sum" (%k: 8) sum (%t: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 8], f64>
    attn.yield %0 : f64
  } : !attn.array<[8], f64>
  attn.output "grad/sum" %sum : !attn.array<[8], f64>
}

// -----

// CHECK-LABEL: @none
// CHECK-NOT:   attn.config
attn.program @none {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 8], f64>
  %sum = attn.compute "sum" (%k: 8) sum (%t: "T") {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 8], f64>
    attn.yield %0 : f64
  } : !attn.array<[8], f64>
  attn.output "grad/sum" %sum : !attn.array<[8], f64>
}
