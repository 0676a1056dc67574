// RUN: fovea-opt %s | FileCheck %s

// CHECK-LABEL: attn.system @observed
attn.system @observed {
  %l = attn.data "l" : !attn.array<["T", 97], f64>
  %tgt = attn.data "tgt" : !attn.array<["T"], i64>
  // CHECK: attn.choice "tgt" categorical ["logits"](%l : !attn.array<["T", 97], f64>) observed %tgt : !attn.array<["T"], i64>{{$}}
  attn.choice "tgt" categorical ["logits"] (%l : !attn.array<["T", 97], f64>) observed %tgt : !attn.array<["T"], i64>
}

// CHECK-LABEL: attn.system @generated
attn.system @generated {
  %l = attn.data "l" : !attn.array<["T", 97], f64>
  %a = attn.data "a" : !attn.array<["T", "S"], f64>
  // CHECK: %tgt = attn.choice "tgt" categorical ["logits"](%l : !attn.array<["T", 97], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  %0 = attn.choice "tgt" categorical ["logits"] (%l : !attn.array<["T", 97], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  // A place in the source; the place after the last one ends the sequence.
  // CHECK: %place = attn.choice "place" categorical ["probs"](%a : !attn.array<["T", "S"], f64>) end "S" -> !attn.array<["T"], i64>
  %1 = attn.choice "place" categorical ["probs"] (%a : !attn.array<["T", "S"], f64>) end "S" -> !attn.array<["T"], i64>
}

// CHECK-LABEL: attn.system @latent
attn.system @latent {
  %p = attn.data "p" : !attn.array<["T", 5], f64>
  // CHECK: attn.choice "bit" bernoulli ["prob"](%p : !attn.array<["T", 5], f64>) latent -> !attn.array<["T", 5], i1>
  %0 = attn.choice "bit" bernoulli ["prob"] (%p : !attn.array<["T", 5], f64>) latent -> !attn.array<["T", 5], i1>
  // CHECK: attn.choice "z" normal ["mean", "sd"](%p, %p : !attn.array<["T", 5], f64>, !attn.array<["T", 5], f64>) latent -> !attn.array<["T", 5], f64>
  %1 = attn.choice "z" normal ["mean", "sd"] (%p, %p : !attn.array<["T", 5], f64>, !attn.array<["T", 5], f64>) latent -> !attn.array<["T", 5], f64>
  // CHECK: attn.choice "u" uniform ["low", "high"]
  %2 = attn.choice "u" uniform ["low", "high"] (%p, %p : !attn.array<["T", 5], f64>, !attn.array<["T", 5], f64>) latent -> !attn.array<["T", 5], f64>
}

// A pair of numbers from a mixture of 20 bivariate normals.
// CHECK-LABEL: attn.system @mixture
attn.system @mixture {
  %weight = attn.data "weight" : !attn.array<["T", 20], f64>
  %mean = attn.data "mean" : !attn.array<["T", 20, 2], f64>
  // CHECK: %stroke = attn.choice "stroke" mixture ["logit", "mean", "sd", "correlation"]
  %0 = attn.choice "stroke" mixture ["logit", "mean", "sd", "correlation"] (%weight, %mean, %mean, %weight : !attn.array<["T", 20], f64>, !attn.array<["T", 20, 2], f64>, !attn.array<["T", 20, 2], f64>, !attn.array<["T", 20], f64>) -> !attn.array<["T", 2], f64>
}
