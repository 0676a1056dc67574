// RUN: fovea-opt %s --attn-schedule --split-input-file --verify-diagnostics

// What has no order in the loss has none in the gradient, and is said once.
attn.system @loss {
  attn.length "T"
  // expected-error @below {{'s' is defined by itself at the same t}}
  %s = attn.compute "s" (%t: "T") {
    %0 = attn.read %s[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "s" %s : !attn.array<["T"], f64>
}
attn.system @grad {
  attn.length "T"
  %s = attn.compute "d s" (%t: "T") {
    %0 = attn.read %s[%t] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "s" %s : !attn.array<["T"], f64>
}

// -----

// An equation that only its gradient has no order for: the error speaks of the
// equation, a member of a family as the spec writes it.
attn.system @grad {
  attn.length "T"
  %p = attn.data "p" : !attn.array<["T"], i64>
  // expected-error @below {{'s[0]' has no gradient: it reads itself at a computed place, and no order computes what flows back; help: read it at an index of its own, with a condition, for example s[0][u] where u < t}}
  %s = attn.compute "d s.0" (%t: "T") {
    %place = attn.read %p[%t] : !attn.array<["T"], i64>
    %at = arith.index_cast %place : i64 to index
    %0 = attn.read %s[%at] : !attn.array<["T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T"], f64>
  attn.output "s" %s : !attn.array<["T"], f64>
}

// -----

// An axis of a value has a name that no spec has written.
attn.system @loss {
  // expected-error-re @below {{'s' is defined by itself{{$}}}}
  %s = attn.compute "s" (%d0: 4) {
    %0 = attn.read %s[%d0] : !attn.array<[4], f64>
    attn.yield %0 : f64
  } : !attn.array<[4], f64>
  attn.output "s" %s : !attn.array<[4], f64>
}
