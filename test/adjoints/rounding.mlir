// RUN: fovea-opt %s --attn-differentiate --split-input-file | FileCheck %s
// RUN: fovea-gradcheck %s --value x=0.3,-1.7,2.2,100.4

// Rounding and whole numbers carry nothing: the gradient comes from the other
// factor alone.

// CHECK-LABEL: module @floor
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           math.floor
// CHECK:           arith.mulf
// CHECK:           attn.yield
// CHECK-NOT:     "d x"
module @floor {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = math.floor %0 : f64
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// CHECK-LABEL: module @ceil
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           math.ceil
// CHECK:           arith.mulf
// CHECK:           attn.yield
// CHECK-NOT:     "d x"
module @ceil {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = math.ceil %0 : f64
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// CHECK-LABEL: module @round
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           math.round
// CHECK:           arith.mulf
// CHECK:           attn.yield
// CHECK-NOT:     "d x"
module @round {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = math.round %0 : f64
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// CHECK-LABEL: module @whole
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           arith.fptosi
// CHECK:           arith.sitofp
// CHECK:           arith.mulf
// CHECK:           attn.yield
// CHECK-NOT:     "d x"
module @whole {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = arith.fptosi %0 : f64 to i64
      %2 = arith.sitofp %1 : i64 to f64
      %3 = arith.mulf %0, %2 : f64
      attn.yield %3 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}
