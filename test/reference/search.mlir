// Searches over a model of three symbols: 0 ends, 1 and 2 go on. With the last
// symbol y (before the first: 0) the next one has these probabilities:
//
//   y = 0:  0.1  0.5  0.4
//   y = 1:  0.4  0.4  0.2
//   y = 2:  0.9  0.1  0.0
//
// Every test runs the program and the system it came from.

// Greedy: 1 (0.5), then 0 and 1 tie at 0.4 and the lower symbol ends:
// log 0.2 = -1.6094379124.
// RUN: fovea-eval %s --entry step --decode | FileCheck %s --check-prefix=GREEDY
// RUN: fovea-eval %s --entry model --decode | FileCheck %s --check-prefix=GREEDY
// GREEDY:      logp -1.609437912 score -1.609437912 steps 2
// GREEDY-NEXT: y [2]: 1 0

// Two hypotheses: first 1 (0.5) and 2 (0.4); then 20 (0.36), and of 10, 11
// (both 0.2) the lower symbol. 20 and 10 end, and the beam is empty.
// RUN: fovea-eval %s --entry step --decode --beam 2 --nbest 2 | FileCheck %s --check-prefix=BEAM
// RUN: fovea-eval %s --entry model --decode --beam 2 --nbest 2 | FileCheck %s --check-prefix=BEAM
// log 0.36 = -1.0216512475
// BEAM:      logp -1.021651248 score -1.021651248 steps 2
// BEAM-NEXT: y [2]: 2 0
// BEAM-NEXT: logp -1.609437912
// BEAM-NEXT: y [2]: 1 0

// All sequences of at most 3 symbols: 20 (0.36), 10 (0.2), 0 (0.1), then
// 120 (0.5 * 0.2 * 0.9 = 0.09), 110 (0.08), 210 (0.016); at most 3 steps.
// RUN: fovea-eval %s --entry step --decode --beam 30 --nbest 6 --longest 3 | FileCheck %s --check-prefix=ALL
// RUN: fovea-eval %s --entry model --decode --beam 30 --nbest 6 --longest 3 | FileCheck %s --check-prefix=ALL
// ALL:      y [2]: 2 0
// ALL:      y [2]: 1 0
// ALL:      y [1]: 0
// ALL-NEXT: logp -2.407945609 score -2.407945609 steps 3
// ALL-NEXT: y [3]: 1 2 0
// ALL:      y [3]: 1 1 0
// ALL:      y [3]: 2 1 0

// At least one symbol before the end, per symbol: the mean of log p. 20 has
// log(0.36) / 2 = -0.5108; 10 has -0.8047, 120 has log(0.09) / 3 = -0.8026.
// RUN: fovea-eval %s --entry step --decode --beam 30 --nbest 3 --longest 3 --shortest 1 --normalise per_symbol | FileCheck %s --check-prefix=NORMAL
// RUN: fovea-eval %s --entry model --decode --beam 30 --nbest 3 --longest 3 --shortest 1 --normalise per_symbol | FileCheck %s --check-prefix=NORMAL
// NORMAL:      logp -1.021651248 score -0.5108256238 steps 2
// NORMAL-NEXT: y [2]: 2 0
// NORMAL-NEXT: score -0.8026485362 steps 3
// NORMAL-NEXT: y [3]: 1 2 0
// NORMAL:      y [2]: 1 0

// At most one step: only 0 ends by itself; 1 and 2 are cut and come after it.
// RUN: fovea-eval %s --entry step --decode --beam 3 --nbest 3 --longest 1 | FileCheck %s --check-prefix=CUT
// RUN: fovea-eval %s --entry model --decode --beam 3 --nbest 3 --longest 1 | FileCheck %s --check-prefix=CUT
// CUT:      logp -2.302585093 score -2.302585093 steps 1{{$}}
// CUT-NEXT: y [1]: 0
// CUT-NEXT: logp -0.6931471806 score -0.6931471806 steps 1 cut
// CUT-NEXT: y [1]: 1
// CUT-NEXT: logp -0.9162907319 score -0.9162907319 steps 1 cut
// CUT-NEXT: y [1]: 2

// Values that are given: log p of 1, 2, 0 is log 0.5, log 0.2, log 0.9.
// RUN: fovea-eval %s --entry step --decode --forced 'y=[1, 2, 0]' | FileCheck %s --check-prefix=FORCED
// RUN: fovea-eval %s --entry model --decode --forced 'y=[1, 2, 0]' | FileCheck %s --check-prefix=FORCED
// FORCED:      logp -2.407945609 score -2.407945609 steps 3
// FORCED-NEXT: step logp: -0.6931471806 -1.609437912 -0.1053605157
// FORCED-NEXT: y [3]: 1 2 0
// Without an end the search ends where they do.
// RUN: fovea-eval %s --entry step --decode --forced 'y=[1, 2]' | FileCheck %s --check-prefix=PREFIX
// RUN: fovea-eval %s --entry model --decode --forced 'y=[1, 2]' | FileCheck %s --check-prefix=PREFIX
// PREFIX: logp -2.302585093 score -2.302585093 steps 2
// RUN: not fovea-eval %s --entry step --decode --forced 'y=[]' 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: 'y' is given 0 values but takes more

// The state is needed: with the last symbol left at 0 the greedy sequence is
// 1, 1, .. to the largest length.
// RUN: fovea-eval %s --entry step --decode --drop-state y --longest 3 | FileCheck %s --check-prefix=DROP
// DROP: logp -2.079441542 score -2.079441542 steps 3 cut
// DROP-NEXT: y [3]: 1 1 1

// Draws. Only the best symbol: the same as greedy. At a low temperature, too.
// RUN: fovea-eval %s --entry step --decode --sample --seed 3 --top-k 1 | FileCheck %s --check-prefix=GREEDY
// RUN: fovea-eval %s --entry step --decode --sample --seed 3 --top-p 0.3 | FileCheck %s --check-prefix=GREEDY
// A draw is the same for the program and the system.
// RUN: fovea-eval %s --entry step --decode --sample --seed 5 --nbest 4 > %t.step
// RUN: fovea-eval %s --entry model --decode --sample --seed 5 --nbest 4 > %t.model
// RUN: diff %t.step %t.model

// RUN: not fovea-eval %s --entry step --decode --beam 0 2>&1 | FileCheck %s --check-prefix=WIDTH
// WIDTH: error: the beam is 0 and the number of best hypotheses 1, but both are at least 1
// RUN: not fovea-eval %s --entry step --decode --longest 0 2>&1 | FileCheck %s --check-prefix=LONGEST
// LONGEST: error: the largest length is 0, but it is at least 1
// RUN: not fovea-eval %s --entry step --decode --temperature 0 2>&1 | FileCheck %s --check-prefix=COLD
// COLD: error: the temperature is 0, but it is above 0

attn.system @model {
  attn.length "T" open
  %p = attn.compute "p" (%t: "T", %v: 3) {
    %one = arith.constant 1 : index
    %start = arith.constant 0 : i64
    %before = arith.subi %t, %one : index
    %0 = attn.read %y[%before] default %start : i64 : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %table[%1, %v] : !attn.array<[3, 3], f64>
    attn.yield %2 : f64
  } : !attn.array<["T", 3], f64>
  %y = attn.choice "y" categorical ["probs"] (%p : !attn.array<["T", 3], f64>) end 0 : i64 -> !attn.array<["T"], i64>
  attn.output "y" %y : !attn.array<["T"], i64>
  %table = attn.compute "table" (%y0: 3, %v: 3) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p1 = arith.constant 0.1 : f64
    %p2 = arith.constant 0.2 : f64
    %p4 = arith.constant 0.4 : f64
    %p5 = arith.constant 0.5 : f64
    %p9 = arith.constant 0.9 : f64
    %none = arith.constant 0.0 : f64
    %y_is_0 = arith.cmpi eq, %y0, %c0 : index
    %y_is_1 = arith.cmpi eq, %y0, %c1 : index
    %v_is_0 = arith.cmpi eq, %v, %c0 : index
    %v_is_1 = arith.cmpi eq, %v, %c1 : index
    %a = arith.select %v_is_1, %p5, %p4 : f64
    %b = arith.select %v_is_0, %p1, %a : f64
    %c = arith.select %v_is_1, %p4, %p2 : f64
    %d = arith.select %v_is_0, %p4, %c : f64
    %e = arith.select %v_is_1, %p1, %none : f64
    %f = arith.select %v_is_0, %p9, %e : f64
    %g = arith.select %y_is_1, %d, %f : f64
    %h = arith.select %y_is_0, %b, %g : f64
    attn.yield %h : f64
  } : !attn.array<[3, 3], f64>
}

attn.program @step {
  attn.length "T" open
  %table = attn.compute "table" (%y0: 3, %v: 3) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p1 = arith.constant 0.1 : f64
    %p2 = arith.constant 0.2 : f64
    %p4 = arith.constant 0.4 : f64
    %p5 = arith.constant 0.5 : f64
    %p9 = arith.constant 0.9 : f64
    %none = arith.constant 0.0 : f64
    %y_is_0 = arith.cmpi eq, %y0, %c0 : index
    %y_is_1 = arith.cmpi eq, %y0, %c1 : index
    %v_is_0 = arith.cmpi eq, %v, %c0 : index
    %v_is_1 = arith.cmpi eq, %v, %c1 : index
    %a = arith.select %v_is_1, %p5, %p4 : f64
    %b = arith.select %v_is_0, %p1, %a : f64
    %c = arith.select %v_is_1, %p4, %p2 : f64
    %d = arith.select %v_is_0, %p4, %c : f64
    %e = arith.select %v_is_1, %p1, %none : f64
    %f = arith.select %v_is_0, %p9, %e : f64
    %g = arith.select %y_is_1, %d, %f : f64
    %h = arith.select %y_is_0, %b, %g : f64
    attn.yield %h : f64
  } : !attn.array<[3, 3], f64>
  %start = attn.compute () {
    %0 = arith.constant 0 : i64
    attn.yield %0 : i64
  } : !attn.array<[], i64>
  %last, %all = attn.search "T" states [{name = "y", kind = "carried", window = 1 : i64, reorder = true}] (%t) carries (%before = %start : !attn.array<[], i64>) axes [0] {
    %p = attn.compute "p" (%v: 3) {
      %0 = attn.read %before[] : !attn.array<[], i64>
      %1 = arith.index_cast %0 : i64 to index
      %2 = attn.read %table[%1, %v] : !attn.array<[3, 3], f64>
      attn.yield %2 : f64
    } : !attn.array<[3], f64>
    %y = attn.choice "y" categorical ["probs"] (%p : !attn.array<[3], f64>) end 0 : i64 -> !attn.array<[], i64>
    attn.yield %y, %y : !attn.array<[], i64>, !attn.array<[], i64>
  } : !attn.array<[], i64>, !attn.array<["T"], i64>
  attn.output "y" %all : !attn.array<["T"], i64>
}
