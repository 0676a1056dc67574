// RUN: fovea-opt %s --verify-diagnostics --split-input-file

// What `attn.precision` may say, and of what.

attn.program @sum {
  %x = attn.data "x" : !attn.array<[8], f64>
  // expected-error @+1 {{only a matrix product can have a precision}}
  %y = attn.compute () sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.precision = bf16} : !attn.array<[], f64>
}

// -----

// expected-error @+1 {{unsupported precision f16; only bf16 is supported}}
attn.program @half attributes {attn.precision = f16} {
}

// -----

// expected-error @+1 {{expects 'attn.precision' to be a type, but it is "bf16"}}
attn.program @text attributes {attn.precision = "bf16"} {
}
