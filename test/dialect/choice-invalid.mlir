// RUN: fovea-opt %s --verify-diagnostics --split-input-file

attn.system @c1_neither {
  %l = attn.data "l" : !attn.array<["T", 97], f64>
  // expected-error @+1 {{has either an observed array or a result}}
  attn.choice "tgt" categorical ["logits"] (%l : !attn.array<["T", 97], f64>)
}

// -----

attn.system @c1_both {
  %l = attn.data "l" : !attn.array<["T", 97], f64>
  %tgt = attn.data "tgt" : !attn.array<["T"], i64>
  // expected-error @+1 {{has either an observed array or a result}}
  %0 = attn.choice "tgt" categorical ["logits"] (%l : !attn.array<["T", 97], f64>) observed %tgt : !attn.array<["T"], i64> -> !attn.array<["T"], i64>
}

// -----

attn.system @c2_count {
  %l = attn.data "l" : !attn.array<["T", 97], f64>
  // expected-error @+1 {{names 2 parameters but has 1}}
  %0 = attn.choice "tgt" categorical ["logits", "probs"] (%l : !attn.array<["T", 97], f64>) -> !attn.array<["T"], i64>
}

// -----

attn.system @c2_names {
  %l = attn.data "l" : !attn.array<["T", 97], f64>
  // expected-error @+1 {{draws from categorical, whose parameters differ from ["logit"]}}
  %0 = attn.choice "tgt" categorical ["logit"] (%l : !attn.array<["T", 97], f64>) -> !attn.array<["T"], i64>
}

// -----

attn.system @c3_axes {
  // expected-note @+1 {{'logits' comes from here}}
  %l = attn.data "l" : !attn.array<["S", 97], f64>
  // expected-error @+1 {{draws '!attn.array<["T"], i64>' but its 'logits' is '!attn.array<["S", 97], f64>'}}
  %0 = attn.choice "tgt" categorical ["logits"] (%l : !attn.array<["S", 97], f64>) -> !attn.array<["T"], i64>
}

// -----

attn.system @c3_no_event {
  // expected-note @+1 {{'logits' comes from here}}
  %l = attn.data "l" : !attn.array<["T"], f64>
  // expected-error @+1 {{draws '!attn.array<["T"], i64>' but its 'logits' is '!attn.array<["T"], f64>'}}
  %0 = attn.choice "tgt" categorical ["logits"] (%l : !attn.array<["T"], f64>) -> !attn.array<["T"], i64>
}

// -----

attn.system @c3_element {
  // expected-note @+1 {{'prob' comes from here}}
  %p = attn.data "p" : !attn.array<["T"], i64>
  // expected-error @+1 {{draws '!attn.array<["T"], i1>' but its 'prob' is '!attn.array<["T"], i64>'}}
  %0 = attn.choice "bit" bernoulli ["prob"] (%p : !attn.array<["T"], i64>) -> !attn.array<["T"], i1>
}

// -----

attn.system @c3_pairs {
  %w = attn.data "w" : !attn.array<[20], f64>
  %m = attn.data "m" : !attn.array<[20, 2], f64>
  // expected-error @+1 {{draws pairs but gives '!attn.array<[3], f64>'}}
  %0 = attn.choice "stroke" mixture ["logit", "mean", "sd", "correlation"] (%w, %m, %m, %w : !attn.array<[20], f64>, !attn.array<[20, 2], f64>, !attn.array<[20, 2], f64>, !attn.array<[20], f64>) -> !attn.array<[3], f64>
}

// -----

attn.system @c4_weight {
  %p = attn.data "p" : !attn.array<["T"], f64>
  %w = attn.data "w" : !attn.array<["S"], f64>
  %y = attn.data "y" : !attn.array<["T"], i1>
  // expected-error @+1 {{draws '!attn.array<["T"], i1>' but its 'weight' is '!attn.array<["S"], f64>'}}
  attn.choice "y" bernoulli ["prob"] (%p : !attn.array<["T"], f64>) observed %y : !attn.array<["T"], i1> weight %w : !attn.array<["S"], f64>
}

// -----

attn.system @c5_bits {
  %p = attn.data "p" : !attn.array<["T"], f64>
  // expected-error @+1 {{draws from bernoulli, whose values are 'i1', but gives '!attn.array<["T"], i64>'}}
  %y = attn.choice "y" bernoulli ["prob"] (%p : !attn.array<["T"], f64>) -> !attn.array<["T"], i64>
}

// -----

attn.system @c5_symbols {
  %l = attn.data "l" : !attn.array<["T", 2], f64>
  %y = attn.data "y" : !attn.array<["T"], i1>
  // expected-error @+1 {{draws from categorical, whose values are 'i64', but gives '!attn.array<["T"], i1>'}}
  attn.choice "y" categorical ["logits"] (%l : !attn.array<["T", 2], f64>) observed %y : !attn.array<["T"], i1>
}

// -----

attn.system @c5_numbers {
  %m = attn.data "m" : !attn.array<["T"], f64>
  // expected-error @+1 {{draws from normal, whose values are 'f64', but gives '!attn.array<["T"], i64>'}}
  %y = attn.choice "y" normal ["mean", "sd"] (%m, %m : !attn.array<["T"], f64>, !attn.array<["T"], f64>) latent -> !attn.array<["T"], i64>
}
