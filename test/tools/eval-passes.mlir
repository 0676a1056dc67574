// fovea-eval names the first pass that changes what a program gives. The mistake
// is planted: a product becomes a sum after a pass.

// RUN: fovea-eval %s --entry p --input 'x=[1, 2, 3]' --pipeline='attn-batch,attn-fuse-elementwise,attn.program(attn-form-rows)' | FileCheck %s --check-prefix=GOOD
// GOOD: no pass changes what 'p' gives

// RUN: not fovea-eval %s --entry p --input 'x=[1, 2, 3]' --pipeline='attn-batch,attn-fuse-elementwise,attn.program(attn-form-rows)' --plant=attn-fuse-elementwise 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: 'p' gives something else after 'attn-fuse-elementwise': 'y' is 14 but {{.*}} at element 0

// RUN: not fovea-eval %s --entry p --input 'x=[1, 2, 3]' --pipeline='attn-nonsense' 2>&1 | FileCheck %s --check-prefix=PASSES
// PASSES: error: the passes fail

attn.program @p {
  attn.length "S"
  %x = attn.data "x" : !attn.array<["S"], f64>
  %a = attn.compute "a" (%i: "S") {
    %0 = attn.read %x[%i] : !attn.array<["S"], f64>
    %1 = arith.mulf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["S"], f64>
  %y = attn.compute "y" () sum (%i: "S") {
    %0 = attn.read %a[%i] : !attn.array<["S"], f64>
    attn.yield %0 : f64
  } : !attn.array<[], f64>
  attn.output "y" %y : !attn.array<[], f64>
}
