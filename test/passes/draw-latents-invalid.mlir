// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-draw-latents

attn.system @training {
  %p = attn.data "p" : !attn.array<[3], f64>
  // expected-error @+1 {{'place' is a latent choice that nothing says how to treat}}
  %place = attn.choice "place" categorical ["probs"] (%p : !attn.array<[3], f64>) latent -> !attn.array<[], i64>
}

// -----

attn.system @training {
  %p = attn.data "p" : !attn.array<[3], f64>
  // expected-error @+1 {{'expected' of 'place' takes the mean of what is read at a place, so 'place' stands only in brackets of arrays of numbers; 'reinforce' has no such limit}}
  %place = attn.choice "place" categorical ["probs"] (%p : !attn.array<[3], f64>) latent treated {kind = "expected"} -> !attn.array<[], i64>
  %twice = attn.compute "twice" () {
    %0 = attn.read %place[] : !attn.array<[], i64>
    // expected-note @+1 {{it is used otherwise here}}
    %1 = arith.addi %0, %0 : i64
    attn.yield %1 : i64
  } : !attn.array<[], i64>
  attn.output "twice" %twice : !attn.array<[], i64>
}

// -----

// The mean of a number depends on one place, and its deviation on another.
attn.system @training {
  attn.length "T"
  %y = attn.data "y" : !attn.array<["T", "T"], f64>
  %p = attn.param "p" : !attn.array<["T", 3], f64>
  %m = attn.param "m" : !attn.array<[3], f64>
  // expected-error @+1 {{'enumerate' of 'z' sums over the values of each place and of the one before it; 'reinforce' has no such limit}}
  %z = attn.choice "z" categorical ["logits"] (%p : !attn.array<["T", 3], f64>) latent treated {kind = "enumerate"} -> !attn.array<["T"], i64>
  %mean = attn.compute (%a: "T", %b: "T") {
    %0 = attn.read %z[%a] : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %m[%1] : !attn.array<[3], f64>
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %sd = attn.compute (%a: "T", %b: "T") {
    %0 = attn.read %z[%b] : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = attn.read %m[%1] : !attn.array<[3], f64>
    %3 = math.exp %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["T", "T"], f64>
  // expected-note @+1 {{this depends on it at other places}}
  attn.choice "y" normal ["mean", "sd"] (%mean, %sd : !attn.array<["T", "T"], f64>, !attn.array<["T", "T"], f64>) observed %y : !attn.array<["T", "T"], f64>
}
