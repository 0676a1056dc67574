// RUN: fovea-opt %s --attn-batch --attn-split-decoder --split-input-file --verify-diagnostics

// One loop inside a step makes choices, and not one inside another.
attn.program @decode {
  attn.length "T" open
  attn.length "S"
  %w = attn.param "w" : !attn.array<[3], f64>
  %0 = attn.search "T" states [] (%t) carries () axes [0] {
    %1 = attn.scan "S" (%i) carries () axes [0] {
      %2 = attn.scan "S" (%j) carries () axes [0] {
        // expected-error @+1 {{decoding: 'y' is chosen in a nested loop of a step, which cannot be compiled yet; help: interpret it with '--reference'}}
        %y = attn.choice "y" categorical ["logits"] (%w : !attn.array<[3], f64>) -> !attn.array<[], i64>
        attn.yield %y : !attn.array<[], i64>
      } : !attn.array<["S"], i64>
      attn.yield %2 : !attn.array<["S"], i64>
    } : !attn.array<["S", "S"], i64>
    attn.yield %1 : !attn.array<["S", "S"], i64>
  } : !attn.array<["T", "S", "S"], i64>
  attn.output "y" %0 : !attn.array<["T", "S", "S"], i64>
}

// -----

// A row is that of the step.
attn.program @decode {
  attn.length "T" open
  attn.length "M"
  attn.length "W" over "M"
  %w = attn.param "w" : !attn.array<[3], f64>
  %0 = attn.search "T" states [] (%t) carries () axes [0] {
    %1 = attn.scan "W" (%i) carries () axes [0] {
      // expected-error @+1 {{decoding: 'y' is chosen as often as W says of another index than that of the step, which cannot be compiled yet; help: interpret it with '--reference'}}
      %y = attn.choice "y" categorical ["logits"] (%w : !attn.array<[3], f64>) -> !attn.array<[], i64>
      attn.yield %y : !attn.array<[], i64>
    } : !attn.array<["W"], i64>
    attn.yield %1 : !attn.array<["W"], i64>
  } : !attn.array<["T", "W"], i64>
  attn.output "y" %0 : !attn.array<["T", "W"], i64>
}

// -----

// What is forbidden after a loop is not a single choice.
attn.program @decode {
  attn.length "T" open
  attn.length "S"
  %w = attn.param "w" : !attn.array<[3], f64>
  %0 = attn.search "T" states [] (%t) carries () axes [0] {
    %1 = attn.scan "S" (%i) carries () axes [0] {
      %y = attn.choice "y" categorical ["logits"] (%w : !attn.array<[3], f64>) -> !attn.array<[], i64>
      attn.yield %y : !attn.array<[], i64>
    } : !attn.array<["S"], i64>
    %good = attn.compute () all (%i: "S") {
      %2 = attn.read %1[%i] : !attn.array<["S"], i64>
      %3 = arith.trunci %2 : i64 to i1
      attn.yield %3 : i1
    } : !attn.array<[], i1>
    // expected-error @+1 {{decoding: the mark 'valid' judges 'y', which is chosen in a loop inside a step, which cannot be compiled yet; help: interpret it with '--reference'}}
    attn.mark "valid" %good : !attn.array<[], i1>
    attn.yield %1 : !attn.array<["S"], i64>
  } : !attn.array<["T", "S"], i64>
  attn.output "y" %0 : !attn.array<["T", "S"], i64>
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
  // expected-error @+1 {{decoding: the mark 'longest' depends on what is generated, which cannot be compiled yet; help: interpret it with '--reference'}}
  attn.mark "longest" %sum : !attn.array<[], i64>
  attn.output "y" %0 : !attn.array<["T"], i64>
}

// -----

attn.program @decode {
  attn.length "M"
  attn.length "W" over "M"
  %x = attn.data "x" : !attn.array<["M", "W"], f64>
  // expected-error @+1 {{decoding: 'y' is chosen from as many values as W, a nested length, says, which cannot be compiled yet; help: interpret it with '--reference'}}
  %y = attn.choice "y" categorical ["logits"] (%x : !attn.array<["M", "W"], f64>) -> !attn.array<["M"], i64>
  attn.output "y" %y : !attn.array<["M"], i64>
}

// -----

// A score ranks what a loop has chosen, too.
attn.program @decode {
  attn.length "M"
  attn.length "W" over "M"
  %w = attn.param "w" : !attn.array<[3], f64>
  %rank = attn.param "rank" : !attn.array<[], f64>
  %all = attn.search "M" states [] known (%m) carries () axes [0] {
    %row = attn.scan "W" (%j) carries () axes [0] {
      %tag = attn.choice "tag" categorical ["logits"] (%w : !attn.array<[3], f64>) -> !attn.array<[], i64>
      attn.yield %tag : !attn.array<[], i64>
    } : !attn.array<["W"], i64>
    // expected-error @+1 {{decoding: the mark 'score' judges 'tag', which is chosen in a loop inside a step, which cannot be compiled yet; help: interpret it with '--reference'}}
    attn.mark "score" %rank : !attn.array<[], f64>
    attn.yield %row : !attn.array<["W"], i64>
  } : !attn.array<["M", "W"], i64>
  attn.output "tag" %all : !attn.array<["M", "W"], i64>
}

// -----

module {
  attn.program @decode {
    attn.length "T" open
    attn.length "W"
    %w = attn.param "w" : !attn.array<[3], f64>
    %none = attn.compute (%t: "T") {
      %0 = arith.constant 0 : i64
      attn.yield %0 : i64
    } : !attn.array<["T"], i64>
    %last:2 = attn.search "T" states [{name = "a", kind = "growing", window = 0 : i64, reorder = true}] (%t) carries (%past = %none : !attn.array<["T"], i64>) axes [0] {
      %a = attn.choice "a" categorical ["logits"] (%w : !attn.array<[3], f64>) end 1 : i64 -> !attn.array<[], i64>
      // expected-error @+1 {{decoding: a loop of choices is the first to read what the step appends, which cannot be compiled yet; help: interpret it with '--reference'}}
      %longer = attn.append %past[%t] axis 0 = %a : !attn.array<["T"], i64>, !attn.array<[], i64>
      %row = attn.scan "W" (%j) carries () axes [0] {
        %p = attn.compute "p" (%v: 3) {
          %0 = attn.read %longer[%t] : !attn.array<["T"], i64>
          %1 = arith.sitofp %0 : i64 to f64
          attn.yield %1 : f64
        } : !attn.array<[3], f64>
        %b = attn.choice "b" categorical ["logits"] (%p : !attn.array<[3], f64>) -> !attn.array<[], i64>
        attn.yield %b : !attn.array<[], i64>
      } : !attn.array<["W"], i64>
      attn.yield %longer, %a : !attn.array<["T"], i64>, !attn.array<[], i64>
    } : !attn.array<["T"], i64>, !attn.array<["T"], i64>
    attn.output "a" %last#1 : !attn.array<["T"], i64>
  }
}
