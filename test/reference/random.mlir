// attn.random draws the numbers of Philox4x32-10 with key (seed, ordinal) and
// counters (place low, place high + sample * 2^16, example, update), worked out
// with the algorithm as it is published: (2 * floor(word / 2^9) + 1) / 2^24.

// RUN: fovea-eval %s --entry loss --length S=4 --seed 7 --update 2 --example 5 | FileCheck %s
// CHECK:      ninth [4]: 0.09036940336 0.5554327369 0.2413132787 0.1319460273
// CHECK-NEXT: second [4]: 0.4028945565 0.247048676 0.370847404 0.2306582332
// CHECK-NEXT: uniform [4]: 0.09757405519 0.9153411984 0.9256983399 0.9603412747

// Without a seed they are those of the seed 2^32 - 1.
// RUN: fovea-eval %s --entry loss --length S=4 --update 2 --example 5 | FileCheck %s --check-prefix=NONE
// NONE: uniform [4]: 0.9489865899 0.6786764264 0.6628927588 0.4699528813

attn.system @loss {
  attn.length "S"
  %u = attn.compute (%i: "S") {
    %0 = attn.random [%i] ordinal 3 word 0
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  %v = attn.compute (%i: "S") {
    %0 = attn.random [%i] ordinal 3 word 1
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  %w = attn.compute (%i: "S") {
    %nine = arith.constant 9 : index
    %0 = attn.random [%i] sample %nine ordinal 3 word 0
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  attn.output "uniform" %u : !attn.array<["S"], f64>
  attn.output "second" %v : !attn.array<["S"], f64>
  attn.output "ninth" %w : !attn.array<["S"], f64>
}
