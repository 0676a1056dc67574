// RUN: fovea-opt %s --verify-diagnostics --split-input-file

// (C1)
attn.system @format {
  attn.compute () {
    %0 = arith.constant 1.0 : f64
    // expected-error @+1 {{'attn.rounded' op rounds to 'f16'; only bf16 is supported}}
    %1 = attn.rounded %0 to f16
    attn.yield %1 : f64
  } : !attn.array<[], f64>
}

// -----

// (C9) of attn.compute
attn.system @whole {
  %x = attn.data "x" : !attn.array<[4], f64>
  // expected-error @+1 {{'attn.compute' op gives bf16 but yields a number that it does not round}}
  attn.compute (%n: 4) {
    %0 = attn.read %x[%n] : !attn.array<[4], f64>
    attn.yield %0 : f64
  } : !attn.array<[4], bf16>
}
