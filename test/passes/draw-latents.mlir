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
  %q = attn.dropout %p rate 0.5 ordinal 2 : !attn.array<["T", 9], f64>
  attn.output "q" %q : !attn.array<["T", 9], f64>
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
