// RUN: fovea-opt %s --attn-quantise-products --split-input-file --verify-diagnostics

// A product of two arrays of an example stays as it is.

// expected-error @+1 {{the model has no matrix product with weights, which '--precision int8' is for; help: leave the option out}}
module {
  attn.system @loss {
    attn.length "T"
    %x = attn.data "x" : !attn.array<["T", 16], f64>
    %w = attn.param "w" : !attn.array<[20, 16], f64>
    %y = attn.compute "y" (%t: "T", %u: "T") sum (%k: 16) order(chain, fused) {
      %0 = attn.read %x[%t, %k] : !attn.array<["T", 16], f64>
      %1 = attn.read %x[%u, %k] : !attn.array<["T", 16], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<["T", "T"], f64>
    attn.output "y" %y : !attn.array<["T", "T"], f64>
  }
}
