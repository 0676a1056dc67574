// RUN: fovea-opt %s --attn-differentiate --split-input-file | FileCheck %s
// RUN: fovea-gradcheck %s --seed 1
// RUN: fovea-gradcheck %s --seed 2
// RUN: fovea-gradcheck %s --module enclosing --value x=0,0,0,0 --print | FileCheck %s --check-prefix=ZERO

// A branch that encloses a read becomes a condition of the adjoint, and its
// code is evaluated only there: no 0 * inf where x is 0.

// ZERO:        x: 0 0 0 0

// CHECK-LABEL: module @enclosing
// CHECK:       attn.compute "d x" (%{{.*}}: 4) where {
// CHECK:         arith.cmpf ogt
// CHECK:         attn.yield
// CHECK:       } {
// CHECK-NOT:     scf.if
// CHECK:         math.sqrt
module @enclosing {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %zero = arith.constant 0.0 : f64
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = arith.cmpf ogt, %0, %zero : f64
      %2 = scf.if %1 -> f64 {
        %3 = attn.read %x[%i] : !attn.array<[4], f64>
        %4 = math.sqrt %3 : f64
        %5 = math.sin %4 : f64
        scf.yield %5 : f64
      } else {
        scf.yield %zero : f64
      }
      %6 = arith.mulf %2, %2 : f64
      attn.yield %6 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// A branch that uses what is read outside of it: the adjoint of the branch is
// a branch with one value for each scalar that it uses. One branch leaves y
// alone, one returns it.

// CHECK-LABEL: module @outside
// CHECK:       attn.compute "d x" (%{{.*}}: 4) {
// CHECK:         scf.if %{{.*}} -> (f64)
// CHECK:         } else {
module @outside {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %y = attn.param "y" : !attn.array<[4], f64>
    %odd = attn.data "odd" : !attn.array<[4], i1>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = attn.read %y[%i] : !attn.array<[4], f64>
      %2 = attn.read %odd[%i] : !attn.array<[4], i1>
      %3 = arith.mulf %0, %1 : f64
      %4 = scf.if %2 -> f64 {
        %5 = math.exp %0 : f64
        %6 = arith.mulf %5, %3 : f64
        %big = arith.cmpf ogt, %6, %0 : f64
        %7 = scf.if %big -> f64 {
          %8 = math.cos %6 : f64
          scf.yield %8 : f64
        } else {
          scf.yield %3 : f64
        }
        %9 = arith.addf %7, %5 : f64
        scf.yield %9 : f64
      } else {
        scf.yield %1 : f64
      }
      %10 = arith.mulf %4, %3 : f64
      attn.yield %10 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// Nested branches: the inner condition reads what exists only under the outer
// one.

// CHECK-LABEL: module @nested
// CHECK:       %[[FIRST:.*]] = attn.compute "d x" (%[[I:.*]]: 4) where {
// CHECK:       %[[SECOND:.*]] = attn.compute "d x" (%[[I:.*]]: 4) where {
// CHECK:         %[[OUTER:.*]] = arith.cmpi sge, %[[I]]
// CHECK:         %[[BOTH:.*]] = scf.if %[[OUTER]] -> (i1) {
// CHECK:           attn.read
// CHECK:         } else {
// CHECK-NEXT:      %[[FALSE:.*]] = arith.constant false
// CHECK-NEXT:      scf.yield %[[FALSE]]
// CHECK:         attn.yield %[[BOTH]]
// CHECK:       attn.compute "d x" (%{{.*}}: 4) {
// CHECK:         attn.read %[[FIRST]]
// CHECK:         attn.read %[[SECOND]]
module @nested {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %nll = attn.compute () sum (%i: 4) {
      %zero = arith.constant 0.0 : f64
      %one = arith.constant 1 : index
      %before = arith.subi %i, %one : index
      %0 = arith.cmpi sge, %i, %one : index
      %1 = scf.if %0 -> f64 {
        %2 = attn.read %x[%before] : !attn.array<[4], f64>
        %3 = arith.cmpf olt, %2, %zero : f64
        %4 = scf.if %3 -> f64 {
          scf.yield %zero : f64
        } else {
          %5 = attn.read %x[%i] : !attn.array<[4], f64>
          %6 = arith.mulf %5, %2 : f64
          scf.yield %6 : f64
        }
        scf.yield %4 : f64
      } else {
        scf.yield %zero : f64
      }
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}

// -----

// CHECK-LABEL: module @select
// CHECK:       attn.compute "d x" (%{{.*}}: 4) {
// CHECK:         arith.select %{{.*}}, %{{.*}}, %{{.*}} : f64
module @select {
  attn.system @loss {
    %x = attn.param "x" : !attn.array<[4], f64>
    %y = attn.param "y" : !attn.array<[4], f64>
    %odd = attn.data "odd" : !attn.array<[4], i1>
    %nll = attn.compute () sum (%i: 4) {
      %0 = attn.read %x[%i] : !attn.array<[4], f64>
      %1 = attn.read %y[%i] : !attn.array<[4], f64>
      %2 = attn.read %odd[%i] : !attn.array<[4], i1>
      %3 = arith.select %2, %0, %1 : f64
      %4 = arith.mulf %3, %0 : f64
      attn.yield %4 : f64
    } : !attn.array<[], f64>
    attn.output "nll" %nll : !attn.array<[], f64>
  }
}
