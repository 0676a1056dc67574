// RUN: fovea-opt --attn-derive-objective %s | FileCheck %s
// RUN: fovea-opt --attn-derive-objective --attn-differentiate %s | FileCheck %s --check-prefix=GRAD

// The logits of an update are those of three candidates, which a batch shares,
// and of the observed symbol; the loss keeps all seven.

// CHECK-LABEL: attn.system @loss
// CHECK: %[[ALL:.*]] = attn.compute (%{{.*}}: "T", %{{.*}}: 7) sum (%{{.*}}: 2)
// CHECK: attn.compute "candidates.y" (%[[K:.*]]: 3)
// CHECK: attn.random[%[[K]]] shared ordinal 0 word 0
// CHECK: attn.compute (%[[T:.*]]: "T") sum (%{{.*}}: 2)
// CHECK: attn.read %y[%[[T]]]
// CHECK: %[[SOME:.*]] = attn.compute (%{{.*}}: "T", %[[K:.*]]: 3) sum (%[[D:.*]]: 2)
// CHECK: attn.read %[[ROWS:.*]][%[[K]], %[[D]]]
// CHECK: %[[ROWS]] = attn.compute (%[[K:.*]]: 3, %[[D:.*]]: 2) {
// CHECK: %[[CANDIDATE:.*]] = attn.read %candidates.y[%[[K]]]
// CHECK: %[[SYMBOL:.*]] = arith.index_cast %[[CANDIDATE]]
// CHECK: attn.read %w[%[[SYMBOL]], %[[D]]]
// CHECK: attn.compute "rest.y" (%{{.*}}: "T") logsumexp (%{{.*}}: 3)
// CHECK: attn.read %[[SOME]]
// CHECK: attn.output "estimate.nll"
// CHECK: attn.output "estimate.logp"

// The gradient is computed without the seven.
// GRAD-LABEL: attn.system @grad
// GRAD-NOT: "T", 7
// GRAD-NOT: attn.output "estimate.
// GRAD: attn.output "grad/w"
attn.system @training {
  attn.length "T"
  %y = attn.data "y" : !attn.array<["T"], i64>
  %x = attn.data "x" : !attn.array<["T", 2], f64>
  %w = attn.param "w" : !attn.array<[7, 2], f64>
  %l = attn.compute (%t: "T", %v: 7) sum (%d: 2) {
    %0 = attn.read %w[%v, %d] : !attn.array<[7, 2], f64>
    %1 = attn.read %x[%t, %d] : !attn.array<["T", 2], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 7], f64>
  attn.choice "y" categorical ["logits"] (%l : !attn.array<["T", 7], f64>) observed %y : !attn.array<["T"], i64> treated {candidates = 3.0 : f64, kind = "sampled"}
}
