// RUN: fovea-opt --attn-draw-latents --split-input-file %s | FileCheck %s --check-prefix=DRAW
// RUN: fovea-opt --attn-draw-latents --attn-derive-objective --split-input-file %s | FileCheck %s

// A hidden Markov model: what is read at the place before has an axis for its
// values, and so has what is read at the place itself.

// DRAW-LABEL: attn.system @training
// DRAW: %[[NEXT:.*]] = attn.compute (%[[BEFORE:.*]]: 3, %{{.*}}: "T", %[[TO:.*]]: 3) {
// DRAW: %[[FROM:.*]] = arith.index_cast %[[BEFORE]] : index to i64
// DRAW: arith.select %{{.*}}, %[[FROM]]
// DRAW: attn.read %trans[%{{.*}}, %[[TO]]]
// DRAW: %[[EMITS:.*]] = attn.compute (%[[VALUE:.*]]: 3, %{{.*}}: "T", %[[SYMBOL:.*]]: 7) {
// DRAW: arith.index_cast %[[VALUE]] : index to i64
// DRAW: attn.read %emit[%{{.*}}, %[[SYMBOL]]]
// DRAW: attn.choice "y" categorical ["logits"](%[[EMITS]] : {{.*}}) observed
// DRAW-SAME: attn.over = {current = true, of = "z", places = [0], previous = false}
// DRAW: attn.choice "z" categorical ["logits"](%[[NEXT]] : {{.*}}) observed
// DRAW-SAME: attn.chain = 0
// DRAW-SAME: attn.over = true

// The forward recursion, and its end at the last place. The most probable way
// is gone, as nobody asks for it.

// CHECK-LABEL: attn.system @loss
// CHECK: %[[WAYS:.*]] = attn.compute "ways.z" (%[[T:.*]]: "T", %[[K:.*]]: 3) logsumexp (%[[J:.*]]: 3)
// CHECK: %[[PAST:.*]] = arith.addi %[[T]], %c-1
// CHECK: attn.read %[[WAYS]][%[[PAST]], %[[J]]] default
// CHECK: attn.read %{{.*}}[%[[J]], %[[T]], %[[K]]]
// CHECK: attn.read %{{.*}}[%[[K]], %[[T]]]
// CHECK: attn.compute "log_sum.z" () logsumexp (%[[K:.*]]: 3)
// CHECK: %[[LENGTH:.*]] = attn.extent "T"
// CHECK: %[[LAST:.*]] = arith.subi %[[LENGTH]]
// CHECK: attn.read %[[WAYS]][%[[LAST]], %[[K]]]
// CHECK-NOT: argmax
attn.system @training {
  attn.length "T"
  %y = attn.data "y" : !attn.array<["T"], i64>
  %trans = attn.param "trans" : !attn.array<[3, 3], f64>
  %emit = attn.param "emit" : !attn.array<[3, 7], f64>
  %next = attn.compute (%t: "T", %d: 3) {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %none = arith.constant 0 : i64
    %0 = attn.read %z[%before] default %none : i64 : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %trans[%1, %d] : !attn.array<[3, 3], f64>
    attn.yield %2 : f64
  } : !attn.array<["T", 3], f64>
  %z = attn.choice "z" categorical ["logits"] (%next : !attn.array<["T", 3], f64>) latent treated {kind = "enumerate"} -> !attn.array<["T"], i64>
  %row = attn.compute (%t: "T", %d: 7) {
    %0 = attn.read %z[%t] : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %emit[%1, %d] : !attn.array<[3, 7], f64>
    attn.yield %2 : f64
  } : !attn.array<["T", 7], f64>
  attn.choice "y" categorical ["logits"] (%row : !attn.array<["T", 7], f64>) observed %y : !attn.array<["T"], i64>
}

// -----

// A chain for each row: the rows before a place along the chain are read at the same
// row, and each row has a total.

// DRAW-LABEL: attn.system @training
// DRAW: attn.choice "z"
// DRAW-SAME: attn.chain = 1

// CHECK-LABEL: attn.system @loss
// CHECK: %[[WAYS:.*]] = attn.compute "ways.z" (%[[S:.*]]: "S", %[[T:.*]]: "T", %[[K:.*]]: 3) logsumexp (%[[J:.*]]: 3)
// CHECK: %[[PAST:.*]] = arith.addi %[[T]], %c-1
// CHECK: attn.read %[[WAYS]][%[[S]], %[[PAST]], %[[J]]] default
// CHECK: %[[ROWS:.*]] = attn.compute "log_sum.z" (%[[S:.*]]: "S") logsumexp (%[[K:.*]]: 3)
// CHECK: %[[LENGTH:.*]] = attn.extent "T"
// CHECK: %[[LAST:.*]] = arith.subi %[[LENGTH]]
// CHECK: attn.read %[[WAYS]][%[[S]], %[[LAST]], %[[K]]]
// CHECK: attn.compute "log_sums.z" () sum (%[[S:.*]]: "S")
// CHECK: attn.read %[[ROWS]][%[[S]]]
attn.system @training {
  attn.length "S"
  attn.length "T"
  %y = attn.data "y" : !attn.array<["S", "T"], i64>
  %first = attn.param "first" : !attn.array<["S", 3], f64>
  %trans = attn.param "trans" : !attn.array<[3, 3], f64>
  %emit = attn.param "emit" : !attn.array<[3, 7], f64>
  %next = attn.compute (%s: "S", %t: "T", %d: 3) {
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %none = arith.constant 0 : i64
    %0 = attn.read %z[%s, %before] default %none : i64 : !attn.array<["S", "T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %trans[%1, %d] : !attn.array<[3, 3], f64>
    attn.yield %2 : f64
  } : !attn.array<["S", "T", 3], f64>
  %z = attn.choice "z" categorical ["logits"] (%next : !attn.array<["S", "T", 3], f64>) latent treated {kind = "enumerate"} -> !attn.array<["S", "T"], i64>
  %row = attn.compute (%s: "S", %t: "T", %d: 7) {
    %0 = attn.read %z[%s, %t] : !attn.array<["S", "T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %emit[%1, %d] : !attn.array<[3, 7], f64>
    attn.yield %2 : f64
  } : !attn.array<["S", "T", 7], f64>
  attn.choice "y" categorical ["logits"] (%row : !attn.array<["S", "T", 7], f64>) observed %y : !attn.array<["S", "T"], i64>
}
