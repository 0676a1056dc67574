// RUN: fovea-opt %s --split-input-file --attn-draw-latents | FileCheck %s

// A category is the last one that is possible of which those before it add up
// to no more than a number that is drawn; log p of it stays.
// CHECK-LABEL: attn.system @training
// CHECK: %[[SUMS:.+]] = attn.compute "cumulated.place" (%{{.+}}: "T") cumsum (%{{.+}}: 9)
// CHECK: %[[U:.+]] = attn.compute "uniform.place" (%[[T:.+]]: "T")
// CHECK-NEXT: attn.random[%[[T]]] ordinal 3 word 0
// CHECK: %[[PLACE:.+]] = attn.compute "place" (%{{.+}}: "T") max (%{{.+}}: 9) where
// CHECK: attn.read %[[SUMS]]
// CHECK: attn.read %[[U]]
// CHECK: attn.choice "place" categorical ["probs"]({{.+}}) observed %[[PLACE]] : !attn.array<["T"], i64> latent treated {kind = "reinforce"}
attn.system @training {
  attn.length "T"
  %p = attn.data "p" : !attn.array<["T", 9], f64>
  // What is drawn shares no numbers with what is dropped.
  %q = attn.compute "q" (%t: "T") {
    %0 = attn.random [%t] ordinal 2 word 0 : i64
    attn.yield %0 : i64
  } : !attn.array<["T"], i64>
  attn.output "q" %q : !attn.array<["T"], i64>
  %place = attn.choice "place" categorical ["probs"] (%p : !attn.array<["T", 9], f64>) latent treated {kind = "reinforce"} -> !attn.array<["T"], i64>
  attn.equation "place" %place : !attn.array<["T"], i64>
}

// -----

// In place of what stands at the place there is the mean, and no choice is left.
// CHECK-LABEL: attn.system @decoding
// CHECK: %[[MEAN:.+]] = attn.compute (%[[T:.+]]: "T", %[[D:.+]]: 5) sum (%[[K:.+]]: 9)
// CHECK-DAG: %[[W:.+]] = attn.read %p[%[[T]], %[[K]]]
// CHECK-DAG: %[[X:.+]] = attn.read %x[%[[K]], %[[D]]]
// CHECK: arith.mulf %[[W]], %[[X]]
// CHECK: attn.compute "found"
// CHECK: attn.read %[[MEAN]][
// CHECK-NOT: attn.choice
attn.system @decoding {
  attn.length "T"
  %p = attn.data "p" : !attn.array<["T", 9], f64>
  %x = attn.data "x" : !attn.array<[9, 5], f64>
  %place = attn.choice "place" categorical ["probs"] (%p : !attn.array<["T", 9], f64>) latent treated {kind = "expected"} -> !attn.array<["T"], i64>
  %found = attn.compute "found" (%t: "T", %d: 5) {
    %0 = attn.read %place[%t] : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %x[%1, %d] : !attn.array<[9, 5], f64>
    attn.yield %2 : f64
  } : !attn.array<["T", 5], f64>
  attn.output "found" %found : !attn.array<["T", 5], f64>
}

// -----

// A generated name is no latent: nothing changes.
// CHECK-LABEL: attn.system @decoding
// CHECK: attn.choice "y" categorical
// CHECK-NOT: attn.random
attn.system @decoding {
  attn.length "T" open
  %p = attn.data "p" : !attn.array<["T", 9], f64>
  %y = attn.choice "y" categorical ["probs"] (%p : !attn.array<["T", 9], f64>) end 1 : i64 -> !attn.array<["T"], i64>
}

// -----

// A guide is drawn from, and REINFORCE is of its log p. What it knows more than
// the choice, the sum over all values of q (log q - log p), is a part of -log p.
// CHECK-LABEL: attn.system @training
// CHECK: attn.compute "probabilities.z" () softmax (%[[K:.+]]: 3)
// CHECK-NEXT: attn.read %q[%[[K]]]
// CHECK: attn.choice "z" categorical ["logits"](%q : {{.+}}) observed %{{.+}} latent treated {kind = "reinforce"}
// CHECK: %[[KNOWN:.+]] = attn.compute "log_p.z" () log_softmax
// CHECK-NEXT: attn.read %q[
// CHECK: %[[PRIOR:.+]] = attn.compute "log_p.z" () log_softmax
// CHECK-NEXT: attn.read %p[
// CHECK: %[[KL:.+]] = attn.compute "kl.z" () sum (%[[K2:.+]]: 3)
// CHECK-NEXT: %[[LOGQ:.+]] = attn.read %[[KNOWN]][%[[K2]]]
// CHECK: %[[Q:.+]] = math.exp %[[LOGQ]]
// CHECK: %[[LOGP:.+]] = attn.read %[[PRIOR]][%[[K2]]]
// CHECK: %[[MORE:.+]] = arith.subf %[[LOGQ]], %[[LOGP]]
// CHECK: arith.mulf %[[Q]], %[[MORE]]
// CHECK: attn.penalty %[[KL]] {attn.term = "nll"}
// CHECK-NOT: kind = "guide"
attn.system @training {
  %p = attn.param "p" : !attn.array<[3], f64>
  %q = attn.param "q" : !attn.array<[3], f64>
  attn.choice "z" categorical ["logits"] (%q : !attn.array<[3], f64>) latent treated {kind = "guide"} -> !attn.array<[], i64>
  %z = attn.choice "z" categorical ["logits"] (%p : !attn.array<[3], f64>) latent treated {kind = "reinforce"} -> !attn.array<[], i64>
  attn.equation "z" %z : !attn.array<[], i64>
}

// -----

// A pair has one component, two numbers that are drawn, of which the second goes
// with the first as the correlation says, and a mean and a deviation for each.
// CHECK-LABEL: attn.system @decoding
// CHECK: %[[COMPONENT:.+]] = attn.compute "component.z" (%{{.+}}: "T") max (%{{.+}}: 2) where
// CHECK: attn.compute "mean.z" (%[[T:.+]]: "T", %[[D:.+]]: 2)
// CHECK: attn.read %mean[%[[T]], %{{.+}}, %[[D]]]
// CHECK: attn.compute "correlation.z" (%[[T2:.+]]: "T", %{{.+}}: 2)
// CHECK: attn.read %r[%[[T2]], %{{.+}}]
// CHECK: %[[NOISE:.+]] = attn.compute "noise.z" (%[[T3:.+]]: "T", %[[D3:.+]]: 2)
// CHECK: %[[ROW:.+]] = arith.muli %[[T3]]
// CHECK: %[[PLACE:.+]] = arith.addi %[[ROW]], %[[D3]]
// CHECK: attn.random[%[[PLACE]]]
// CHECK: %[[PAIR:.+]] = attn.compute "pair.z"
// CHECK: attn.compute "z" (%{{.+}}: "T", %{{.+}}: 2)
// CHECK: attn.read %[[PAIR]]
attn.system @decoding {
  attn.length "T"
  %l = attn.data "l" : !attn.array<["T", 2], f64>
  %mean = attn.data "mean" : !attn.array<["T", 2, 2], f64>
  %sd = attn.data "sd" : !attn.array<["T", 2, 2], f64>
  %r = attn.data "r" : !attn.array<["T", 2], f64>
  %z = attn.choice "z" mixture ["logit", "mean", "sd", "correlation"] (%l, %mean, %sd, %r : !attn.array<["T", 2], f64>, !attn.array<["T", 2, 2], f64>, !attn.array<["T", 2, 2], f64>, !attn.array<["T", 2], f64>) latent treated {kind = "sample"} -> !attn.array<["T", 2], f64>
  attn.output "z" %z : !attn.array<["T", 2], f64>
}

// -----

// log p of a bit that is 0, and that is 1, is of its logit; that of a category is the log
// of its probability.
// CHECK-LABEL: attn.system @training
// CHECK: %[[BIT:.+]] = attn.compute "log_p.b" (%[[EVENT:.+]]: 2) {
// CHECK-NEXT: attn.read %g[]
// CHECK: attn.softplus
// CHECK: attn.compute "log_p.b" (%{{.+}}: 2) {
// CHECK-NEXT: attn.read %h[]
// CHECK: attn.compute "kl.b" () sum (%{{.+}}: 2)
// CHECK: attn.compute "log_p.z" (%[[K:.+]]: 3) {
// CHECK-NEXT: attn.read %q[%[[K]]]
// CHECK: math.log
// CHECK: attn.compute "log_p.z" (%[[K2:.+]]: 3) {
// CHECK-NEXT: attn.read %p[%[[K2]]]
// CHECK: math.log
// CHECK: attn.compute "kl.z" () sum (%{{.+}}: 3)
attn.system @training {
  %g = attn.param "g" : !attn.array<[], f64>
  %h = attn.param "h" : !attn.array<[], f64>
  %p = attn.param "p" : !attn.array<[3], f64>
  %q = attn.param "q" : !attn.array<[3], f64>
  attn.choice "b" bernoulli ["logit"] (%g : !attn.array<[], f64>) latent treated {kind = "guide"} -> !attn.array<[], i1>
  %b = attn.choice "b" bernoulli ["logit"] (%h : !attn.array<[], f64>) latent treated {kind = "reinforce"} -> !attn.array<[], i1>
  attn.choice "z" categorical ["probs"] (%q : !attn.array<[3], f64>) latent treated {kind = "guide"} -> !attn.array<[], i64>
  %z = attn.choice "z" categorical ["probs"] (%p : !attn.array<[3], f64>) latent treated {kind = "reinforce"} -> !attn.array<[], i64>
  attn.equation "b" %b : !attn.array<[], i1>
  attn.equation "z" %z : !attn.array<[], i64>
}

// -----

// What is observed is repeated for each value of a choice that is summed over, and a weight
// that is one number stays one.
// CHECK-LABEL: attn.system @training
// CHECK: %[[HALF:.+]] = attn.data "half" : !attn.array<[], f64>
// CHECK: attn.choice "y" categorical ["logits"](%{{.+}} : !attn.array<[3, "T", 7], f64>) observed %{{.+}} : !attn.array<[3, "T"], i64> weight %[[HALF]] : !attn.array<[], f64>
attn.system @training {
  attn.length "T"
  %y = attn.data "y" : !attn.array<["T"], i64>
  %p = attn.param "p" : !attn.array<["T", 3], f64>
  %emit = attn.param "emit" : !attn.array<[3, 7], f64>
  %half = attn.data "half" : !attn.array<[], f64>
  %z = attn.choice "z" categorical ["logits"] (%p : !attn.array<["T", 3], f64>) latent treated {kind = "enumerate"} -> !attn.array<["T"], i64>
  %row = attn.compute (%t: "T", %d: 7) {
    %0 = attn.read %z[%t] : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %emit[%1, %d] : !attn.array<[3, 7], f64>
    attn.yield %2 : f64
  } : !attn.array<["T", 7], f64>
  attn.choice "y" categorical ["logits"] (%row : !attn.array<["T", 7], f64>) observed %y : !attn.array<["T"], i64> weight %half : !attn.array<[], f64>
}
