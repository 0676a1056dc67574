// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-place-arrays))"

attn.program @unbatched {
  // expected-error @+1 {{'attn.data' op has no 'attn.batch', which 'attn-batch' adds}}
  %x = attn.data "x" : !attn.array<[4], f64>
  attn.output "y" %x : !attn.array<[4], f64>
}

// -----

attn.program @no_columns {
  %x = attn.data "x" {attn.batch = "each"} : !attn.array<[16], f64>
  // expected-error @+1 {{'attn.kernel' op has no equations of equal width after its products}}
  %y = attn.kernel columns {
    %own = attn.compute "y" (%i: 16) {
      %0 = attn.read %x[%i] : !attn.array<[16], f64>
      attn.yield %0 : f64
    } {attn.batch = "each"} : !attn.array<[16], f64>
    attn.yield %own : !attn.array<[16], f64>
  } : !attn.array<[16], f64>
  attn.output "y" %y : !attn.array<[16], f64>
}

// -----

attn.program @no_attention {
  attn.length "T" {attn.batch = "each"}
  %x = attn.data "x" {attn.batch = "each"} : !attn.array<["T", 16], f64>
  // expected-error @+1 {{'attn.kernel' op has 'keys', but the target "x86-64-v3" does not decide that}}
  %y = attn.kernel strips over "T" keys 64 {
    %own = attn.compute "y" (%t: "T", %i: 16) {
      %0 = attn.read %x[%t, %i] : !attn.array<["T", 16], f64>
      attn.yield %0 : f64
    } {attn.batch = "each", attn.shared = array<i64: 0>} : !attn.array<["T", 16], f64>
    attn.yield %own : !attn.array<["T", 16], f64>
  } : !attn.array<["T", 16], f64>
  attn.output "y" %y : !attn.array<["T", 16], f64>
}

// -----

attn.program @no_attention_of_gpu attributes {attn.target = #nvidia.target<"chip", shared_bytes = 65536>} {
  attn.length "T" {attn.batch = "each"}
  %x = attn.data "x" {attn.batch = "each"} : !attn.array<["T", 16], f64>
  // expected-error @+1 {{'attn.kernel' op takes 64 keys at a time but is not an attention of 64 at a time}}
  %y = attn.kernel strips over "T" keys 64 {
    %own = attn.compute "y" (%t: "T", %i: 16) {
      %0 = attn.read %x[%t, %i] : !attn.array<["T", 16], f64>
      attn.yield %0 : f64
    } {attn.batch = "each", attn.shared = array<i64: 0>} : !attn.array<["T", 16], f64>
    attn.yield %own : !attn.array<["T", 16], f64>
  } : !attn.array<["T", 16], f64>
  attn.output "y" %y : !attn.array<["T", 16], f64>
}
