// RUN: fovea-opt %s --split-input-file --attn-batch --attn-order-channels --attn-name-products | FileCheck %s

// A convolution as the prelude has it: only the order of the indices is
// another one. Its places become rows, its output channels columns.

// CHECK-LABEL: attn.program @last
attn.program @last {
  attn.length "Y"
  attn.length "X"
  %x = attn.data "x" : !attn.array<["Y", "X", 16], f64>
  %w = attn.param "w" : !attn.array<[32, 3, 3, 16], f64>
  // CHECK: %[[SUM:.*]] = attn.compute "y" (%i: "Y", %k: "X", %o: 32) sum (%j: 3, %l: 3, %c: 16)
  // CHECK: attn.read %w[%o, %j, %l, %c]
  // CHECK: attn.read %x[{{.*}}, {{.*}}, %c] default
  // CHECK: #attn.product<weights, left = 1, rows(0, 1), columns(2), terms(3, 4, 5), run(5)>
  // CHECK: %[[Y:.*]] = attn.compute ({{.*}}: 32, {{.*}}: "Y", {{.*}}: "X") {
  // CHECK: attn.output "y" %[[Y]]
  %y = attn.compute "y" (%o: 32, %i: "Y", %k: "X") sum (%j: 3, %l: 3, %c: 16) {
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1 : index
    %0 = attn.read %w[%o, %j, %l, %c] : !attn.array<[32, 3, 3, 16], f64>
    %1 = arith.addi %i, %j : index
    %2 = arith.subi %1, %one : index
    %3 = arith.addi %k, %l : index
    %4 = arith.subi %3, %one : index
    %5 = attn.read %x[%2, %4, %c] default %zero : f64 : !attn.array<["Y", "X", 16], f64>
    %6 = arith.mulf %0, %5 : f64
    attn.yield %6 : f64
  } : !attn.array<[32, "Y", "X"], f64>
  attn.output "y" %y : !attn.array<[32, "Y", "X"], f64>
}

// -----

// Channels first: the image is turned, and the weights, once for the batch.

// CHECK-LABEL: attn.program @first
attn.program @first {
  attn.length "Y"
  %x = attn.data "x" : !attn.array<[16, "Y"], f64>
  // CHECK: %[[X:.*]] = attn.compute (%d1: "Y", %d0: 16)
  // CHECK-NEXT: attn.read %x[%d0, %d1]
  // CHECK: attn.batch = "each"
  %w = attn.param "w" : !attn.array<[32, 16, 3], f64>
  // CHECK: %[[W:.*]] = attn.compute (%d2: 3, %d1: 16, %d0: 32)
  // CHECK-NEXT: attn.read %w[%d0, %d1, %d2]
  // CHECK: attn.batch = "once"
  // CHECK: attn.compute "y" (%i: "Y", %o: 32) sum (%j: 3, %c: 16)
  // CHECK: attn.read %[[W]][%j, %c, %o]
  // CHECK: attn.read %[[X]][{{.*}}, %c] default
  // CHECK: run(3)
  %y = attn.compute "y" (%o: 32, %i: "Y") sum (%c: 16, %j: 3) {
    %zero = arith.constant 0.0 : f64
    %two = arith.constant 2 : index
    %0 = attn.read %w[%o, %c, %j] : !attn.array<[32, 16, 3], f64>
    %1 = arith.muli %j, %two : index
    %2 = arith.addi %i, %1 : index
    %3 = attn.read %x[%c, %2] default %zero : f64 : !attn.array<[16, "Y"], f64>
    %4 = arith.mulf %0, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<[32, "Y"], f64>
  attn.output "y" %y : !attn.array<[32, "Y"], f64>
}

// -----

// The gradient of the weights of a convolution, whose terms are the places of
// all examples. It reads what a turned copy was made of, which is gone.

// CHECK-LABEL: attn.program @grad
attn.program @grad {
  attn.length "Y"
  %x = attn.data "x" : !attn.array<["Y", 16], f64>
  %d = attn.data "d" : !attn.array<["Y", 32], f64>
  // CHECK-NOT: attn.compute (
  %turned = attn.compute (%o: 32, %i: "Y") {
    %0 = attn.read %d[%i, %o] : !attn.array<["Y", 32], f64>
    attn.yield %0 : f64
  } : !attn.array<[32, "Y"], f64>
  // CHECK: attn.compute "d w" (%j: 3, %c: 16, %o: 32) sum (%i: "Y")
  // CHECK: attn.read %d[%i, %o]
  // CHECK: #attn.product<examples, left = 1, rows(0, 1), columns(2), terms(3), run(1)>
  // The gradient has the axes that its weights have.
  // CHECK: attn.compute (%d2: 32, %d0: 3, %d1: 16)
  %w = attn.compute "d w" (%o: 32, %j: 3, %c: 16) sum (%i: "Y") {
    %zero = arith.constant 0.0 : f64
    %0 = attn.read %turned[%o, %i] : !attn.array<[32, "Y"], f64>
    %1 = arith.addi %i, %j : index
    %2 = attn.read %x[%1, %c] default %zero : f64 : !attn.array<["Y", 16], f64>
    %3 = arith.mulf %0, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<[32, 3, 16], f64>
  attn.output "grad/w" %w : !attn.array<[32, 3, 16], f64>
}

// -----

// The gradient of the image under a stride of two: a condition says which
// places of the result a place of the image belongs to.

// CHECK-LABEL: attn.program @strided
attn.program @strided {
  attn.length "Y"
  attn.length "Z"
  %d = attn.data "d" : !attn.array<["Z", 32], f64>
  %w = attn.param "w" : !attn.array<[32, 3, 16], f64>
  // CHECK: attn.compute "d x" (%i: "Y", %c: 16) sum (%j: 3, %o: 32) where
  // CHECK: #attn.product<weights, left = 0, rows(0), columns(1), terms(2, 3), run(3)>
  %x = attn.compute "d x" (%i: "Y", %c: 16) sum (%o: 32, %j: 3) where {
    %two = arith.constant 2 : index
    %zero = arith.constant 0 : index
    %0 = arith.subi %i, %j : index
    %1 = arith.floordivsi %0, %two : index
    %2 = arith.muli %1, %two : index
    %3 = arith.cmpi eq, %0, %2 : index
    %4 = arith.cmpi sge, %1, %zero : index
    %end = attn.extent "Z"
    %5 = arith.cmpi slt, %1, %end : index
    %6 = arith.andi %3, %4 : i1
    %7 = arith.andi %6, %5 : i1
    attn.yield %7 : i1
  } {
    %two = arith.constant 2 : index
    %0 = arith.subi %i, %j : index
    %1 = arith.floordivsi %0, %two : index
    %2 = attn.read %d[%1, %o] : !attn.array<["Z", 32], f64>
    %3 = attn.read %w[%o, %j, %c] : !attn.array<[32, 3, 16], f64>
    %4 = arith.mulf %2, %3 : f64
    attn.yield %4 : f64
  } : !attn.array<["Y", 16], f64>
  attn.output "d x" %x : !attn.array<["Y", 16], f64>
}

// -----

// One channel is no run; neither is one whose places depend on the channel.

// CHECK-LABEL: attn.program @without_runs
// CHECK-NOT: attn.product
attn.program @without_runs {
  attn.length "Y"
  %x = attn.data "x" : !attn.array<["Y"], f64>
  %z = attn.data "z" : !attn.array<["Y", 16], f64>
  %w = attn.param "w" : !attn.array<[32, 9], f64>
  %v = attn.param "v" : !attn.array<[32, 16], f64>
  // CHECK: attn.compute "y" (%o: 32, %i: "Y") sum (%j: 9)
  %y = attn.compute "y" (%o: 32, %i: "Y") sum (%j: 9) {
    %zero = arith.constant 0.0 : f64
    %0 = attn.read %w[%o, %j] : !attn.array<[32, 9], f64>
    %1 = arith.addi %i, %j : index
    %2 = attn.read %x[%1] default %zero : f64 : !attn.array<["Y"], f64>
    %3 = arith.mulf %0, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<[32, "Y"], f64>
  // CHECK: attn.compute "u" (%o: 32, %i: "Y") sum (%c: 16)
  %u = attn.compute "u" (%o: 32, %i: "Y") sum (%c: 16) {
    %zero = arith.constant 0.0 : f64
    %0 = attn.read %v[%o, %c] : !attn.array<[32, 16], f64>
    %1 = arith.addi %i, %c : index
    %2 = attn.read %z[%1, %c] default %zero : f64 : !attn.array<["Y", 16], f64>
    %3 = arith.mulf %0, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<[32, "Y"], f64>
  attn.output "y" %y : !attn.array<[32, "Y"], f64>
  attn.output "u" %u : !attn.array<[32, "Y"], f64>
}

// -----

// What stands outside is not 0.

// CHECK-LABEL: attn.program @other_padding
// CHECK-NOT: attn.product
attn.program @other_padding {
  attn.length "Y"
  %x = attn.data "x" : !attn.array<["Y", 16], f64>
  %w = attn.param "w" : !attn.array<[32, 3, 16], f64>
  %y = attn.compute "y" (%o: 32, %i: "Y") sum (%j: 3, %c: 16) {
    %one = arith.constant 1.0 : f64
    %0 = attn.read %w[%o, %j, %c] : !attn.array<[32, 3, 16], f64>
    %1 = arith.addi %i, %j : index
    %2 = attn.read %x[%1, %c] default %one : f64 : !attn.array<["Y", 16], f64>
    %3 = arith.mulf %0, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<[32, "Y"], f64>
  attn.output "y" %y : !attn.array<[32, "Y"], f64>
}

// -----

// A product with weights whose rows are not the first of the result, of an array
// whose terms are not the last: the file of another program has its channels
// first. One that has both is left alone.

// CHECK-LABEL: attn.program @plain
attn.program @plain {
  %x = attn.data "x" : !attn.array<[16, 40], f64>
  // CHECK: %[[X:.*]] = attn.compute (%d1: 40, %d0: 16)
  %w = attn.param "w" : !attn.array<[32, 16], f64>
  // CHECK: %[[SUM:.*]] = attn.compute "y" (%i: 40, %o: 32) sum (%c: 16)
  // CHECK: attn.read %w[%o, %c]
  // CHECK: attn.read %[[X]][%i, %c]
  // CHECK: #attn.product<weights, left = 1, rows(0), columns(1), terms(2)>
  // CHECK: %[[Y:.*]] = attn.compute ({{.*}}: 32, {{.*}}: 40) {
  %y = attn.compute "y" (%o: 32, %i: 40) sum (%c: 16) {
    %0 = attn.read %w[%o, %c] : !attn.array<[32, 16], f64>
    %1 = attn.read %x[%c, %i] : !attn.array<[16, 40], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[32, 40], f64>
  // CHECK: attn.compute "z" (%o: 16, %d: 24) sum (%c: 40)
  // CHECK: attn.read %x[%o, %c]
  // CHECK: #attn.product<weights, left = 0, rows(0), columns(1), terms(2)>
  %v = attn.param "v" : !attn.array<[40, 24], f64>
  %z = attn.compute "z" (%o: 16, %d: 24) sum (%c: 40) {
    %0 = attn.read %x[%o, %c] : !attn.array<[16, 40], f64>
    %1 = attn.read %v[%c, %d] : !attn.array<[40, 24], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[16, 24], f64>
  // CHECK: attn.output "y" %[[Y]]
  attn.output "y" %y : !attn.array<[32, 40], f64>
  attn.output "z" %z : !attn.array<[16, 24], f64>
}
