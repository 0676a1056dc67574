// RUN: fovea-opt %s --attn-batch --attn-split-decoder --split-input-file --verify-diagnostics

attn.program @decode {
  attn.length "T" open
  %w = attn.param "w" : !attn.array<[3], f64>
  %0 = attn.search "T" states [] (%t) carries () axes [0] {
    %y = attn.choice "y" categorical ["logits"] (%w : !attn.array<[3], f64>) end 1 : i64 -> !attn.array<[], i64>
    attn.yield %y : !attn.array<[], i64>
  } : !attn.array<["T"], i64>
  attn.length "U" open
  // expected-error @+1 {{decoding: a second search follows the first, which cannot be compiled yet; '--reference' interprets it}}
  %1 = attn.search "U" states [] (%t) carries () axes [0] {
    %y = attn.choice "z" categorical ["logits"] (%w : !attn.array<[3], f64>) end 1 : i64 -> !attn.array<[], i64>
    attn.yield %y : !attn.array<[], i64>
  } : !attn.array<["U"], i64>
  attn.output "y" %0 : !attn.array<["T"], i64>
  attn.output "z" %1 : !attn.array<["U"], i64>
}

// -----

attn.program @decode {
  attn.length "T" open
  %w = attn.param "w" : !attn.array<[3], f64>
  %0 = attn.search "T" states [] (%t) carries () axes [0] {
    %y = attn.choice "y" categorical ["logits"] (%w : !attn.array<[3], f64>) end 1 : i64 -> !attn.array<[], i64>
    attn.yield %y : !attn.array<[], i64>
  } : !attn.array<["T"], i64>
  // expected-error @+1 {{decoding: 'z' is chosen outside of the search, which cannot be compiled yet; '--reference' interprets it}}
  %z = attn.choice "z" categorical ["logits"] (%w : !attn.array<[3], f64>) -> !attn.array<[], i64>
  attn.output "y" %0 : !attn.array<["T"], i64>
  attn.output "z" %z : !attn.array<[], i64>
}

// -----

attn.program @decode {
  attn.length "T" open
  %w = attn.param "w" : !attn.array<[3], f64>
  %0 = attn.search "T" states [] (%t) carries () axes [0] {
    %s = attn.scan 2 (%i) carries () axes [0] {
      // expected-error @+1 {{decoding: 'y' is chosen in a loop inside a step, which cannot be compiled yet}}
      %y = attn.choice "y" categorical ["logits"] (%w : !attn.array<[3], f64>) -> !attn.array<[], i64>
      attn.yield %y : !attn.array<[], i64>
    } : !attn.array<[2], i64>
    attn.yield %s : !attn.array<[2], i64>
  } : !attn.array<["T", 2], i64>
  attn.output "y" %0 : !attn.array<["T", 2], i64>
}

// -----

attn.program @decode {
  attn.length "T" open
  %w = attn.param "w" : !attn.array<[3], f64>
  %none = attn.compute (%k: 3, %t: "T") {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<[3, "T"], f64>
  // expected-error @+1 {{decoding: 'k' grows along an axis that is not its first, which cannot be compiled yet}}
  %0:2 = attn.search "T" states [{name = "k", kind = "growing", window = 0 : i64, reorder = true}] (%t) carries (%keys = %none : !attn.array<[3, "T"], f64>) axes [0] {
    %y = attn.choice "y" categorical ["logits"] (%w : !attn.array<[3], f64>) end 1 : i64 -> !attn.array<[], i64>
    %longer = attn.append %keys[%t] axis 1 = %w : !attn.array<[3, "T"], f64>, !attn.array<[3], f64>
    attn.yield %longer, %y : !attn.array<[3, "T"], f64>, !attn.array<[], i64>
  } : !attn.array<[3, "T"], f64>, !attn.array<["T"], i64>
  attn.output "y" %0#1 : !attn.array<["T"], i64>
}

// -----

attn.program @decode {
  attn.length "T" open
  %w = attn.param "w" : !attn.array<[3], f64>
  %none = attn.compute (%t: "T") {
    %0 = arith.constant 0.0 : f64
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  // expected-error @+1 {{decoding: 'a' is carried and changes its length, which cannot be compiled yet}}
  %0:2 = attn.search "T" states [{name = "a", kind = "carried", window = 1 : i64, reorder = true}] (%t) carries (%before = %none : !attn.array<["T"], f64>) axes [0] {
    %y = attn.choice "y" categorical ["logits"] (%w : !attn.array<[3], f64>) end 1 : i64 -> !attn.array<[], i64>
    %next = attn.compute (%u: "T") {
      %0 = attn.read %before[%u] : !attn.array<["T"], f64>
      attn.yield %0 : f64
    } : !attn.array<["T"], f64>
    attn.yield %next, %y : !attn.array<["T"], f64>, !attn.array<[], i64>
  } : !attn.array<["T"], f64>, !attn.array<["T"], i64>
  attn.output "y" %0#1 : !attn.array<["T"], i64>
}

// -----

attn.program @decode {
  attn.length "T" open
  %w = attn.param "w" : !attn.array<[3], f64>
  %0 = attn.search "T" states [] (%t) carries () axes [0] {
    %y = attn.choice "y" categorical ["logits"] (%w : !attn.array<[3], f64>) end 1 : i64 -> !attn.array<[], i64>
    attn.yield %y : !attn.array<[], i64>
  } : !attn.array<["T"], i64>
  %sum = attn.compute () {
    %1 = arith.constant 0 : index
    %2 = attn.read %0[%1] : !attn.array<["T"], i64>
    attn.yield %2 : i64
  } : !attn.array<[], i64>
  // expected-error @+1 {{decoding: the mark 'longest' depends on what is generated, which cannot be compiled yet}}
  attn.mark "longest" %sum : !attn.array<[], i64>
  attn.output "y" %0 : !attn.array<["T"], i64>
}

// -----

attn.program @decode {
  attn.length "M"
  attn.length "W" over "M"
  %x = attn.data "x" : !attn.array<["M", "W"], f64>
  // expected-error @+1 {{decoding: 'y' is chosen from as many values as W, a nested length, says, which cannot be compiled yet}}
  %y = attn.choice "y" categorical ["logits"] (%x : !attn.array<["M", "W"], f64>) -> !attn.array<["M"], i64>
  attn.output "y" %y : !attn.array<["M"], i64>
}
