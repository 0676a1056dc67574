// The marks of a search, and steps with several choices. Each test runs the
// equations themselves, evaluated anew for every choice, and the program that
// attn-schedule makes of them.

// RUN: fovea-opt %s --attn-schedule -o %t.mlir

// `valid`: no place twice. log p of the places is log softmax(x) = log 1/2,
// 1/4, 1/8, 1/8 (x = log of 4, 2, 1, 1). Greedy takes 0, 1 and 2 (before 3, a
// tie), and `stop` ends after three: log 1/64 = -4.1588830834.
// RUN: fovea-eval %s --entry places --decode --input 'x=[1.3862943611198906, 0.6931471805599453, 0, 0]' | FileCheck %s --check-prefix=PLACES
// RUN: fovea-eval %t.mlir --entry places --decode --input 'x=[1.3862943611198906, 0.6931471805599453, 0, 0]' | FileCheck %s --check-prefix=PLACES
// PLACES:      logp -4.158883083 score -4.158883083 steps 3
// PLACES-NEXT: y [3]: 0 1 2
// The same by draws: three different places.
// RUN: fovea-eval %t.mlir --entry places --decode --sample --seed 1 --nbest 3 --input 'x=[0, 0, 0, 0]' > %t.draws
// RUN: fovea-eval %s --entry places --decode --sample --seed 1 --nbest 3 --input 'x=[0, 0, 0, 0]' | diff %t.draws -
// Nothing is left for the third of two places.
// RUN: not fovea-eval %s --entry places --decode --input 'x=[0, 0]' 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not fovea-eval %t.mlir --entry places --decode --input 'x=[0, 0]' 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not fovea-eval %t.mlir --entry places --decode --sample --input 'x=[0, 0]' 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: error: {{.*}}: no value of 'y' is allowed
// log p of given values does not ask whether they are allowed: 3 * log 1/2.
// RUN: fovea-eval %t.mlir --entry places --decode --forced 'y=[0, 0, 0]' --input 'x=[1.3862943611198906, 0.6931471805599453, 0, 0]' | FileCheck %s --check-prefix=GIVEN
// GIVEN: logp -2.079441542 score -2.079441542 steps 3
attn.system @places {
  attn.length "N"
  attn.length "T" open
  %x = attn.data "x" : !attn.array<["N"], f64>
  %l = attn.compute "l" (%t: "T", %i: "N") {
    %none = arith.constant 0 : i64
    %one = arith.constant 1 : index
    %zero = arith.constant 0.0 : f64
    %before = arith.subi %t, %one : index
    %0 = attn.read %x[%i] : !attn.array<["N"], f64>
    // The last choice is read, so that there is a search, but does not matter.
    %1 = attn.read %y[%before] default %none : i64 : !attn.array<["T"], i64>
    %2 = arith.sitofp %1 : i64 to f64
    %3 = arith.mulf %2, %zero : f64
    %4 = arith.addf %0, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["T", "N"], f64>
  %y = attn.choice "y" categorical ["logits"] (%l : !attn.array<["T", "N"], f64>) -> !attn.array<["T"], i64>
  %valid = attn.compute "valid" (%t: "T") all (%u: "T") where {
    %0 = arith.cmpi slt, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %y[%u] : !attn.array<["T"], i64>
    %1 = attn.read %y[%t] : !attn.array<["T"], i64>
    %2 = arith.cmpi ne, %0, %1 : i64
    attn.yield %2 : i1
  } : !attn.array<["T"], i1>
  %stop = attn.compute "stop" (%t: "T") {
    %two = arith.constant 2 : index
    %0 = arith.cmpi eq, %t, %two : index
    attn.yield %0 : i1
  } : !attn.array<["T"], i1>
  attn.mark "valid" %valid : !attn.array<["T"], i1>
  attn.mark "stop" %stop : !attn.array<["T"], i1>
  attn.output "y" %y : !attn.array<["T"], i64>
}

// `score` ranks instead of log p, here by the largest symbol of the last step;
// `longest` is N + 1 = 3 steps. The last hypotheses 2 2 2 score 2.
// RUN: fovea-eval %s --entry scored --decode --beam 2 --input 'x=[5, 1]' | FileCheck %s --check-prefix=SCORED
// RUN: fovea-eval %t.mlir --entry scored --decode --beam 2 --input 'x=[5, 1]' | FileCheck %s --check-prefix=SCORED
// log p of symbol 2 is log(1 / (2 + e^5)) = -5.0133859, three times.
// SCORED:      logp -15.04015{{[0-9]*}} score 2 steps 3 cut
// SCORED-NEXT: y [3]: 2 2 2
attn.system @scored {
  attn.length "N"
  attn.length "T" open
  %x = attn.data "x" : !attn.array<["N"], f64>
  %l = attn.compute "l" (%t: "T", %v: 3) {
    %none = arith.constant 0 : i64
    %one = arith.constant 1 : index
    %first = arith.constant 0 : index
    %zero = arith.constant 0.0 : f64
    %before = arith.subi %t, %one : index
    %0 = attn.read %x[%first] : !attn.array<["N"], f64>
    %is_first = arith.cmpi eq, %v, %first : index
    %1 = arith.select %is_first, %0, %zero : f64
    %2 = attn.read %y[%before] default %none : i64 : !attn.array<["T"], i64>
    %3 = arith.sitofp %2 : i64 to f64
    %4 = arith.mulf %3, %zero : f64
    %5 = arith.addf %1, %4 : f64
    attn.yield %5 : f64
  } : !attn.array<["T", 3], f64>
  %y = attn.choice "y" categorical ["logits"] (%l : !attn.array<["T", 3], f64>) -> !attn.array<["T"], i64>
  %score = attn.compute "score" (%t: "T") {
    %0 = attn.read %y[%t] : !attn.array<["T"], i64>
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %longest = attn.compute "longest" () {
    %0 = attn.extent "N"
    %one = arith.constant 1 : index
    %1 = arith.addi %0, %one : index
    %2 = arith.index_cast %1 : index to i64
    attn.yield %2 : i64
  } : !attn.array<[], i64>
  attn.mark "score" %score : !attn.array<["T"], f64>
  attn.mark "longest" %longest : !attn.array<[], i64>
  attn.output "y" %y : !attn.array<["T"], i64>
}

// Two choices in a step: a bit, and a symbol that reads it. p(bit) = 1/4 for
// 1, and 3/4 at t = 1 when the last symbol is 1; the symbol is 1 with 0.9
// where the bit is 1, and 0 or 1 alike where it is not. Greedy takes the bit 0
// (0.75) and the symbol 0 (0.5): 0.375. A beam of 4 holds all of the step:
//   bit 0, symbol 0 or 1: 0.375 each; bit 1, symbol 1: 0.225; symbol 0: 0.025
// and the best two steps are 0 1 | 1 1: 0.375 * 0.75 * 0.9 = 0.253125 against
// 0.375 * 0.375 = 0.140625 of greedy; log 0.253125 = -1.3738718405.
// RUN: fovea-eval %s --entry pair --decode --longest 2 | FileCheck %s --check-prefix=ALONE
// RUN: fovea-eval %t.mlir --entry pair --decode --longest 2 | FileCheck %s --check-prefix=ALONE
// ALONE:      logp -1.961658506 score -1.961658506 steps 2 cut
// ALONE-NEXT: bit [2]: 0 0
// ALONE-NEXT: y [2]: 0 0
// RUN: fovea-eval %s --entry pair --decode --longest 2 --beam 4 | FileCheck %s --check-prefix=PAIR
// RUN: fovea-eval %t.mlir --entry pair --decode --longest 2 --beam 4 | FileCheck %s --check-prefix=PAIR
// PAIR:      logp -1.373871841 score -1.373871841 steps 2 cut
// PAIR-NEXT: bit [2]: 0 1
// PAIR-NEXT: y [2]: 1 1
attn.system @pair {
  attn.length "T" open
  %q = attn.compute "q" (%t: "T") {
    %none = arith.constant 0 : i64
    %one = arith.constant 1 : index
    %unit = arith.constant 1 : i64
    %few = arith.constant 0.25 : f64
    %many = arith.constant 0.75 : f64
    %before = arith.subi %t, %one : index
    %0 = attn.read %y[%before] default %none : i64 : !attn.array<["T"], i64>
    %1 = arith.cmpi eq, %0, %unit : i64
    %2 = arith.select %1, %many, %few : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %p = attn.compute "p" (%t: "T", %v: 2) {
    %half = arith.constant 0.5 : f64
    %high = arith.constant 0.9 : f64
    %low = arith.constant 0.1 : f64
    %one = arith.constant 1 : index
    %0 = attn.read %bit[%t] : !attn.array<["T"], i1>
    %1 = arith.cmpi eq, %v, %one : index
    %2 = arith.select %1, %high, %low : f64
    %3 = arith.select %0, %2, %half : f64
    attn.yield %3 : f64
  } : !attn.array<["T", 2], f64>
  %y = attn.choice "y" categorical ["probs"] (%p : !attn.array<["T", 2], f64>) -> !attn.array<["T"], i64>
  %bit = attn.choice "bit" bernoulli ["prob"] (%q : !attn.array<["T"], f64>) -> !attn.array<["T"], i1>
  attn.output "y" %y : !attn.array<["T"], i64>
  attn.output "bit" %bit : !attn.array<["T"], i1>
}

// A real number: greedy takes the mean, x[t] = x[t-1] + 1, whose density is
// 1 / sqrt(2 pi) each; a beam cannot search.
// RUN: fovea-eval %s --entry real --decode --longest 3 | FileCheck %s --check-prefix=REAL
// RUN: fovea-eval %t.mlir --entry real --decode --longest 3 | FileCheck %s --check-prefix=REAL
// 3 * -0.9189385332 = -2.7568155996
// REAL:      logp -2.7568156 score -2.7568156 steps 3 cut
// REAL-NEXT: x [3]: 1 2 3
// RUN: not fovea-eval %t.mlir --entry real --decode --beam 2 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: error: {{.*}}: 'x' is a choice of real numbers, which a beam cannot search; sample it, or set beam = 1
// RUN: fovea-eval %s --entry real --decode --longest 3 --sample --seed 2 > %t.real
// RUN: fovea-eval %t.mlir --entry real --decode --longest 3 --sample --seed 2 | diff %t.real -
attn.system @real {
  attn.length "T" open
  %mean = attn.compute "mean" (%t: "T") {
    %zero = arith.constant 0.0 : f64
    %unit = arith.constant 1.0 : f64
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %x[%before] default %zero : f64 : !attn.array<["T"], f64>
    %1 = arith.addf %0, %unit : f64
    attn.yield %1 : f64
  } : !attn.array<["T"], f64>
  %sd = attn.compute "sd" (%t: "T") {
    %unit = arith.constant 1.0 : f64
    attn.yield %unit : f64
  } : !attn.array<["T"], f64>
  %x = attn.choice "x" normal ["mean", "sd"] (%mean, %sd : !attn.array<["T"], f64>, !attn.array<["T"], f64>) -> !attn.array<["T"], f64>
  %density = attn.compute "log_p.x" (%t: "T") {
    %0 = attn.read %x[%t] : !attn.array<["T"], f64>
    %1 = attn.read %mean[%t] : !attn.array<["T"], f64>
    %away = arith.subf %0, %1 : f64
    %square = arith.mulf %away, %away : f64
    %half = arith.constant -0.5 : f64
    %2 = arith.mulf %half, %square : f64
    %norm = arith.constant 0.91893853320467267 : f64
    %3 = arith.subf %2, %norm : f64
    attn.yield %3 : f64
  } : !attn.array<["T"], f64>
  attn.output "x" %x : !attn.array<["T"], f64>
  attn.output "logp/x" %density : !attn.array<["T"], f64>
}

// What each hypothesis has of its own has to be reordered. Here the sum of the
// symbols is a state, p(1) = 0.4 before the first 1 and 0.9 after it; the best
// three steps of a beam of 2 are 1 1 1 (0.324) and not 0 0 0 (0.216). A state
// wrongly said to be one for all hypotheses gives another result.
// RUN: fovea-eval %s --entry shared --decode --beam 2 --longest 3 | FileCheck %s --check-prefix=OWN
// RUN: fovea-eval %t.mlir --entry shared --decode --beam 2 --longest 3 | FileCheck %s --check-prefix=OWN
// RUN: sed -e 's/reorder = true/reorder = false/g' %t.mlir > %t.wrong.mlir
// RUN: fovea-eval %t.wrong.mlir --entry shared --decode --beam 2 --longest 3 | FileCheck %s --check-prefix=WRONG
// OWN: y [3]: 1 1 1
// WRONG-NOT: y [3]: 1 1 1
attn.system @shared {
  attn.length "T" open
  %s = attn.compute "s" (%t: "T") {
    %none = arith.constant 0 : i64
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %s[%before] default %none : i64 : !attn.array<["T"], i64>
    %no = arith.constant false
    %1 = attn.read %y[%before] default %no : i1 : !attn.array<["T"], i1>
    %2 = arith.extui %1 : i1 to i64
    %3 = arith.addi %0, %2 : i64
    attn.yield %3 : i64
  } : !attn.array<["T"], i64>
  %p = attn.compute "p" (%t: "T") {
    %none = arith.constant 0 : i64
    %few = arith.constant 0.4 : f64
    %many = arith.constant 0.9 : f64
    %0 = attn.read %s[%t] : !attn.array<["T"], i64>
    %1 = arith.cmpi sgt, %0, %none : i64
    %2 = arith.select %1, %many, %few : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %y = attn.choice "y" bernoulli ["prob"] (%p : !attn.array<["T"], f64>) -> !attn.array<["T"], i1>
  attn.output "y" %y : !attn.array<["T"], i1>
}
