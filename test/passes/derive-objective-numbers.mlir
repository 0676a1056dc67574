// log p of each distribution, by hand.

// RUN: split-file %s %t
// RUN: fovea-opt %t/categorical.mlir --attn-derive-objective -o %t/c.mlir
// RUN: fovea-eval %t/c.mlir --entry loss --input 'y=[0, 1]' --input 'l=[[0, 0], [1.0986122886681098, 0]]' | FileCheck %s --check-prefix=CATEGORICAL
// RUN: fovea-opt %t/bernoulli.mlir --attn-derive-objective -o %t/b.mlir
// RUN: fovea-eval %t/b.mlir --entry loss --input 'x=[1, 0, 1, 0]' --input 'l=[0, 1.0986122886681098, 1000, 1000]' --input 'p=[1, 0.25, 0.5, 0]' | FileCheck %s --check-prefix=BERNOULLI
// RUN: fovea-opt %t/normal.mlir --attn-derive-objective -o %t/n.mlir
// RUN: fovea-eval %t/n.mlir --entry loss --input x=1 --input mean=0 --input sd=2 | FileCheck %s --check-prefix=NORMAL
// RUN: fovea-opt %t/uniform.mlir --attn-derive-objective -o %t/u.mlir
// RUN: fovea-eval %t/u.mlir --entry loss --input x=1 --input low=0 --input high=4 | FileCheck %s --check-prefix=INSIDE
// RUN: fovea-eval %t/u.mlir --entry loss --input x=5 --input low=0 --input high=4 | FileCheck %s --check-prefix=OUTSIDE
// RUN: fovea-opt %t/mixture.mlir --attn-derive-objective -o %t/m.mlir
// RUN: fovea-eval %t/m.mlir --entry loss --input 'x=[[1, 0]]' --input 'w=[[0, 0]]' --input 'm=[[[1, 0], [0, 0]]]' --input 's=[[[1, 1], [1, 2]]]' --input 'r=[[0, 0.5]]' | FileCheck %s --check-prefix=MIXTURE
// RUN: fovea-opt %t/normals.mlir --attn-derive-objective -o %t/k.mlir
// RUN: fovea-eval %t/k.mlir --entry loss --input 'x=[1]' --input 'w=[[0, 1.0986122886681098]]' --input 'm=[[1, 3]]' --input 's=[[1, 2]]' | FileCheck %s --check-prefix=NORMALS
// RUN: fovea-eval %t/normals.mlir --entry training --objective --input 'x=[1]' --input 'w=[[0, 1.0986122886681098]]' --input 'm=[[1, 3]]' --input 's=[[1, 2]]' | FileCheck %s --check-prefix=NORMALS
// RUN: fovea-opt %t/ahead.mlir --attn-derive-objective -o %t/a.mlir
// RUN: fovea-eval %t/a.mlir --entry loss --input 'y=[0, 1]' --input 'l=[[0, 0], [1.0986122886681098, 0]]' | FileCheck %s --check-prefix=AHEAD
// RUN: fovea-eval %t/ahead.mlir --entry training --objective --input 'y=[0, 1]' --input 'l=[[0, 0], [1.0986122886681098, 0]]' | FileCheck %s --check-prefix=AHEAD

//--- ahead.mlir

// A choice of the next place is trained (here -log p = log 2 at the first
// place, and nothing at the last one), but neither counted nor reported.
// AHEAD-DAG: choices []: 2
// AHEAD-DAG: logp []: -2.07944154
// AHEAD-DAG: nll []: 2.77258872
attn.system @training {
  attn.length "T"
  %l = attn.data "l" : !attn.array<["T", 2], f64>
  %y = attn.data "y" : !attn.array<["T"], i64>
  attn.choice "y" categorical ["logits"] (%l : !attn.array<["T", 2], f64>) observed %y : !attn.array<["T"], i64>
  %next = attn.compute (%t: "T") {
    %one = arith.constant 1 : index
    %none = arith.constant 0 : i64
    %at = arith.addi %t, %one : index
    %symbol = attn.read %y[%at] default %none : i64 : !attn.array<["T"], i64>
    attn.yield %symbol : i64
  } : !attn.array<["T"], i64>
  %there = attn.compute (%t: "T") {
    %one = arith.constant 1 : index
    %length = attn.extent "T"
    %at = arith.addi %t, %one : index
    %inside = arith.cmpi slt, %at, %length : index
    %yes = arith.constant 1.0 : f64
    %no = arith.constant 0.0 : f64
    %weight = arith.select %inside, %yes, %no : f64
    attn.yield %weight : f64
  } : !attn.array<["T"], f64>
  attn.choice "y[t+1]" categorical ["logits"] (%l : !attn.array<["T", 2], f64>) observed %next : !attn.array<["T"], i64> weight %there : !attn.array<["T"], f64> {attn.ahead}
}

//--- categorical.mlir

// p = 1/2, then 1/4: -log p = log 2 + log 4. The means over the symbols of
// log p are log(1/2) and (log(3/4) + log(1/4)) / 2 = -0.836988, so that with
// s = 0.1 nll = 0.9 * 2.079442 + 0.1 * 1.530135.
// CATEGORICAL-DAG: choices []: 2
// CATEGORICAL-DAG: logp []: -2.07944154
// CATEGORICAL-DAG: nll []: 2.02451092
module attributes {attn.train = {smooth = 0.1 : f64}} {
  attn.system @training {
    attn.length "T"
    %l = attn.data "l" : !attn.array<["T", 2], f64>
    %y = attn.data "y" : !attn.array<["T"], i64>
    attn.choice "y" categorical ["logits"] (%l : !attn.array<["T", 2], f64>) observed %y : !attn.array<["T"], i64>
  }
}

//--- bernoulli.mlir

// From logits: p = 1/2, 1/4, 1, and e^-1000, whose log is -1000. From
// probabilities: 1, 3/4, 1/2, 1; the log of 0 is not taken.
// Together -(log 2 + log 4 + 1000) - log(4/3) - log 2.
// BERNOULLI-DAG: choices []: 8
// BERNOULLI-DAG: logp []: -1003.0602
attn.system @training {
  attn.length "T"
  %l = attn.data "l" : !attn.array<["T"], f64>
  %p = attn.data "p" : !attn.array<["T"], f64>
  %x = attn.data "x" : !attn.array<["T"], i1>
  attn.choice "x" bernoulli ["logit"] (%l : !attn.array<["T"], f64>) observed %x : !attn.array<["T"], i1>
  attn.choice "x" bernoulli ["prob"] (%p : !attn.array<["T"], f64>) observed %x : !attn.array<["T"], i1>
}

//--- normal.mlir

// -(1/2)^2 / 2 - log 2 - log(2 pi) / 2
// NORMAL: logp []: -1.73708571
attn.system @training {
  %x = attn.data "x" : !attn.array<[], f64>
  %mean = attn.data "mean" : !attn.array<[], f64>
  %sd = attn.data "sd" : !attn.array<[], f64>
  attn.choice "x" normal ["mean", "sd"] (%mean, %sd : !attn.array<[], f64>, !attn.array<[], f64>) observed %x : !attn.array<[], f64>
}

//--- uniform.mlir

// INSIDE: logp []: -1.38629436
// OUTSIDE: logp []: -inf
attn.system @training {
  %x = attn.data "x" : !attn.array<[], f64>
  %low = attn.data "low" : !attn.array<[], f64>
  %high = attn.data "high" : !attn.array<[], f64>
  attn.choice "x" uniform ["low", "high"] (%low, %high : !attn.array<[], f64>, !attn.array<[], f64>) observed %x : !attn.array<[], f64>
}

//--- mixture.mlir

// Half of 1 / (2 pi) = 0.159155 and half of exp(-1 / (2 * 0.75)) / (2 pi * 2 *
// sqrt(0.75)) = 0.0471769: the log of 0.103166.
// MIXTURE-DAG: choices []: 1
// MIXTURE-DAG: logp []: -2.27141646
attn.system @training {
  attn.length "T"
  %w = attn.data "w" : !attn.array<["T", 2], f64>
  %m = attn.data "m" : !attn.array<["T", 2, 2], f64>
  %s = attn.data "s" : !attn.array<["T", 2, 2], f64>
  %r = attn.data "r" : !attn.array<["T", 2], f64>
  %x = attn.data "x" : !attn.array<["T", 2], f64>
  attn.choice "x" mixture ["logit", "mean", "sd", "correlation"] (%w, %m, %s, %r : !attn.array<["T", 2], f64>, !attn.array<["T", 2, 2], f64>, !attn.array<["T", 2, 2], f64>, !attn.array<["T", 2], f64>) observed %x : !attn.array<["T", 2], f64>
}

//--- normals.mlir

// A quarter of 1 / sqrt(2 pi) = 0.398942 and three quarters of exp(-1/2) /
// (2 sqrt(2 pi)) = 0.120985: the log of 0.190474.
// NORMALS: logp []: -1.6582364
attn.system @training {
  attn.length "T"
  %w = attn.data "w" : !attn.array<["T", 2], f64>
  %m = attn.data "m" : !attn.array<["T", 2], f64>
  %s = attn.data "s" : !attn.array<["T", 2], f64>
  %x = attn.data "x" : !attn.array<["T"], f64>
  attn.choice "x" mixture ["logit", "mean", "sd"] (%w, %m, %s : !attn.array<["T", 2], f64>, !attn.array<["T", 2], f64>, !attn.array<["T", 2], f64>) observed %x : !attn.array<["T"], f64>
}
