// RUN: fovea-opt %s --verify-diagnostics --split-input-file

// Attributes.def declares the attributes of the dialect. Others are refused,
// and so are other values and other ops.

attn.program @unknown {
  // expected-error @+1 {{'attn.data' op has the unknown attribute 'attn.fase'; help: did you mean 'attn.phase'?}}
  %x = attn.data "x" {attn.fase = 3 : i64} : !attn.array<[8], f64>
}

// -----

attn.program @far {
  // expected-error @+1 {{has the unknown attribute 'attn.partial'; help: dialect/Attributes.def declares all attributes}}
  %x = attn.data "x" {attn.partial = 99 : i64} : !attn.array<[8], f64>
}

// -----

// expected-error @+1 {{expects 'attn.model' to be a string, but it is 5 : i64}}
module attributes {attn.model = 5 : i64} {
}

// -----

attn.program @name {
  // expected-error @+1 {{expects 'attn.place' to be "example" or "buffer", but it is "here"}}
  %x = attn.data "x" {attn.place = "here"} : !attn.array<[8], f64>
}

// -----

attn.program @value {
  // expected-error @+1 {{expects 'attn.batch' to be "once", "each" or "sum", but it is 5 : i64}}
  %x = attn.data "x" {attn.batch = 5 : i64} : !attn.array<[8], f64>
}

// -----

attn.program @owner {
  // expected-error @+1 {{cannot have 'attn.stays'; only a loop can}}
  %x = attn.data "x" {attn.stays} : !attn.array<[8], f64>
}

// -----

attn.program @outside {
  // expected-error @+1 {{cannot have 'attn.phase'; only an op of a scan's body can}}
  %x = attn.data "x" {attn.phase = 0 : i64} : !attn.array<[8], f64>
}

// -----

attn.program @twice {
  %x = attn.data "x" : !attn.array<["T"], f64>
  %y = attn.kernel strips over "T" outer ["T"] {
    // expected-error @+1 {{shares index 0 twice}}
    %z = attn.compute (%t: "T", %u: "T") {
      %0 = attn.read %x[%t] : !attn.array<["T"], f64>
      attn.yield %0 : f64
    } {attn.shared = array<i64: 0, 0>} : !attn.array<["T", "T"], f64>
    attn.yield %z : !attn.array<["T", "T"], f64>
  } : !attn.array<["T", "T"], f64>
}
