// RUN: fovea-opt %s --attn-batch --attn-fuse-elementwise | FileCheck %s

// CHECK-LABEL: attn.program @loss
attn.program @loss {
  attn.length "T"
  %x = attn.data "x" : !attn.array<["T", 8], f64>
  %w = attn.param "w" : !attn.array<[8, 8], f64>

  // A chain of elementwise equations is one equation.
  // CHECK-NOT: "gate"
  // CHECK:      attn.compute "open"
  // CHECK-NEXT:   attn.read %x
  // CHECK-NEXT:   arith.addf
  // CHECK-NEXT:   attn.sigmoid
  // CHECK-NEXT:   attn.yield
  %gate = attn.compute "gate" (%t: "T", %k: 8) {
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 8], f64>
    %1 = arith.addf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %open = attn.compute "open" (%t: "T", %k: 8) {
    %0 = attn.read %gate[%t, %k] : !attn.array<["T", 8], f64>
    %1 = attn.sigmoid %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>

  // So is dropout: its words are drawn in the loop of who reads it. What it
  // drops is read by a product, which has to find it as an array.
  // CHECK-NOT: "noisy"
  // CHECK:      attn.compute "kept" (%[[T:.*]]: "T", %[[K:.*]]: 8)
  // CHECK:        attn.random[%{{.*}}] ordinal 0 word 0 : i64
  // CHECK-NOT:  attn.random
  // CHECK:      attn.compute "dropped"
  %noisy = attn.compute "noisy" (%t: "T", %k: 8) {
    %limit = arith.constant 1000 : i64
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1.0 : f64
    %c8 = arith.constant 8 : index
    %row = arith.muli %t, %c8 : index
    %place = arith.addi %row, %k : index
    %word = attn.random [%place] ordinal 0 word 0 : i64
    %isDropped = arith.cmpi slt, %word, %limit : i64
    %factor = arith.select %isDropped, %zero, %one : f64
    %0 = attn.read %x[%t, %k] : !attn.array<["T", 8], f64>
    %1 = arith.mulf %0, %factor : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %kept = attn.compute "kept" (%t: "T", %k: 8) {
    %0 = attn.read %noisy[%t, %k] : !attn.array<["T", 8], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %dropped = attn.compute "dropped" (%t: "T", %j: 8) sum (%k: 8) {
    %0 = attn.read %w[%j, %k] : !attn.array<[8, 8], f64>
    %1 = attn.read %kept[%t, %k] : !attn.array<["T", 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 8], f64>
  attn.output "dropped" %dropped : !attn.array<["T", 8], f64>

  // What is read twice is computed once.
  // CHECK: attn.compute "twice"
  // CHECK: attn.compute "first"
  // CHECK: attn.compute "second"
  %twice = attn.compute "twice" (%t: "T", %k: 8) {
    %0 = attn.read %open[%t, %k] : !attn.array<["T", 8], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %first = attn.compute "first" (%t: "T", %k: 8) {
    %0 = attn.read %twice[%t, %k] : !attn.array<["T", 8], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  // What a larger equation reads would be computed more often in it, and the
  // factors of a matrix product stay arrays.
  // CHECK: attn.compute "product"
  // CHECK-NEXT: attn.read %w
  // CHECK-NEXT: attn.read %second
  %second = attn.compute "second" (%t: "T", %k: 8) {
    %0 = attn.read %twice[%t, %k] : !attn.array<["T", 8], f64>
    %1 = arith.negf %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %product = attn.compute "product" (%t: "T", %d: 8) sum (%k: 8) {
    %0 = attn.read %w[%d, %k] : !attn.array<[8, 8], f64>
    %1 = attn.read %second[%t, %k] : !attn.array<["T", 8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 8], f64>

  // One equation may read it as often as it likes.
  // CHECK-NOT: "shifted"
  // CHECK:     attn.compute "swish"
  // CHECK-NEXT:  attn.read %second
  // CHECK-NEXT:  %[[SHIFTED:.*]] = arith.negf
  // CHECK-NEXT:  %[[GATE:.*]] = attn.sigmoid %[[SHIFTED]]
  // CHECK-NEXT:  arith.mulf %[[SHIFTED]], %[[GATE]]
  %shifted = attn.compute "shifted" (%t: "T", %k: 8) {
    %0 = attn.read %second[%t, %k] : !attn.array<["T", 8], f64>
    %1 = arith.negf %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", 8], f64>
  %swish = attn.compute "swish" (%t: "T", %k: 8) {
    %0 = attn.read %shifted[%t, %k] : !attn.array<["T", 8], f64>
    %1 = attn.read %shifted[%t, %k] : !attn.array<["T", 8], f64>
    %2 = attn.sigmoid %1 : f64
    %3 = arith.mulf %0, %2 : f64
    attn.yield %3 : f64
  } : !attn.array<["T", 8], f64>

  // A condition is gone where the reader has it as well, and stays where the
  // reader needs its zeros.
  // CHECK-NOT: "scaled"
  // CHECK: attn.compute "weights"
  // CHECK: math.sqrt
  // CHECK: attn.compute "zeros"
  // CHECK: attn.compute "everywhere"
  %scaled = attn.compute "scaled" (%t: "T", %u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %c0 = arith.constant 0 : index
    %0 = attn.read %product[%u, %c0] : !attn.array<["T", 8], f64>
    %1 = math.sqrt %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "T"], f64>
  %weights = attn.compute "weights" (%t: "T") softmax (%u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %scaled[%t, %u] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "T"], f64>
  %zeros = attn.compute "zeros" (%t: "T", %u: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %c0 = arith.constant 0 : index
    %0 = attn.read %product[%u, %c0] : !attn.array<["T", 8], f64>
    %1 = math.sqrt %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "T"], f64>
  %everywhere = attn.compute "everywhere" (%t: "T") softmax (%u: "T") {
    %0 = attn.read %zeros[%t, %u] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "T"], f64>

  // Its indices may stand in another order, unless a condition says where it
  // is zero. A vector times a matrix is no product of matrices.
  // CHECK-NOT: "bent"
  // CHECK:      attn.compute "score"
  // CHECK:        attn.read %w
  // CHECK-NEXT:   attn.read %product
  // CHECK-NEXT:   math.tanh
  // CHECK:      attn.compute "below"
  // CHECK:      attn.compute "turned"
  // CHECK-NEXT:   attn.read %below
  %bent = attn.compute "bent" (%k: 8, %t: "T") {
    %0 = attn.read %product[%t, %k] : !attn.array<["T", 8], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[8, "T"], f64>
  %score = attn.compute "score" (%t: "T") sum (%k: 8) {
    %c0 = arith.constant 0 : index
    %0 = attn.read %w[%c0, %k] : !attn.array<[8, 8], f64>
    %1 = attn.read %bent[%k, %t] : !attn.array<[8, "T"], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T"], f64>
  %below = attn.compute "below" (%u: "T", %t: "T") where {
    %0 = arith.cmpi sle, %u, %t : index
    attn.yield %0 : i1
  } {
    %0 = attn.read %score[%u] : !attn.array<["T"], f64>
    %1 = math.sqrt %0 : f64
    attn.yield %1 : f64
  } : !attn.array<["T", "T"], f64>
  %turned = attn.compute "turned" (%t: "T") softmax (%u: "T") {
    %0 = attn.read %below[%u, %t] : !attn.array<["T", "T"], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", "T"], f64>

  // An array of which each reader takes a part of its own is gone, however it is
  // seen.
  // CHECK-NOT: "biased"
  // CHECK:      attn.compute "part"
  // CHECK:        %[[AT:.*]] = arith.addi %{{.*}}, %c4
  // CHECK-NEXT:   attn.read %summed[%[[AT]]]
  // CHECK-NEXT:   math.exp
  // CHECK-NEXT:   math.tanh
  // CHECK:      attn.compute "rest"
  // CHECK-NEXT:   attn.read %summed
  // CHECK-NEXT:   math.exp
  %summed = attn.compute "summed" (%d: 8) sum (%t: "T") {
    %0 = attn.read %x[%t, %d] : !attn.array<["T", 8], f64>
    attn.yield %0 : f64
  } : !attn.array<[8], f64>
  %biased = attn.compute "biased" (%d: 8) {
    %0 = attn.read %summed[%d] : !attn.array<[8], f64>
    %1 = math.exp %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[8], f64>
  %parts = attn.reshape %biased keep 0 : !attn.array<[8], f64> -> !attn.array<[2, 4], f64>
  %part = attn.compute "part" (%k: 4) {
    %c1 = arith.constant 1 : index
    %0 = attn.read %parts[%c1, %k] : !attn.array<[2, 4], f64>
    %1 = math.tanh %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[4], f64>
  %rest = attn.compute "rest" (%k: 4) {
    %0 = attn.read %biased[%k] : !attn.array<[8], f64>
    attn.yield %0 : f64
  } : !attn.array<[4], f64>

  // Not where parts overlap, unless it is as cheap as a read.
  // CHECK: attn.compute "costly"
  // CHECK-NOT: "cheap"
  // CHECK: attn.compute "low"
  // CHECK: attn.compute "lower"
  %costly = attn.compute "costly" (%d: 8) {
    %0 = attn.read %summed[%d] : !attn.array<[8], f64>
    %1 = math.exp %0 : f64
    %2 = arith.mulf %1, %0 : f64
    attn.yield %2 : f64
  } : !attn.array<[8], f64>
  %cheap = attn.compute "cheap" (%d: 8) {
    %0 = attn.read %summed[%d] : !attn.array<[8], f64>
    %1 = arith.negf %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[8], f64>
  %low = attn.compute "low" (%k: 4) {
    %0 = attn.read %costly[%k] : !attn.array<[8], f64>
    %1 = attn.read %cheap[%k] : !attn.array<[8], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[4], f64>
  %lower = attn.compute "lower" (%k: 4) {
    %c2 = arith.constant 2 : index
    %at = arith.addi %k, %c2 : index
    %0 = attn.read %costly[%at] : !attn.array<[8], f64>
    %1 = attn.read %cheap[%at] : !attn.array<[8], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[4], f64>
  attn.output "swish" %swish : !attn.array<["T", 8], f64>
  attn.output "part" %part : !attn.array<[4], f64>
  attn.output "rest" %rest : !attn.array<[4], f64>
  attn.output "low" %low : !attn.array<[4], f64>
  attn.output "lower" %lower : !attn.array<[4], f64>

  // A copy is gone; another order of the same elements is no copy.
  // CHECK-NOT: "copy"
  // CHECK: attn.compute "mirror"
  // CHECK: attn.output "copy" %product
  %copy = attn.compute "copy" (%t: "T", %k: 8) {
    %0 = attn.read %product[%t, %k] : !attn.array<["T", 8], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 8], f64>
  %mirror = attn.compute "mirror" (%t: "T", %k: 8) {
    %seven = arith.constant 7 : index
    %other = arith.subi %seven, %k : index
    %0 = attn.read %product[%t, %other] : !attn.array<["T", 8], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 8], f64>
  attn.output "weights" %weights : !attn.array<["T", "T"], f64>
  attn.output "everywhere" %everywhere : !attn.array<["T", "T"], f64>
  attn.output "turned" %turned : !attn.array<["T", "T"], f64>
  attn.output "copy" %copy : !attn.array<["T", 8], f64>
  attn.output "mirror" %mirror : !attn.array<["T", 8], f64>
  attn.output "open" %open : !attn.array<["T", 8], f64>
  attn.output "first" %first : !attn.array<["T", 8], f64>
}
