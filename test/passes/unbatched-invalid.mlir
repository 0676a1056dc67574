// Passes that ask how a batch has an array may be run alone, on anything.

// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-store-rows
// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-split-decoder
// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-order-channels
// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-pad-windows
// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-factor-products
// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-order-indices
// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-fuse-elementwise
// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-narrow-scans
// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-expose-products
// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-join-sums
// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-guard-rows
// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-split-members
// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-shorten-lives
// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-name-products
// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-widen-factors))"
// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-choose-precision))"
// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-split-adjoints))"
// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-form-strips))"
// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-form-epilogues))"
// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-share-loops))"
// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-tile-keys))"
// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-form-places))"
// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-form-sums))"
// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-form-rows))"
// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-divide-work))"
// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-choose-blocks))"
// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-choose-tiles))"
// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-leave-rows))"
// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-list-rows))"
// RUN: fovea-opt %s --verify-diagnostics --split-input-file "--pass-pipeline=builtin.module(attn.program(attn-guard-steps))"
// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-check-phase=phase=batch
// RUN: fovea-opt %s --verify-diagnostics --split-input-file --attn-check-phase=phase=kernels

attn.program @decode {
  // expected-error @+1 {{'attn.data' op has no 'attn.batch', which 'attn-batch' adds}}
  %x = attn.data "x" : !attn.array<[4], f64>
  attn.output "y" %x : !attn.array<[4], f64>
}

// -----

attn.program @decode {
  %x = attn.data "x" {attn.batch = "each"} : !attn.array<[4], f64>
  // expected-error @+1 {{'attn.compute' op expects 'attn.batch' to be "once", "each" or "sum", but it is "twice"}}
  %y = attn.compute "y" (%i: 4) {
    %0 = attn.read %x[%i] : !attn.array<[4], f64>
    attn.yield %0 : f64
  } {attn.batch = "twice"} : !attn.array<[4], f64>
  attn.output "y" %y : !attn.array<[4], f64>
}
