// RUN: fovea-opt %s --verify-diagnostics --split-input-file

attn.system @target {
  %bit = attn.data "bit" : !attn.array<["T"], i1>
  // expected-error @+1 {{marks 'best' but only 'valid', 'stop', 'score' and 'longest' steer a search}}
  attn.mark "best" %bit : !attn.array<["T"], i1>
}

// -----

attn.system @c1_stop {
  %x = attn.data "x" : !attn.array<["T"], f64>
  // expected-error @+1 {{marks 'stop' with 'f64' but needs 'i1'}}
  attn.mark "stop" %x : !attn.array<["T"], f64>
}

// -----

attn.system @c1_score {
  %x = attn.data "x" : !attn.array<["T"], i1>
  // expected-error @+1 {{marks 'score' with 'i1' but needs 'f64'}}
  attn.mark "score" %x : !attn.array<["T"], i1>
}

// -----

attn.system @c1_longest {
  %x = attn.data "x" : !attn.array<[], f64>
  // expected-error @+1 {{marks 'longest' with 'f64' but needs 'i64'}}
  attn.mark "longest" %x : !attn.array<[], f64>
}
