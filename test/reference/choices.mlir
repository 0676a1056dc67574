// Choices outside any search, and the objective that observed ones state.

// log p of each distribution, by hand:
//   categorical, logits 0, 1, 2, y = 2: 2 - log(1 + e + e^2) = -0.4076059644
//   bernoulli, logit 1.5, y = 0: -log(1 + e^1.5) = -1.7014132780
//   normal, mean 1, sd 2, x = 0: -1/8 - log 2 - log(2 pi) / 2 = -1.7370857138
//   uniform on -1..3: -log 4 = -1.3862943611
// together -5.2323993173, in 4 choices. The penalty is 1 + 2 + 3.
// RUN: fovea-eval %s --entry observed --objective --input 'y=2' --input 'b=0' --input 'x=0' --input 'l=[0, 1, 2]' --input 'p=[1, 2, 3]' | FileCheck %s --check-prefix=OBSERVED
// OBSERVED:      choices []: 4
// OBSERVED-NEXT: logp []: -5.232399317
// OBSERVED-NEXT: nll []: 5.232399317
// OBSERVED-NEXT: penalty []: 6
// RUN: not fovea-eval %s --entry observed --objective --input 'y=3' --input 'b=0' --input 'x=0' --input 'l=[0, 1, 2]' --input 'p=[1, 2, 3]' 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: error: 'y' has the value 3, outside 0..2
attn.system @observed {
  %y = attn.data "y" : !attn.array<[], i64>
  %b = attn.data "b" : !attn.array<[], i1>
  %x = attn.data "x" : !attn.array<[], f64>
  %l = attn.param "l" : !attn.array<[3], f64>
  %p = attn.param "p" : !attn.array<[3], f64>
  %half = attn.compute () {
    %0 = arith.constant 1.5 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %one = attn.compute () {
    %0 = arith.constant 1.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %two = attn.compute () {
    %0 = arith.constant 2.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %low = attn.compute () {
    %0 = arith.constant -1.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %high = attn.compute () {
    %0 = arith.constant 3.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.choice "y" categorical ["logits"] (%l : !attn.array<[3], f64>) observed %y : !attn.array<[], i64>
  attn.choice "b" bernoulli ["logit"] (%half : !attn.array<[], f64>) observed %b : !attn.array<[], i1>
  attn.choice "x" normal ["mean", "sd"] (%one, %two : !attn.array<[], f64>, !attn.array<[], f64>) observed %x : !attn.array<[], f64>
  attn.choice "x" uniform ["low", "high"] (%low, %high : !attn.array<[], f64>, !attn.array<[], f64>) observed %x : !attn.array<[], f64>
  attn.penalty %p : !attn.array<[3], f64>
}

// A mixture of two bivariate normals with weights 1/2 each, at (0, 0). The
// first has means 0, deviations 1 and no correlation: density 1 / (2 pi); the
// second is so far away that its density is 0. log p = log(1/2 / (2 pi)) =
// -2.5310242470. The first one's weight 1/4 and correlation 0.6, at the mean:
// density 1 / (2 pi 0.8), log p = log(1/4 / (1.6 pi)) = -3.0010278764.
// RUN: fovea-eval %s --entry mixture --objective --input 'x=[[0, 0]]' --input 'w=[[0, 0]]' --input 'r=[[0, 0]]' | FileCheck %s --check-prefix=HALF
// HALF: logp []: -2.531024247
// RUN: fovea-eval %s --entry mixture --objective --input 'x=[[0, 0]]' --input 'w=[[0, 1.0986122886681098]]' --input 'r=[[0.6, 0]]' | FileCheck %s --check-prefix=QUARTER
// QUARTER: logp []: -3.001027876
// Its mode is the mean of the most probable component.
// RUN: fovea-eval %s --entry drawn --input 'w=[[0, 1]]' --input 'r=[[0, 0]]' --length T=1 | FileCheck %s --check-prefix=MODE
// MODE: x [1, 2]: 1000 1000
attn.program @mixture {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 2], f64>
  %w = attn.data "w" : !attn.array<["T", 2], f64>
  %r = attn.data "r" : !attn.array<["T", 2], f64>
  %mean = attn.compute (%t: "T", %m: 2, %k: 2) {
    %0 = arith.index_cast %m : index to i64
    %1 = arith.sitofp %0 : i64 to f64
    %far = arith.constant 1000.0 : f64
    %2 = arith.mulf %1, %far : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 2, 2], f64>
  %sd = attn.compute (%t: "T", %m: 2, %k: 2) {
    %0 = arith.constant 1.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["T", 2, 2], f64>
  attn.choice "x" mixture ["logit", "mean", "sd", "correlation"] (%w, %mean, %sd, %r : !attn.array<["T", 2], f64>, !attn.array<["T", 2, 2], f64>, !attn.array<["T", 2, 2], f64>, !attn.array<["T", 2], f64>) observed %x : !attn.array<["T", 2], f64>
}
attn.system @drawn {
  attn.length "T"
  %w = attn.data "w" : !attn.array<["T", 2], f64>
  %r = attn.data "r" : !attn.array<["T", 2], f64>
  %mean = attn.compute (%t: "T", %m: 2, %k: 2) {
    %0 = arith.index_cast %m : index to i64
    %1 = arith.sitofp %0 : i64 to f64
    %far = arith.constant 1000.0 : f64
    %2 = arith.mulf %1, %far : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 2, 2], f64>
  %sd = attn.compute (%t: "T", %m: 2, %k: 2) {
    %0 = arith.constant 1.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["T", 2, 2], f64>
  %x = attn.choice "x" mixture ["logit", "mean", "sd", "correlation"] (%w, %mean, %sd, %r : !attn.array<["T", 2], f64>, !attn.array<["T", 2, 2], f64>, !attn.array<["T", 2, 2], f64>, !attn.array<["T", 2], f64>) -> !attn.array<["T", 2], f64>
  attn.output "x" %x : !attn.array<["T", 2], f64>
}

// Of normals a value is one number: the mean of the more probable one.
// RUN: fovea-eval %s --entry drawn_normals --input 'w=[[0, 1], [2, 1]]' --input 'm=[[3, 4], [5, 6]]' | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: x [2]: 4 5
attn.system @drawn_normals {
  attn.length "T"
  %w = attn.data "w" : !attn.array<["T", 2], f64>
  %m = attn.data "m" : !attn.array<["T", 2], f64>
  %x = attn.choice "x" mixture ["logit", "mean", "sd"] (%w, %m, %m : !attn.array<["T", 2], f64>, !attn.array<["T", 2], f64>, !attn.array<["T", 2], f64>) -> !attn.array<["T"], f64>
  attn.output "x" %x : !attn.array<["T"], f64>
}

// Without a search each element takes its mode, the lowest among equals, and
// `decode` says log p of all of them: 1/2 and 1/2 from the ties, so -2 log 2.
// RUN: fovea-eval %s --entry modes --input 'p=[[0.5, 0.5, 0], [0, 0.5, 0.5]]' | FileCheck %s --check-prefix=MODES
// RUN: fovea-eval %s --entry modes --decode --input 'p=[[0.5, 0.5, 0], [0, 0.5, 0.5]]' | FileCheck %s --check-prefixes=LOGP,MODES
// LOGP: logp -1.386294361
// MODES: y [2]: 0 1
attn.program @modes {
  attn.length "S"
  %p = attn.data "p" : !attn.array<["S", 3], f64>
  %y = attn.choice "y" categorical ["probs"] (%p : !attn.array<["S", 3], f64>) -> !attn.array<["S"], i64>
  attn.output "y" %y : !attn.array<["S"], i64>
}

// Past a nested length there is no symbol: the second row has one.
// RUN: fovea-eval %s --entry ragged --input 'l=[[1, 2, 3], [4, 99, 99]]' --length 'W=[3, 1]' | FileCheck %s --check-prefix=RAGGED
// RAGGED: y [2]: 2 0
attn.system @ragged {
  attn.length "M"
  attn.length "W" over "M"
  %l = attn.data "l" : !attn.array<["M", "W"], f64>
  %y = attn.choice "y" categorical ["logits"] (%l : !attn.array<["M", "W"], f64>) -> !attn.array<["M"], i64>
  attn.output "y" %y : !attn.array<["M"], i64>
}

// RUN: not fovea-eval %s --entry latent --objective 2>&1 | FileCheck %s --check-prefix=LATENT
// LATENT: error: {{.*}}: the objective of the latent 'z' needs an estimator
attn.system @latent {
  %p = attn.param "p" : !attn.array<[3], f64>
  %z = attn.choice "z" categorical ["probs"] (%p : !attn.array<[3], f64>) latent -> !attn.array<[], i64>
}
