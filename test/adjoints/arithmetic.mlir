// RUN: fovea-opt %s --attn-differentiate --split-input-file | FileCheck %s
// RUN: fovea-gradcheck %s 
// RUN: fovea-gradcheck %s --module divf --value y=1e300,-1e-3,5,2e9 --value x=1e300,0,1,2 --print | FileCheck %s --check-prefix=HUGE

// The adjoints of +, -, *, / and negation, and their numbers. A huge divisor and
// a tiny one must not make a NaN.

// HUGE: x: 1e-300 -1000 0.2 5e-10
// HUGE: y: -1e-300 {{-?}}0 -0.04 -5e-19

// CHECK-LABEL: module @addf
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           %[[G:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:           attn.yield %[[G]]
// CHECK:         attn.compute "d y" (%{{.*}}: 4)
// CHECK:           %[[G:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:           attn.yield %[[G]]
module @addf {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %y = attn.param "y" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = attn.read %y[%i] : !attn.array<[4], f64>
      %2 = arith.addf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// CHECK-LABEL: module @subf
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           %[[G:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:           attn.yield %[[G]]
// CHECK:         attn.compute "d y"
// CHECK:           %[[G:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:           %[[N:.*]] = arith.negf %[[G]]
// CHECK:           attn.yield %[[N]]
module @subf {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %y = attn.param "y" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = attn.read %y[%i] : !attn.array<[4], f64>
      %2 = arith.subf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// CHECK-LABEL: module @mulf
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           %[[G:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:           %[[Y:.*]] = attn.read
// CHECK:           arith.mulf %[[G]], %[[Y]]
module @mulf {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %y = attn.param "y" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = attn.read %y[%i] : !attn.array<[4], f64>
      %2 = arith.mulf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// CHECK-LABEL: module @divf
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           %[[G:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:           %[[Y:.*]] = attn.read
// CHECK:           arith.divf %[[G]], %[[Y]]
// CHECK:         attn.compute "d y"
// CHECK:           %[[G:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:           %[[X:.*]] = attn.read
// CHECK:           %[[Y:.*]] = attn.read
// CHECK:           %[[Q:.*]] = arith.divf %[[X]], %[[Y]]
// CHECK:           %[[GQ:.*]] = arith.mulf %[[G]], %[[Q]]
// CHECK:           %[[D:.*]] = arith.divf %[[GQ]], %[[Y]]
// CHECK:           arith.negf %[[D]]
module @divf {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %y = attn.param "y" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = attn.read %y[%i] : !attn.array<[4], f64>
      %2 = arith.divf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// CHECK-LABEL: module @negf
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           %[[G:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:           arith.negf %[[G]]
module @negf {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = arith.negf %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// A square: both factors are the same scalar.

// CHECK-LABEL: module @square
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           %[[G:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:           %[[X:.*]] = attn.read %{{.*}}[%{{.*}}] : !attn.array<[4], f64>
// CHECK:           %[[A:.*]] = arith.mulf %[[G]], %[[X]]
// CHECK:           %[[B:.*]] = arith.mulf %[[G]], %[[X]]
// CHECK:           arith.addf %[[A]], %[[B]]
module @square {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = arith.mulf %0, %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}
