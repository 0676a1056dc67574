// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-check-phase{phase=memory}))"

// A target refuses decisions that only another one makes; the program is for a CPU.

attn.program @stays {
  %zero = attn.data "zero" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<[], f64>
  // expected-error @+1 {{has 'attn.stays', but the target "x86-64-v3" does not decide that}}
  %last = attn.scan 3 (%i) carries (%before = %zero : !attn.array<[], f64>) axes [] {
    %next = attn.compute () {
      %0 = attn.read %before[] : !attn.array<[], f64>
      attn.yield %0 : f64
    } {attn.batch = "each", attn.location = #attn.location<own 2>, attn.units = #attn.units<examples>} : !attn.array<[], f64>
    attn.yield %next : !attn.array<[], f64>
  } : !attn.array<[], f64> {attn.batch = "each", attn.carries = [#attn.location<own 3>], attn.locations = [#attn.location<own 1>], attn.stays}
  attn.output "y" %last : !attn.array<[], f64>
}

// -----

attn.program @config {
  %x = attn.data "x" {attn.batch = "each", attn.location = #attn.location<argument 0>} : !attn.array<[8], f64>
  // expected-error @+1 {{has 'attn.config', but the target "x86-64-v3" does not decide that}}
  %y = attn.compute () sum (%k: 8) {
    %0 = attn.read %x[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } {attn.batch = "each", attn.config = #nvidia.block<32>, attn.location = #attn.location<own 1>, attn.units = #attn.units<examples>} : !attn.array<[], f64>
  attn.output "y" %y : !attn.array<[], f64>
}

// -----

// expected-error @+1 {{'attn.target' to be the target of a folder in targets/, but it is "x86"}}
attn.program @text attributes {attn.target = "x86"} {
}
