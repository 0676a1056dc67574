// Rows of several lengths: the largest counts, so that no two places share a
// number.
// RUN: fovea-gradcheck %s --length M=3 --length W=2,0,3
// RUN: fovea-gradcheck %s --length M=3 --length W=1,3,2 --value x=1,0,0,9,2,3,4,5,0 --value w=7 --print | FileCheck %s --check-prefix=RAGGED
// RUN: fovea-opt %s --attn-differentiate | FileCheck %s

// RAGGED: x: 0 0 0 7 0 0 0 0 0
// CHECK-LABEL: module @ragged
// CHECK:       attn.compute "adjoint of y" () argmax (%{{.*}}: "M", %{{.*}}: "W")
// CHECK:       attn.extent largest "W"
module @ragged {
  attn.system @loss {
    attn.length "M"
    attn.length "W" over "M"
    %x = attn.param "x" : !attn.array<[3, 3], f64>
    %w = attn.data "w" : !attn.array<[], f64>
    %y = attn.compute "y" () max (%m: "M", %k: "W") {
      %0 = attn.read %x[%m, %k] : !attn.array<[3, 3], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    %nll = attn.compute "nll" () {
      %0 = attn.read %y[] : !attn.array<[], f64>
      %1 = attn.read %w[] : !attn.array<[], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}
