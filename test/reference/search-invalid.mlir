// What a search refuses.

// RUN: not fovea-eval %s --entry impossible --decode --input 'p=[0, 0]' 2>&1 | FileCheck %s --check-prefix=IMPOSSIBLE
// IMPOSSIBLE: error: {{.*}}: no value of 'y' is allowed, or possible
// RUN: not fovea-eval %s --entry impossible --decode --beam 2 --input 'p=[-1, 0]' 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: not fovea-eval %s --entry impossible --decode --forced 'y=[0]' --input 'p=[-1, 0]' 2>&1 | FileCheck %s --check-prefix=NAN
// NAN: error: {{.*}}log p of 'y' is not a number
attn.system @impossible {
  attn.length "T" open
  %p = attn.param "p" : !attn.array<[2], f64>
  %probs = attn.compute (%t: "T", %v: 2) {
    %0 = attn.read %p[%v] : !attn.array<[2], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 2], f64>
  %y = attn.choice "y" categorical ["probs"] (%probs : !attn.array<["T", 2], f64>) -> !attn.array<["T"], i64>
  attn.output "y" %y : !attn.array<["T"], i64>
}

// RUN: not fovea-eval %s --entry nothing --decode --length S=0 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not fovea-eval %s --entry nothing --length S=0 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: error: {{.*}}: 'y' has nothing to choose from
attn.program @nothing {
  attn.length "S"
  %l = attn.compute (%i: "S") {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["S"], f64>
  %y = attn.choice "y" categorical ["logits"] (%l : !attn.array<["S"], f64>) -> !attn.array<[], i64>
  attn.output "y" %y : !attn.array<[], i64>
}

// RUN: not fovea-eval %s --entry weights --input 'w=[1, 1, 1]' --input 'm=[[0, 0], [1, 1]]' --input 'r=[0, 0]' 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// WEIGHTS: error: {{.*}}: the mixture of 'x' has 3 weights but 2 means, 2 deviations and 2 correlations
attn.system @weights {
  %w = attn.param "w" : !attn.array<[3], f64>
  %m = attn.param "m" : !attn.array<[2, 2], f64>
  %r = attn.param "r" : !attn.array<[2], f64>
  %x = attn.choice "x" mixture ["logit", "mean", "sd", "correlation"] (%w, %m, %m, %r : !attn.array<[3], f64>, !attn.array<[2, 2], f64>, !attn.array<[2, 2], f64>, !attn.array<[2], f64>) -> !attn.array<[2], f64>
  attn.output "x" %x : !attn.array<[2], f64>
}

// Backwards only over a given length.
// RUN: not fovea-eval %s --entry backwards --decode 2>&1 | FileCheck %s --check-prefix=BACKWARDS
// BACKWARDS: error: {{.*}}: a search backwards needs a given length
attn.program @backwards {
  attn.length "T" open
  attn.search "T" reverse states [] (%t) axes [] {
    attn.yield
  }
}

// RUN: not fovea-eval %s --entry lost --decode 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: error: {{.*}}: 'U' is no length of the model
attn.program @lost {
  attn.search "U" states [] (%t) axes [] {
    attn.yield
  }
}

// A search without choices is a loop, as long as it may be.
// RUN: fovea-eval %s --entry idle --decode --longest 4 | FileCheck %s --check-prefix=IDLE
// IDLE: logp 0 score 0 steps 4 cut
attn.program @idle {
  attn.length "T" open
  attn.search "T" states [] (%t) axes [] {
    attn.yield
  }
}

// RUN: not fovea-eval %s --entry forbidden --decode 2>&1 | FileCheck %s --check-prefix=FORBIDDEN
// FORBIDDEN: error: the mark 'valid' forbids everything
// Before the choice the mark is about all of its values.
attn.program @forbidden {
  attn.length "T" open
  %half = attn.compute () {
    %0 = arith.constant 0.5 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %no = attn.compute () {
    %0 = arith.constant false
    attn.yield %0 : i1
  } : !attn.array<[], i1>
  %all = attn.search "T" states [] (%t) axes [0] {
    attn.mark "valid" %no : !attn.array<[], i1>
    %y = attn.choice "y" bernoulli ["prob"] (%half : !attn.array<[], f64>) -> !attn.array<[], i1>
    attn.yield %y : !attn.array<[], i1>
  } : !attn.array<["T"], i1>
  attn.output "y" %all : !attn.array<["T"], i1>
}

// RUN: fovea-opt %s --attn-schedule -o %t.mlir
// RUN: not fovea-eval %s --entry several --decode 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: error: {{.*}}: the mark 'longest' is not one number
// RUN: not fovea-eval %t.mlir --entry several --decode 2>&1 | FileCheck %s --check-prefix=SCHEDULED
// SCHEDULED: error: {{.*}}: the mark 'longest' is not one number
attn.system @several {
  attn.length "T" open
  %half = attn.compute (%t: "T") {
    %zero = arith.constant false
    %one = arith.constant 1 : index
    %p = arith.constant 0.5 : f64
    %before = arith.subi %t, %one : index
    %0 = attn.read %y[%before] default %zero : i1 : !attn.array<["T"], i1>
    attn.yield %p : f64
  } : !attn.array<["T"], f64>
  %y = attn.choice "y" bernoulli ["prob"] (%half : !attn.array<["T"], f64>) -> !attn.array<["T"], i1>
  %numbers = attn.compute (%k: 2) {
    %0 = arith.constant 3 : i64
    attn.yield %0 : i64
  } : !attn.array<[2], i64>
  attn.mark "longest" %numbers : !attn.array<[2], i64>
  attn.output "y" %y : !attn.array<["T"], i1>
}

// RUN: not fovea-eval %s --entry ranks --decode 2>&1 | FileCheck %s --check-prefix=RANKS
// RANKS: error: {{.*}}: the mark 'score' is not one number
// RUN: not fovea-eval %t.mlir --entry ranks --decode 2>&1 | FileCheck %s --check-prefix=RANKED
// RANKED: error: {{.*}}: the mark 'score' is not one number
attn.system @ranks {
  attn.length "T" open
  %half = attn.compute (%t: "T") {
    %zero = arith.constant false
    %one = arith.constant 1 : index
    %p = arith.constant 0.5 : f64
    %before = arith.subi %t, %one : index
    %0 = attn.read %y[%before] default %zero : i1 : !attn.array<["T"], i1>
    attn.yield %p : f64
  } : !attn.array<["T"], f64>
  %y = attn.choice "y" bernoulli ["prob"] (%half : !attn.array<["T"], f64>) -> !attn.array<["T"], i1>
  %numbers = attn.compute (%t: "T", %k: 2) {
    %0 = attn.read %y[%t] : !attn.array<["T"], i1>
    %1 = arith.uitofp %0 : i1 to f64
    attn.yield %1 : f64
  } : !attn.array<["T", 2], f64>
  attn.mark "score" %numbers : !attn.array<["T", 2], f64>
  attn.output "y" %y : !attn.array<["T"], i1>
}
