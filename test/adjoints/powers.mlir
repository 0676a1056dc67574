// RUN: fovea-opt %s --attn-differentiate --split-input-file | FileCheck %s
// RUN: fovea-gradcheck %s --value x=0.5,1,2,3 --value y=2,-1,0.5,3
// RUN: fovea-gradcheck %s --module exp --value x=-1000,0,700,-1e308 --print | FileCheck %s --check-prefix=EXP
// RUN: fovea-gradcheck %s --module sqrt --value x=0,4,1e300,1 --print | FileCheck %s --check-prefix=SQRT
// RUN: fovea-gradcheck %s --module powf --value x=0,0,-2,5 --value y=2,0,3,0 --print | FileCheck %s --check-prefix=POW
// RUN: fovea-gradcheck %s --module square --value x=0,-2,3,1e100 --print | FileCheck %s --check-prefix=SQUARE

// exp, log, log1p, sqrt and powers. A power has derivative 0 with respect to its
// exponent where the base is 0, and with respect to its base where the exponent
// is 0: never NaN. sqrt is infinite at 0, as it is.

// EXP: x: 0 1 1.01423e+304 0

// CHECK-LABEL: module @exp
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           %[[G:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:           %[[X:.*]] = attn.read %{{.*}}[%{{.*}}] : !attn.array<[4], f64>
// CHECK:           %[[E:.*]] = math.exp %[[X]]
// CHECK:           arith.mulf %[[G]], %[[E]]
module @exp {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = math.exp %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// CHECK-LABEL: module @log
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           %[[G:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:           %[[X:.*]] = attn.read %{{.*}}[%{{.*}}] : !attn.array<[4], f64>
// CHECK:           arith.divf %[[G]], %[[X]]
module @log {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = math.log %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// CHECK-LABEL: module @log1p
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           %[[G:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:           arith.addf
// CHECK:           arith.divf %[[G]]
module @log1p {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = math.log1p %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// SQRT: x: inf 0.25 5e-151 0.5

// CHECK-LABEL: module @sqrt
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           %[[G:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:           %[[HALF:.*]] = arith.mulf %[[G]]
// CHECK:           %[[ROOT:.*]] = math.sqrt
// CHECK:           arith.divf %[[HALF]], %[[ROOT]]
module @sqrt {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = math.sqrt %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// With respect to y at x < 0 there is no derivative, so only x is printed.

// POW: x: 0 0 12 0

// CHECK-LABEL: module @powf
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           math.powf
// CHECK:           arith.cmpf oeq
// CHECK:           arith.select
// CHECK-NOT:     "d y"
module @powf {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %y = attn.data "y" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = attn.read %y[%i] : !attn.array<[4], f64>
      %2 = math.powf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// CHECK-LABEL: module @exponent
// CHECK:         attn.compute "d y" (%{{.*}}: 4)
// CHECK:           math.powf
// CHECK:           math.log
// CHECK:           arith.cmpf oeq
// CHECK:           arith.select
module @exponent {
  attn.system @loss {
    %x = attn.data "x" : !attn.array<[4], f64>
    %y = attn.param "y" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = attn.read %y[%i] : !attn.array<[4], f64>
      %2 = math.powf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// SQUARE: x: 0 -4 6 2e+100

// CHECK-LABEL: module @square
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           math.powf
module @square {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %two = arith.constant 2.0 : f64
      %1 = math.powf %0, %two : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}
