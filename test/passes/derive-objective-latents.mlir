// RUN: fovea-opt %s --attn-derive-objective | FileCheck %s
// RUN: fovea-opt %s --attn-derive-objective --attn-differentiate --attn-drop-stops | FileCheck %s --check-prefix=GRAD

// What is reported is log p of what is observed. What is differentiated in its
// place has log p of what was drawn as well, times what is missing to the
// baseline, through which nothing flows back; the moving average of the reward
// is left to the next update.
// CHECK-LABEL: attn.system @loss
// CHECK: %[[LOGP:.+]] = attn.compute "logp.y"
// CHECK: %[[NLL:.+]] = attn.compute "nll"
// CHECK-NEXT: attn.read %[[LOGP]]
// CHECK: attn.output "nll" %[[NLL]]
// CHECK: %[[REWARD:.+]] = attn.compute "reward"
// CHECK-NEXT: attn.read %[[NLL]]
// CHECK-NEXT: arith.negf
// CHECK: %[[BASELINE:.+]] = attn.data "state.z"
// CHECK: attn.output "state.z" %[[REWARD]]
// CHECK: attn.compute "lack.z"
// CHECK: attn.read %[[BASELINE]]
// CHECK: attn.stop
// CHECK: attn.compute "logp.z"
// CHECK: attn.output "surrogate.nll"
// CHECK-NOT: surrogate.penalty

// Of that nothing is left when it is differentiated: the loss reads no state.
// GRAD-LABEL: attn.system @loss
// GRAD-NOT: surrogate
// GRAD-NOT: attn.data "state.z"
// GRAD-LABEL: attn.system @grad
// GRAD-NOT: surrogate
// GRAD: attn.data "state.z"
// GRAD: attn.output "grad/v"
attn.system @training {
  %v = attn.param "v" : !attn.array<[3], f64>
  %w = attn.param "w" : !attn.array<[3], f64>
  %y = attn.data "y" : !attn.array<[], f64>
  %z = attn.compute "z" () {
    %0 = arith.constant 1 : i64
    attn.yield %0 : i64
  } : !attn.array<[], i64>
  %mean = attn.compute "mean" () {
    %0 = attn.read %z[] : !attn.array<[], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %w[%1] : !attn.array<[3], f64>
    attn.yield %2 : f64
  } : !attn.array<[], f64>
  %one = attn.compute () {
    %0 = arith.constant 1.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.choice "z" categorical ["logits"] (%v : !attn.array<[3], f64>) observed %z : !attn.array<[], i64> latent treated {kind = "reinforce", baseline = 0.9}
  attn.choice "y" normal ["mean", "sd"] (%mean, %one : !attn.array<[], f64>, !attn.array<[], f64>) observed %y : !attn.array<[], f64>
}
