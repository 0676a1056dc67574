// RUN: fovea-opt %s --attn-schedule --split-input-file --verify-diagnostics

// The next symbol.
attn.system @future {
  attn.length "T" open
  // expected-error-re @below {{decoding: 'y' (line {{[0-9]+}}) reads tgt[t+1], which is not generated yet at step t}}
  %y = attn.compute "y" (%t: "T", %k: 3) {
    %none = arith.constant 0 : i64
    %one = arith.constant 1 : index
    %next = arith.addi %t, %one : index
    %0 = attn.read %tgt[%next] default %none : i64 : !attn.array<["T"], i64>
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T", 3], f64>
  %tgt = attn.choice "tgt" categorical ["logits"] (%y : !attn.array<["T", 3], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "tgt" %tgt : !attn.array<["T"], i64>
}

// -----

// All of the sentence, through an array that has no name of its own.
attn.system @whole {
  attn.length "T" open
  %e = attn.compute (%t: "T", %k: 3) {
    %0 = attn.read %tgt[%t] : !attn.array<["T"], i64>
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T", 3], f64>
  // expected-error-re @below {{decoding: 'bias' (line {{[0-9]+}}) averages over all of tgt, whose length T is known only at the end}}
  %bias = attn.compute "bias" (%k: 3) mean (%t: "T") {
    %0 = attn.read %e[%t, %k] : !attn.array<["T", 3], f64>
    attn.yield %0 : f64
  } : !attn.array<[3], f64>
  %l = attn.compute "l" (%t: "T", %k: 3) {
    %0 = attn.read %bias[%k] : !attn.array<[3], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 3], f64>
  %tgt = attn.choice "tgt" categorical ["logits"] (%l : !attn.array<["T", 3], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "tgt" %tgt : !attn.array<["T"], i64>
}

// -----

// Attention without a mask.
attn.system @not_causal {
  attn.length "T" open
  %y = attn.compute "y" (%t: "T", %k: 3) {
    %none = arith.constant 0 : i64
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %tgt[%before] default %none : i64 : !attn.array<["T"], i64>
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T", 3], f64>
  // expected-error-re @below {{decoding: 'a' (line {{[0-9]+}}) reads all of y, which is not generated yet at step t}}
  %score = attn.compute (%t: "T", %u: "T") sum (%k: 3) {
    %0 = attn.read %y[%t, %k] : !attn.array<["T", 3], f64>
    %1 = attn.read %y[%u, %k] : !attn.array<["T", 3], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %a = attn.compute "a" (%t: "T") softmax (%u: "T") {
    %0 = attn.read %score[%t, %u] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "T"], f64>
  %c = attn.compute "c" (%t: "T", %k: 3) sum (%u: "T") {
    %0 = attn.read %a[%t, %u] : !attn.array<["T", "T"], f64>
    %1 = attn.read %y[%u, %k] : !attn.array<["T", 3], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 3], f64>
  %tgt = attn.choice "tgt" categorical ["logits"] (%c : !attn.array<["T", 3], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "tgt" %tgt : !attn.array<["T"], i64>
}

// -----

// The same where the length is given.
attn.system @not_causal_known {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T"], f64>
  // expected-error-re @below {{decoding: 'l' (line {{[0-9]+}}) reads all of tag, which is not generated yet at step t}}
  %l = attn.compute "l" (%t: "T", %k: 3) sum (%u: "T") {
    %0 = attn.read %tag[%u] : !attn.array<["T"], i64>
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T", 3], f64>
  %tag = attn.choice "tag" categorical ["logits"] (%l : !attn.array<["T", 3], f64>) -> !attn.array<["T"], i64>
  attn.output "tag" %tag : !attn.array<["T"], i64>
}

// -----

// The length as a number.
attn.system @length {
  attn.length "T" open
  // expected-error-re @below {{decoding: 'l' (line {{[0-9]+}}) uses the length T, which is known only at the end}}
  %l = attn.compute "l" (%t: "T", %k: 3) {
    %T = attn.extent "T"
    %0 = arith.index_cast %T : index to i64
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T", 3], f64>
  %tgt = attn.choice "tgt" categorical ["logits"] (%l : !attn.array<["T", 3], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "tgt" %tgt : !attn.array<["T"], i64>
}

// -----

// A sum over all positions, though of nothing that is generated.
attn.system @every {
  attn.length "T" open
  // expected-error-re @below {{decoding: 'l' (line {{[0-9]+}}) sums over every u, whose length T is known only at the end}}
  %l = attn.compute "l" (%t: "T", %k: 3) sum (%u: "T") {
    %0 = arith.constant 1.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["T", 3], f64>
  %tgt = attn.choice "tgt" categorical ["logits"] (%l : !attn.array<["T", 3], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "tgt" %tgt : !attn.array<["T"], i64>
}

// -----

// A row of the step before, at a place that it does not have yet.
attn.system @row {
  attn.length "T" open
  // expected-error-re @below {{decoding: 'cov' (line {{[0-9]+}}) reads cov[t-1,u] for every u, which is not generated yet at step t}}
  %cov = attn.compute "cov" (%t: "T", %u: "T") {
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1 : index
    %before = arith.subi %t, %one : index
    %0 = attn.read %cov[%before, %u] default %zero : f64 : !attn.array<["T", "T"], f64>
    %1 = attn.read %tgt[%before] default %zero : f64 : !attn.array<["T"], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", "T"], f64>
  %l = attn.compute "l" (%t: "T") sum (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %cov[%t, %u] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %tgt = attn.choice "tgt" normal ["mean", "sd"] (%l, %l : !attn.array<["T"], f64>, !attn.array<["T"], f64>) -> !attn.array<["T"], f64>
  attn.output "tgt" %tgt : !attn.array<["T"], f64>
}

// -----

// An equation of the step that needs itself.
attn.system @itself {
  attn.length "T" open
  // expected-error-re @below {{'y' is defined by itself through tgt (line {{[0-9]+}}) at the same t}}
  %y = attn.compute "y" (%t: "T", %k: 3) {
    %0 = attn.read %tgt[%t] : !attn.array<["T"], i64>
    %1 = arith.sitofp %0 : i64 to f64
    attn.yield %1 : f64
  } : !attn.array<["T", 3], f64>
  // expected-note @below {{'tgt' is defined here}}
  %tgt = attn.choice "tgt" categorical ["logits"] (%y : !attn.array<["T", 3], f64>) end 1 : i64 -> !attn.array<["T"], i64>
  attn.output "tgt" %tgt : !attn.array<["T"], i64>
}

// -----

// Two generated names of two lengths that need each other.
attn.system @mutual {
  attn.length "T" open
  attn.length "U" open
  // expected-note @below {{'p' depends on both, and both on it}}
  %p = attn.compute "p" (%t: "T") max (%u: "U") {
    %0 = attn.read %b[%u] : !attn.array<["U"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  // expected-error-re @below {{decoding: 'a' (line {{[0-9]+}}), generated along T, and 'b' (line {{[0-9]+}}), generated along U, need each other, so that neither can be generated first}}
  %a = attn.choice "a" normal ["mean", "sd"] (%p, %p : !attn.array<["T"], f64>, !attn.array<["T"], f64>) -> !attn.array<["T"], f64>
  %q = attn.compute "q" (%u: "U") max (%t: "T") {
    %0 = attn.read %a[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["U"], f64>
  %b = attn.choice "b" normal ["mean", "sd"] (%q, %q : !attn.array<["U"], f64>, !attn.array<["U"], f64>) -> !attn.array<["U"], f64>
  attn.output "a" %a : !attn.array<["T"], f64>
  attn.output "b" %b : !attn.array<["U"], f64>
}

// -----

// The same without an index for the step.
attn.system @every_place {
  attn.length "T" open
  // expected-error-re @below {{decoding: 'a' (line {{[0-9]+}}) normalises over every place, whose length T is known only at the end}}
  %a = attn.compute "a" () softmax (%u: "T") {
    %0 = arith.constant 1.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %l = attn.compute "l" (%t: "T") {
    %0 = attn.read %a[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %tgt = attn.choice "tgt" normal ["mean", "sd"] (%l, %l : !attn.array<["T"], f64>, !attn.array<["T"], f64>) -> !attn.array<["T"], f64>
  attn.output "tgt" %tgt : !attn.array<["T"], f64>
}

// -----

// A number of the encoder that would need the length.
attn.system @length_before {
  attn.length "T" open
  attn.length "T+1" is affine_map<()[s0] -> (s0 + 1)> ["T"]
  // expected-error-re @below {{decoding: 'a' (line {{[0-9]+}}) uses the length T, which is known only at the end}}
  %a = attn.compute "a" () sum (%u: "T+1") {
    %0 = arith.constant 1.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  %l = attn.compute "l" (%t: "T") {
    %0 = attn.read %a[] : !attn.array<[], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  %tgt = attn.choice "tgt" normal ["mean", "sd"] (%l, %l : !attn.array<["T"], f64>, !attn.array<["T"], f64>) -> !attn.array<["T"], f64>
  attn.output "tgt" %tgt : !attn.array<["T"], f64>
}
