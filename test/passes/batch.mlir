// RUN: fovea-opt %s --attn-batch | FileCheck %s

// Parameters, and what depends on them alone, a batch has once. What depends
// on data, or has a length, every example has. The gradient of a parameter is
// a sum over all positions of all examples, not a sum of arrays.

// CHECK-LABEL: attn.program @grad
attn.program @grad {
  attn.length "T"
  // CHECK: attn.param "w" {attn.batch = "once"}
  %w = attn.param "w" : !attn.array<[4, 3], f64>
  // CHECK: attn.data "x" {attn.batch = "each"}
  %x = attn.data "x" : !attn.array<["T", 3], f64>
  %seed = attn.data "seed.nll" : !attn.array<[], f64>
  // CHECK: attn.compute "square"
  // CHECK: {attn.batch = "once"}
  %square = attn.compute "square" (%i: 4, %j: 3) {
    %0 = attn.read %w[%i, %j] : !attn.array<[4, 3], f64>
    %1 = arith.mulf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[4, 3], f64>
  // CHECK: attn.compute "count"
  // CHECK: {attn.batch = "each"}
  %count = attn.compute "count" () {
    %0 = attn.extent "T"
    %1 = arith.index_cast %0 : index to i64
    attn.yield %1 : i64
  } : !attn.array<[], i64>
  // CHECK: attn.compute "y"
  // CHECK: {attn.batch = "each"}
  %y = attn.compute "y" (%t: "T", %i: 4) sum (%j: 3) {
    %0 = attn.read %square[%i, %j] : !attn.array<[4, 3], f64>
    %1 = attn.read %x[%t, %j] : !attn.array<["T", 3], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<["T", 4], f64>

  // The sum goes through the addition into both contractions.
  // CHECK: attn.compute "first"
  // CHECK: {attn.batch = "sum"}
  %first = attn.compute "first" (%i: 4, %j: 3) sum (%t: "T") {
    %0 = attn.read %y[%t, %i] : !attn.array<["T", 4], f64>
    %1 = attn.read %x[%t, %j] : !attn.array<["T", 3], f64>
    %2 = arith.mulf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[4, 3], f64>
  // What is repeated is summed before it is repeated.
  // CHECK: attn.compute "second"
  // CHECK: {attn.batch = "once"}
  %second = attn.compute "second" (%i: 4, %j: 3) {
    %0 = attn.read %seed[] : !attn.array<[], f64>
    attn.yield %0 : f64
  } : !attn.array<[4, 3], f64>
  // CHECK: attn.compute "both"
  // CHECK: {attn.batch = "once"}
  // CHECK: attn.output "grad/w" %both
  %both = attn.compute "both" (%i: 4, %j: 3) {
    %0 = attn.read %first[%i, %j] : !attn.array<[4, 3], f64>
    %1 = attn.read %second[%i, %j] : !attn.array<[4, 3], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[4, 3], f64>
  attn.output "grad/w" %both : !attn.array<[4, 3], f64>

  // A product of two sums is no sum of products: it is added up as it is.
  // CHECK: attn.compute "product"
  // CHECK: {attn.batch = "sum"}
  // CHECK: attn.output "grad/v" %product
  %product = attn.compute "product" (%i: 4) {
    %zero = arith.constant 0 : index
    %0 = attn.read %y[%zero, %i] : !attn.array<["T", 4], f64>
    %1 = arith.mulf %0, %0 : f64
    attn.yield %1 : f64
  } : !attn.array<[4], f64>
  attn.output "grad/v" %product : !attn.array<[4], f64>

  // One place of an array with a length is no sum of such arrays.
  // CHECK: attn.compute "rows"
  // CHECK: {attn.batch = "each"}
  // CHECK: attn.compute "row"
  // CHECK: {attn.batch = "sum"}
  %rows = attn.compute "rows" (%t: "T", %i: 4) {
    %0 = attn.read %y[%t, %i] : !attn.array<["T", 4], f64>
    attn.yield %0 : f64
  } : !attn.array<["T", 4], f64>
  %row = attn.compute "row" (%i: 4) {
    %zero = arith.constant 0 : index
    %0 = attn.read %rows[%zero, %i] : !attn.array<["T", 4], f64>
    attn.yield %0 : f64
  } : !attn.array<[4], f64>
  attn.output "grad/u" %row : !attn.array<[4], f64>
}

// A loop that runs as long for every example and reads no data is one for all;
// a loop over a length never is.

// CHECK-LABEL: attn.program @loops
attn.program @loops {
  attn.length "T"
  %w = attn.param "w" : !attn.array<[], f64>
  // CHECK: attn.scan 3
  // CHECK: attn.compute
  // CHECK: {attn.batch = "once"}
  // CHECK: {attn.batch = "once"}
  %power = attn.scan 3 (%k) carries (%before = %w : !attn.array<[], f64>) axes [] {
    %next = attn.compute () {
      %0 = attn.read %before[] : !attn.array<[], f64>
      %1 = arith.mulf %0, %0 : f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.yield %next : !attn.array<[], f64>
  } : !attn.array<[], f64>
  // CHECK: attn.scan "T"
  // CHECK: attn.compute
  // CHECK: {attn.batch = "each"}
  // CHECK: {attn.batch = "each"}
  %long = attn.scan "T" (%t) carries (%before = %w : !attn.array<[], f64>) axes [] {
    %next = attn.compute () {
      %0 = attn.read %before[] : !attn.array<[], f64>
      attn.yield %0 : f64
    } : !attn.array<[], f64>
    attn.yield %next : !attn.array<[], f64>
  } : !attn.array<[], f64>
  attn.output "power" %power : !attn.array<[], f64>
  attn.output "long" %long : !attn.array<[], f64>
}

// What is chosen from the same numbers is still every example's own.
// CHECK-LABEL: attn.program @choices
attn.program @choices {
  %w = attn.param "w" : !attn.array<[3], f64>
  // CHECK: attn.choice "y"
  // CHECK-SAME: {attn.batch = "each"}
  %y = attn.choice "y" categorical ["logits"] (%w : !attn.array<[3], f64>) -> !attn.array<[], i64>
  attn.output "y" %y : !attn.array<[], i64>
}
