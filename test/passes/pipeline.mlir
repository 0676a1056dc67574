// The order of the passes is part of the product: a change shows up here.
// RUN: fovea-opt %s --attn-pipeline --dump-pass-pipeline 2>&1 >/dev/null | FileCheck %s
// RUN: fovea-opt %s --attn-pipeline=stop-after=derive --dump-pass-pipeline 2>&1 >/dev/null | FileCheck %s --check-prefix=STOP
// RUN: fovea-opt %s --attn-pipeline=gradients=false --dump-pass-pipeline 2>&1 >/dev/null | FileCheck %s --check-prefix=FORWARD
// RUN: not fovea-opt %s --attn-pipeline=stop-after=drive 2>&1 | FileCheck %s --check-prefix=MISSPELT

// CHECK:      attn-order-equations
// CHECK-NEXT: attn-continue-rows
// CHECK-NEXT: attn-draw-latents
// CHECK-NEXT: attn-derive-objective
// CHECK-NEXT: attn-repeat-samples
// CHECK-NEXT: attn-derive-decoder
// CHECK:      attn-share-arrays
// CHECK-NEXT: attn-split-concat
// CHECK-NEXT: attn-drop-indices
// CHECK-NEXT: attn-gather-rows
// CHECK-NEXT: attn-inline{mode=expansions}
// CHECK-NEXT: attn-inherit-support
// CHECK-NEXT: attn-drop-indices{of-one=true}
// CHECK-NEXT: attn-order-factors
// CHECK-NEXT: attn-order-equations
// CHECK-NEXT: attn-remove-dropout
// CHECK-NEXT: attn-check-phase{phase=derive}
// CHECK-NEXT: attn-guard-equations
// CHECK-NEXT: attn-differentiate
// CHECK-NEXT: attn-drop-stops
// CHECK-NEXT: attn-inline{mode=expansions}
// CHECK:      attn-check-phase{phase=differentiate}
// CHECK-NEXT: attn-schedule
// CHECK:      attn-check-phase{phase=schedule}

// STOP:     attn-check-phase{phase=derive}
// STOP-NOT: attn-drop-stops

// FORWARD-NOT: attn-differentiate

// MISSPELT: Cannot find option named 'drive'!
