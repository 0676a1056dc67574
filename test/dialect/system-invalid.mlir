// RUN: fovea-opt %s --allow-unregistered-dialect --verify-diagnostics --split-input-file

// expected-error @+1 {{has 1 arguments, but its inputs have names}}
"attn.system"() <{sym_name = "c1_arguments"}> ({
^bb0(%x: !attn.array<[], f64>):
}) : () -> ()

// -----

// A system reads nothing from around it.
"test.around"() ({
  %x = attn.data "x" : !attn.array<["S"], f64>
  // expected-note @+1 {{required by region isolation constraints}}
  attn.system @inner {
    // expected-error @+1 {{using value defined outside the region}}
    attn.output "x" %x : !attn.array<["S"], f64>
  }
}) : () -> ()
