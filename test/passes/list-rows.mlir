// RUN: fovea-opt %s --split-input-file "--pass-pipeline=builtin.module(attn-batch,attn-order-sums,attn.program(attn-list-rows))" | FileCheck %s

// The gradient of an embedding: the rows of words that occur. Its bias has the
// same terms, which are counted once.

// CHECK-LABEL: attn.program @word
attn.program @word attributes {attn.lists_rows} {
  attn.length "T"
  %word = attn.data "word" : !attn.array<["T"], i64>
  %d = attn.data "d" : !attn.array<["T", 64], f64>
  // CHECK:      [[COUNT:%.*]] = attn.compute (%w: 3000) sum (%t: "T") order(chain) where {
  // CHECK:        [[TOKEN:%.*]] = attn.read %word[%t]
  // CHECK:        arith.cmpi eq
  // CHECK:      } {
  // CHECK:        [[ONE:%.*]] = arith.constant 1.0
  // CHECK-NEXT:   attn.yield [[ONE]]
  // CHECK-NEXT: } {attn.batch = "sum"} : !attn.array<[3000], f64>
  // CHECK:      [[ROWS:%.*]] = attn.compute "g" (%w: 3000, %k: 64) sum (%t: "T")
  // CHECK:      {attn.batch = "sum", partial} : !attn.array<[3000, 64], f64>
  %g = attn.compute "g" (%w: 3000, %k: 64) sum (%t: "T") where {
    %0 = attn.read %word[%t] : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = arith.cmpi eq, %1, %w : index
    attn.yield %2 : i1
  } {
    %0 = attn.read %d[%t, %k] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<[3000, 64], f64>
  // CHECK-NOT:  sum
  // CHECK:      [[BIAS:%.*]] = attn.compute "b" (%w: 3000) sum (%t: "T")
  // CHECK:      {attn.batch = "sum", partial} : !attn.array<[3000], f64>
  %b = attn.compute "b" (%w: 3000) sum (%t: "T") where {
    %0 = attn.read %word[%t] : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = arith.cmpi eq, %1, %w : index
    attn.yield %2 : i1
  } {
    %zero = arith.constant 0 : index
    %0 = attn.read %d[%t, %zero] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<[3000], f64>
  // CHECK:      attn.output "part.0/emb.weight" [[ROWS]]
  // CHECK-NEXT: attn.output "terms.0/emb.weight" [[COUNT]]
  // CHECK-NEXT: attn.output "part.0/emb.bias" [[BIAS]]
  // CHECK-NEXT: attn.output "terms.0/emb.bias" [[COUNT]]
  attn.output "grad/emb.weight" %g : !attn.array<[3000, 64], f64>
  attn.output "grad/emb.bias" %b : !attn.array<[3000], f64>
}

// -----

// Two parts, in the order of their sum. Nothing adds all rows.

// CHECK-LABEL: attn.program @parts
attn.program @parts attributes {attn.lists_rows} {
  attn.length "T"
  %word = attn.data "word" : !attn.array<["T"], i64>
  %next = attn.data "next" : !attn.array<["T"], i64>
  %d = attn.data "d" : !attn.array<["T", 64], f64>
  // CHECK: [[FIRST:%.*]] = attn.compute "first"
  %first = attn.compute "first" (%w: 3000, %k: 64) sum (%t: "T") where {
    %0 = attn.read %word[%t] : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = arith.cmpi eq, %1, %w : index
    attn.yield %2 : i1
  } {
    %0 = attn.read %d[%t, %k] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<[3000, 64], f64>
  // CHECK: [[SECOND:%.*]] = attn.compute "second"
  %second = attn.compute "second" (%w: 3000, %k: 64) sum (%t: "T") where {
    %0 = attn.read %next[%t] : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = arith.cmpi eq, %1, %w : index
    attn.yield %2 : i1
  } {
    %0 = attn.read %d[%t, %k] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<[3000, 64], f64>
  // CHECK-NOT:  attn.compute
  // CHECK:      attn.output "part.0/emb" [[SECOND]]
  // CHECK-NEXT: attn.output "terms.0/emb"
  // CHECK-NEXT: attn.output "part.1/emb" [[FIRST]]
  // CHECK-NEXT: attn.output "terms.1/emb"
  %sum = attn.compute (%w: 3000, %k: 64) {
    %0 = attn.read %second[%w, %k] : !attn.array<[3000, 64], f64>
    %1 = attn.read %first[%w, %k] : !attn.array<[3000, 64], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[3000, 64], f64>
  attn.output "grad/emb" %sum : !attn.array<[3000, 64], f64>
}

// -----

// Not: a part that has all rows, and programs whose callers take arrays.

// CHECK-LABEL: attn.program @penalty
attn.program @penalty attributes {attn.lists_rows} {
  attn.length "T"
  %word = attn.data "word" : !attn.array<["T"], i64>
  %d = attn.data "d" : !attn.array<["T", 64], f64>
  %emb = attn.param "emb" : !attn.array<[3000, 64], f64>
  %g = attn.compute "g" (%w: 3000, %k: 64) sum (%t: "T") where {
    %0 = attn.read %word[%t] : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = arith.cmpi eq, %1, %w : index
    attn.yield %2 : i1
  } {
    %0 = attn.read %d[%t, %k] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<[3000, 64], f64>
  %sum = attn.compute (%w: 3000, %k: 64) {
    %0 = attn.read %g[%w, %k] : !attn.array<[3000, 64], f64>
    %1 = attn.read %emb[%w, %k] : !attn.array<[3000, 64], f64>
    %2 = arith.addf %0, %1 : f64
    attn.yield %2 : f64
  } : !attn.array<[3000, 64], f64>
  // CHECK-NOT: partial
  // CHECK: attn.output "grad/emb"
  attn.output "grad/emb" %sum : !attn.array<[3000, 64], f64>
}

// CHECK-LABEL: attn.program @whole
attn.program @whole {
  attn.length "T"
  %word = attn.data "word" : !attn.array<["T"], i64>
  %d = attn.data "d" : !attn.array<["T", 64], f64>
  %g = attn.compute "g" (%w: 3000, %k: 64) sum (%t: "T") where {
    %0 = attn.read %word[%t] : !attn.array<["T"], i64>
    %1 = arith.index_cast %0 : i64 to index
    %2 = arith.cmpi eq, %1, %w : index
    attn.yield %2 : i1
  } {
    %0 = attn.read %d[%t, %k] : !attn.array<["T", 64], f64>
    attn.yield %0 : f64
  } : !attn.array<[3000, 64], f64>
  // CHECK-NOT: partial
  // CHECK: attn.output "grad/emb"
  attn.output "grad/emb" %g : !attn.array<[3000, 64], f64>
}
