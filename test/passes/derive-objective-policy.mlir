// RUN: fovea-opt --verify-roundtrip %s --attn-derive-objective | FileCheck %s
// RUN: fovea-opt %s --attn-derive-objective --attn-differentiate | FileCheck %s --check-prefix=GRAD

// What is generated is trained by -log p, which each example seeds, beside the
// objective of the data.

// CHECK-LABEL: attn.system @loss
// CHECK-DAG:     %[[LOGP:.*]] = attn.compute "logp.y"
// CHECK-DAG:     attn.output "logp" %[[LOGP]]
// CHECK:         %[[POLICY:.*]] = attn.compute "policy" () {
// CHECK-NEXT:      %[[READ:.*]] = attn.read %[[LOGP]][]
// CHECK-NEXT:      arith.negf %[[READ]]
// CHECK:         attn.output "surrogate.policy" %[[POLICY]]

// GRAD-LABEL: attn.system @grad
// GRAD-DAG:     attn.data "seed.nll"
// GRAD-DAG:     attn.data "state.policy"
// GRAD:         attn.output "grad/l"
attn.system @training {
  attn.length "T"
  %l = attn.param "l" : !attn.array<["T", 97], f64>
  %y = attn.data "y" : !attn.array<["T"], i64>
  attn.choice "y" categorical ["logits"] (%l : !attn.array<["T", 97], f64>) observed %y : !attn.array<["T"], i64> treated {kind = "policy", reward = "bleu"}
}
