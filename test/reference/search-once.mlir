// Without a search, hypotheses differ in what is chosen once: the best beam of
// pairs (a, b). P(a) is 0.5, 0.3 and 0.2. If a is 0, P(b) is 0.6 and 0.4;
// otherwise it is 0.9 and 0.1. So the best pairs are 00 (0.3), 10 (0.27) and
// 01 (0.2).

// RUN: fovea-eval %s --entry model --decode --beam 6 --nbest 3 | FileCheck %s
// CHECK:      logp -1.203972804 score -1.203972804 steps 0
// CHECK-NEXT: a []: 0
// CHECK-NEXT: b []: 0
// CHECK-NEXT: logp -1.30933332 score -1.30933332 steps 0
// CHECK-NEXT: a []: 1
// CHECK-NEXT: b []: 0
// CHECK-NEXT: logp -1.609437912 score -1.609437912 steps 0
// CHECK-NEXT: a []: 0
// CHECK-NEXT: b []: 1
// CHECK-NOT:  logp

// One hypothesis is the best value of each.
// RUN: fovea-eval %s --entry model --decode | FileCheck %s --check-prefix=GREEDY
// GREEDY:     logp -1.203972804
// GREEDY-NOT: logp

// RUN: fovea-eval %s --entry model --decode --forced 'a=[2]' --forced 'b=[1]' | FileCheck %s --check-prefix=FORCED
// FORCED:      logp -3.912023005
// FORCED-NEXT: step logp: -1.609437912 -2.302585093

attn.system @model {
  %p = attn.compute "p" (%v: 3) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p0 = arith.constant 0.5 : f64
    %p1 = arith.constant 0.3 : f64
    %p2 = arith.constant 0.2 : f64
    %is0 = arith.cmpi eq, %v, %c0 : index
    %is1 = arith.cmpi eq, %v, %c1 : index
    %0 = arith.select %is1, %p1, %p2 : f64
    %1 = arith.select %is0, %p0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[3], f64>
  %a = attn.choice "a" categorical ["probs"] (%p : !attn.array<[3], f64>) -> !attn.array<[], i64>
  %q = attn.compute "q" (%v: 2) {
    %zero = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %p0 = arith.constant 0.6 : f64
    %p1 = arith.constant 0.4 : f64
    %q0 = arith.constant 0.9 : f64
    %q1 = arith.constant 0.1 : f64
    %chosen = attn.read %a[] : !attn.array<[], i64>
    %is0 = arith.cmpi eq, %chosen, %zero : i64
    %first = arith.cmpi eq, %v, %c0 : index
    %0 = arith.select %first, %p0, %p1 : f64
    %1 = arith.select %first, %q0, %q1 : f64
    %2 = arith.select %is0, %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[2], f64>
  %b = attn.choice "b" categorical ["probs"] (%q : !attn.array<[2], f64>) -> !attn.array<[], i64>
  attn.output "a" %a : !attn.array<[], i64>
  attn.output "b" %b : !attn.array<[], i64>
}
