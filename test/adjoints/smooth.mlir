// RUN: fovea-opt %s --attn-differentiate --split-input-file | FileCheck %s
// RUN: fovea-gradcheck %s 
// RUN: fovea-gradcheck %s --module tanh --value x=-1000,1000,1e308,-1e308 --print | FileCheck %s --check-prefix=FLAT
// RUN: fovea-gradcheck %s --module erf --value x=-1000,1000,1e308,-1e308 --print | FileCheck %s --check-prefix=FLAT
// RUN: fovea-gradcheck %s --module sigmoid --value x=-1000,1000,1e308,-1e308 --print | FileCheck %s --check-prefix=FLAT
// RUN: fovea-gradcheck %s --module softplus --value x=-1000,1000,1e308,-1e308 --print | FileCheck %s --check-prefix=STEP

// tanh, sin, cos, erf, sigmoid and softplus: numbers, and arguments so large that
// a formula with exp would give inf / inf.

// FLAT: x: {{-?}}0 {{-?}}0 {{-?}}0 {{-?}}0

// CHECK-LABEL: module @tanh
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           %[[G:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:           %[[Y:.*]] = math.tanh
// CHECK:           %[[YY:.*]] = arith.mulf %[[Y]], %[[Y]]
// CHECK:           %[[D:.*]] = arith.subf %{{.*}}, %[[YY]]
// CHECK:           arith.mulf %[[G]], %[[D]]
module @tanh {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = math.tanh %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// CHECK-LABEL: module @sin
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           math.cos
module @sin {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = math.sin %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// CHECK-LABEL: module @cos
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           math.sin
// CHECK:           arith.negf
module @cos {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = math.cos %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// CHECK-LABEL: module @erf
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           arith.mulf
// CHECK:           arith.negf
// CHECK:           math.exp
module @erf {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = math.erf %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// CHECK-LABEL: module @sigmoid
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           %[[G:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:           %[[Y:.*]] = attn.sigmoid
// CHECK:           %[[N:.*]] = arith.subf %{{.*}}, %[[Y]]
// CHECK:           %[[D:.*]] = arith.mulf %[[Y]], %[[N]]
// CHECK:           arith.mulf %[[G]], %[[D]]
module @sigmoid {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = attn.sigmoid %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// STEP: x: 0 1 1 0

// CHECK-LABEL: module @softplus
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           %[[G:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:           %[[Y:.*]] = attn.sigmoid
// CHECK:           arith.mulf %[[G]], %[[Y]]
module @softplus {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = attn.softplus %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}
