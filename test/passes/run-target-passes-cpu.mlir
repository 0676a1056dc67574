// RUN: fovea-opt %s "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-run-target-passes{stage=after-kernels}))" | FileCheck %s
// RUN: fovea-opt %s "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-run-target-passes{stage=before-strips}))" | FileCheck %s --check-prefix=OTHER
// RUN: fovea-opt %s "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-run-target-passes{stage=after-strips}))" | FileCheck %s --check-prefix=OTHER
// RUN: fovea-opt %s "--pass-pipeline=builtin.module(attn-batch,attn-name-products,attn.program(attn-run-target-passes{stage=after-memory}))" | FileCheck %s --check-prefix=OTHER

// A CPU leaves rows out that nobody looks at, after kernels are formed and not at another stage.

// CHECK-LABEL: attn.program @layer
// CHECK:       attn.compute "y"
// CHECK:       partial}
// OTHER-LABEL: attn.program @layer
// OTHER-NOT:   partial}
attn.program @layer attributes {attn.target = #cpu.target<"none", lanes = 4, tile_rows = 2, tile_vectors = 1>} {
  attn.length "T"
  %g = attn.data "g" : !attn.array<["T"], f64>
  %x = attn.data "x" : !attn.array<["T", 32], f64>
  %w = attn.param "w" : !attn.array<[64, 32], f64>
  %y = attn.compute "y" (%t: "T", %n: 64) sum (%k: 32) order(chain, fused) where {
    %zero = arith.constant 0.0 : f64
    %0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %1 = arith.cmpf ogt, %0, %zero : f64
    attn.yield %1 : i1
  } {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 32], f64>
    %1 = attn.read %w[%n, %k] : !attn.array<[64, 32], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  %z = attn.compute "z" (%t: "T", %n: 64) where {
    %zero = arith.constant 0.0 : f64
    %0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %1 = arith.cmpf ogt, %0, %zero : f64
    attn.yield %1 : i1
  } {
    %0 = attn.read %y[%t, %n] : !attn.array<["T", 64], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 64], f64>
  %s = attn.compute "s" (%t: "T", %n: 64) {
    %0 = attn.read %g[%t] : !attn.array<["T"], f64>
    %1 = attn.read %z[%t, %n] : !attn.array<["T", 64], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 64], f64>
  attn.output "s" %s : !attn.array<["T", 64], f64>
}
