// RUN: fovea-opt %s --attn-differentiate --split-input-file | FileCheck %s
// RUN: fovea-gradcheck %s 
// RUN: fovea-gradcheck %s --module maximumf --value x=1,2,0,inf --value y=1,1,3,inf --print | FileCheck %s --check-prefix=MAX
// RUN: fovea-gradcheck %s --module minimumf --value x=1,2,0,1 --value y=1,1,3,1 --print | FileCheck %s --check-prefix=MIN
// RUN: fovea-gradcheck %s --module relu --value x=0,-0,1e308,-1e308 --print | FileCheck %s --check-prefix=RELU
// RUN: fovea-gradcheck %s --module absf --value x=0,-0,1e308,-1e308 --print | FileCheck %s --check-prefix=ABS

// maximumf gives its adjoint to the first operand where that is at least as
// large, minimumf where it is at most as large: one of two equals gets all, and
// maximumf(0, x) has derivative 0 at 0. absf has derivative 0 at 0.

// MAX: x: 1 1 0 1
// MAX: y: 0 0 1 0

// CHECK-LABEL: module @maximumf
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           %[[G:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:           %[[X:.*]] = attn.read %{{.*}}[%{{.*}}] : !attn.array<[4], f64>
// CHECK:           %[[Y:.*]] = attn.read
// CHECK:           %[[FIRST:.*]] = arith.cmpf oge, %[[X]], %[[Y]]
// CHECK:           arith.select %[[FIRST]], %[[G]], %{{.*}}
module @maximumf {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %y = attn.param "y" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = attn.read %y[%i] : !attn.array<[4], f64>
      %2 = arith.maximumf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// MIN: x: 1 0 1 1
// MIN: y: 0 1 0 0

// CHECK-LABEL: module @minimumf
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           %[[G:.*]] = attn.read %{{.*}}[] : !attn.array<[], f64>
// CHECK:           %[[X:.*]] = attn.read %{{.*}}[%{{.*}}] : !attn.array<[4], f64>
// CHECK:           %[[Y:.*]] = attn.read
// CHECK:           %[[FIRST:.*]] = arith.cmpf ole, %[[X]], %[[Y]]
// CHECK:           arith.select %[[FIRST]], %[[G]], %{{.*}}
module @minimumf {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %y = attn.param "y" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = attn.read %y[%i] : !attn.array<[4], f64>
      %2 = arith.minimumf %0, %1 : f64
      attn.yield %2 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// RELU: x: 0 0 1 0

// CHECK-LABEL: module @relu
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           arith.cmpf oge
module @relu {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %zero = arith.constant 0.0 : f64
      %1 = arith.maximumf %zero, %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// ABS: x: 0 0 1 -1

// CHECK-LABEL: module @absf
// CHECK:         attn.compute "d x" (%{{.*}}: 4)
// CHECK:           arith.cmpf olt
// CHECK:           arith.cmpf ogt
module @absf {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = math.absf %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}
