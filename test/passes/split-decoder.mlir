// RUN: fovea-opt %s --attn-batch --attn-split-decoder --split-input-file | FileCheck %s

// What the step reads of the example is an output of @encode; a state is data;
// what a batch has once is a parameter.

// CHECK:       attn.decoder encode @encode search "T" {
// CHECK-NEXT:    attn.decoder.state "y" from "encode/[[BEGIN:[0-9]+]]" next "choice/0" : !attn.array<[], i64>
// CHECK-NEXT:    attn.decoder.state "k" next "value/[[ROW:[0-9]+]]" appended by @step : !attn.array<["T", 8], f64>
// CHECK-NEXT:    attn.decoder.run @step
// CHECK-NEXT:    attn.decoder.choice "y" categorical ["logp"] of ["logp/0"] : [!attn.array<[9], f64>] end 1 : i64 -> !attn.array<[], i64>
// CHECK-NEXT:    attn.decoder.stack "choice/0" axis 0 : !attn.array<[], i64>
// CHECK-NEXT:    attn.decoder.output "y" is "stack/0"
// CHECK-NEXT:  }
module {
  // CHECK-NOT:   attn.program @decode
  // CHECK-LABEL: attn.program @encode
  // CHECK-NOT:     "T"
  // CHECK:         %[[H:.*]] = attn.compute "h"
  // CHECK:         attn.output "encode/[[HNAME:[0-9]+]]" %[[H]]
  // CHECK:         %[[SCALE:.*]] = attn.compute "scale"
  // CHECK:         attn.output "encode/[[SNAME:[0-9]+]]" %[[SCALE]]
  // CHECK-LABEL: attn.program @step
  // CHECK:         attn.length "T" open
  // CHECK-DAG:     %[[HIN:.*]] = attn.data "encode/[[HNAME]]" {attn.batch = "each", attn.place = "example"}
  // CHECK-DAG:     %[[SIN:.*]] = attn.param "encode/[[SNAME]]" {attn.batch = "once"}
  // CHECK-DAG:     attn.data "carry/0" {attn.batch = "each"}
  // CHECK-DAG:     %[[T:.*]] = attn.step "T"
  // CHECK-DAG:     %[[K:.*]] = attn.data "carry/1" {attn.batch = "each", attn.place = "buffer"}
  // CHECK:         attn.append %[[K]][%[[T]]]
  // CHECK:         %[[LOGITS:.*]] = attn.compute "logits"
  // CHECK-NOT:     attn.choice
  // CHECK:         %[[LOGP:.*]] = attn.compute () log_softmax (%[[V:.*]]: 9) order(lanes %[[V]])
  // CHECK-NEXT:      attn.read %[[LOGITS]]
  // CHECK:         attn.output "logp/0" %[[LOGP]]
  // CHECK:         attn.output "value/[[ROW]]"
  // CHECK-NOT:   attn.program @finish
  attn.program @decode {
    attn.length "S"
    attn.length "T" open
    %x = attn.data "x" : !attn.array<["S", 8], f64>
    %w = attn.param "w" : !attn.array<[9, 8], f64>
    %h = attn.compute "h" (%k: 8) sum (%i: "S") {
      %0 = attn.read %x[%i, %k] : !attn.array<["S", 8], f64>
      attn.yield %0 : f64
    } : !attn.array<[8], f64>
    %scale = attn.compute "scale" (%k: 8) sum (%v: 9) {
      %0 = attn.read %w[%v, %k] : !attn.array<[9, 8], f64>
      attn.yield %0 : f64
    } : !attn.array<[8], f64>
    %begin = attn.compute () {
      %0 = arith.constant 0 : i64
      attn.yield %0 : i64
    } : !attn.array<[], i64>
    %none = attn.compute (%t: "T", %k: 8) {
      %0 = arith.constant 0.0 : f64
      attn.yield %0 : f64
    } : !attn.array<["T", 8], f64>
    %last:3 = attn.search "T" states [{name = "y", kind = "carried", window = 1 : i64, reorder = true}, {name = "k", kind = "growing", window = 0 : i64, reorder = true}] (%t) carries (%before = %begin : !attn.array<[], i64>, %keys = %none : !attn.array<["T", 8], f64>) axes [0] {
      %key = attn.compute "k" (%k: 8) {
        %0 = attn.read %before[] : !attn.array<[], i64>
        %1 = arith.index_cast %0 : i64 to index
        %2 = attn.read %w[%1, %k] : !attn.array<[9, 8], f64>
        %3 = attn.read %h[%k] : !attn.array<[8], f64>
        %4 = attn.read %scale[%k] : !attn.array<[8], f64>
        %5 = arith.mulf %2, %3 : f64
        %6 = arith.mulf %5, %4 : f64
        attn.yield %6 : f64
      } : !attn.array<[8], f64>
      %longer = attn.append %keys[%t] axis 0 = %key : !attn.array<["T", 8], f64>, !attn.array<[8], f64>
      %all = attn.compute (%k: 8) sum (%u: "T") where {
        %0 = arith.cmpi sle, %u, %t : index
        attn.yield %0 : i1
      } {
        %0 = attn.read %longer[%u, %k] : !attn.array<["T", 8], f64>
        attn.yield %0 : f64
      } : !attn.array<[8], f64>
      %logits = attn.compute "logits" (%v: 9) sum (%k: 8) {
        %0 = attn.read %w[%v, %k] : !attn.array<[9, 8], f64>
        %1 = attn.read %all[%k] : !attn.array<[8], f64>
        %2 = arith.mulf %0, %1 : f64
        attn.yield %2 : f64
      } : !attn.array<[9], f64>
      %y = attn.choice "y" categorical ["logits"] (%logits : !attn.array<[9], f64>) end 1 : i64 -> !attn.array<[], i64>
      attn.yield %y, %longer, %y : !attn.array<[], i64>, !attn.array<["T", 8], f64>, !attn.array<[], i64>
    } : !attn.array<[], i64>, !attn.array<["T", 8], f64>, !attn.array<["T"], i64>
    attn.output "y" %last#2 : !attn.array<["T"], i64>
  }
}

// -----

// Two choices: the second part of the step reads the first choice, and a value
// of the first part. A mark comes after both. What nobody reads in the step
// grows without a program, and what comes after the search is @finish.

// CHECK:       attn.decoder encode @encode search "T" finish @finish {
// CHECK-NEXT:    attn.decoder.state "y" next "choice/1" appended : !attn.array<["T"], i64>
// CHECK-NEXT:    attn.decoder.run @step
// CHECK-NEXT:    attn.decoder.choice "bit" bernoulli
// CHECK-NEXT:    attn.decoder.run @step.1
// CHECK-NEXT:    attn.decoder.choice "y" categorical
// CHECK-NEXT:    attn.decoder.run @step.2
// CHECK-NEXT:    attn.decoder.mark stop "value/[[STOP:[0-9]+]]"
// CHECK-NEXT:    attn.decoder.stack "choice/1" axis 0
// CHECK-NEXT:    attn.decoder.output "y" is "stack/0"
// CHECK-NEXT:    attn.decoder.output "length"{{$}}
module {
  // CHECK-LABEL: attn.program @step attributes {attn.prepares} {
  // CHECK:         %[[Q:.*]] = attn.compute "q"
  // CHECK:         attn.output "value/[[QNAME:[0-9]+]]" %[[Q]]
  // CHECK-LABEL: attn.program @step.1
  // CHECK-DAG:     attn.data "choice/0"
  // CHECK-DAG:     attn.data "value/[[QNAME]]" {attn.batch = "each"}
  // CHECK:         attn.compute "p"
  // CHECK-LABEL: attn.program @step.2
  // CHECK-NOT:     attn.append
  // CHECK:         attn.data "choice/1"
  // CHECK:         attn.output "value/[[STOP]]"
  // CHECK-LABEL: attn.program @finish
  // CHECK:         attn.data "stack/0"
  // CHECK:         attn.output "length"
  attn.program @decode {
    attn.length "T" open
    %none = attn.compute (%t: "T") {
      %0 = arith.constant 0 : i64
      attn.yield %0 : i64
    } : !attn.array<["T"], i64>
    %last:2 = attn.search "T" states [{name = "y", kind = "growing", window = 0 : i64, reorder = true}] (%t) carries (%past = %none : !attn.array<["T"], i64>) axes [0] {
      %q = attn.compute "q" () sum (%u: "T") where {
        %0 = arith.cmpi slt, %u, %t : index
        attn.yield %0 : i1
      } {
        %0 = attn.read %past[%u] : !attn.array<["T"], i64>
        %1 = arith.sitofp %0 : i64 to f64
        attn.yield %1 : f64
      } : !attn.array<[], f64>
      %bit = attn.choice "bit" bernoulli ["logit"] (%q : !attn.array<[], f64>) -> !attn.array<[], i1>
      %p = attn.compute "p" (%v: 3) {
        %0 = attn.read %bit[] : !attn.array<[], i1>
        %1 = attn.read %q[] : !attn.array<[], f64>
        %2 = arith.constant 0.0 : f64
        %3 = arith.select %0, %1, %2 : f64
        attn.yield %3 : f64
      } : !attn.array<[3], f64>
      %y = attn.choice "y" categorical ["logits"] (%p : !attn.array<[3], f64>) -> !attn.array<[], i64>
      %stop = attn.compute "stop" () {
        %0 = attn.read %y[] : !attn.array<[], i64>
        %1 = arith.constant 2 : i64
        %2 = arith.cmpi eq, %0, %1 : i64
        attn.yield %2 : i1
      } : !attn.array<[], i1>
      attn.mark "stop" %stop : !attn.array<[], i1>
      %longer = attn.append %past[%t] axis 0 = %y : !attn.array<["T"], i64>, !attn.array<[], i64>
      attn.yield %longer, %y : !attn.array<["T"], i64>, !attn.array<[], i64>
    } : !attn.array<["T"], i64>, !attn.array<["T"], i64>
    %length = attn.compute "length" () sum (%t: "T") {
      %0 = attn.read %last#1[%t] : !attn.array<["T"], i64>
      %1 = arith.sitofp %0 : i64 to f64
      attn.yield %1 : f64
    } : !attn.array<[], f64>
    attn.output "y" %last#1 : !attn.array<["T"], i64>
    attn.output "length" %length : !attn.array<[], f64>
  }
}

// -----

// A choice without a search: @encode gives what it is made from.

// CHECK:       attn.decoder encode @encode {
// CHECK-NEXT:    attn.decoder.run @step
// CHECK-NEXT:    attn.decoder.choice "answer"
// CHECK-NEXT:    attn.decoder.output "answer" is "choice/0"
module {
  // CHECK-LABEL: attn.program @encode
  // CHECK:         attn.output "encode/0"
  // CHECK-LABEL: attn.program @step
  // CHECK:         attn.data "encode/0"
  // CHECK:         attn.output "logp/0"
  attn.program @decode {
    attn.length "S"
    %x = attn.data "x" : !attn.array<["S", 4], f64>
    %sum = attn.compute (%k: 4) sum (%i: "S") {
      %0 = attn.read %x[%i, %k] : !attn.array<["S", 4], f64>
      attn.yield %0 : f64
    } : !attn.array<[4], f64>
    %answer = attn.choice "answer" categorical ["logits"] (%sum : !attn.array<[4], f64>) -> !attn.array<[], i64>
    attn.output "answer" %answer : !attn.array<[], i64>
  }
}

// -----

// A module that does not decode stays as it is.

// CHECK-NOT:   attn.decoder
// CHECK:       attn.program @loss
// CHECK-NEXT:    attn.data "x"
// CHECK-NEXT:    attn.output "x"
module {
  attn.program @loss {
    %x = attn.data "x" : !attn.array<[4], f64>
    attn.output "x" %x : !attn.array<[4], f64>
  }
}

// -----

// A choice after a search has programs of its own, and gets what it reads as
// data; the length is known by then.

// CHECK:       attn.decoder encode @encode search "T" finish @finish {
// CHECK:         attn.decoder.output "y" is "stack/0"
// CHECK-NEXT:    attn.decoder.output "given/0"{{$}}
module {
  // CHECK-LABEL: attn.program @finish
  // CHECK:         attn.output "given/0"
  // CHECK:       attn.decoder encode @later.1.encode {
  // CHECK-NEXT:    attn.decoder.run @later.1.step
  // CHECK-NEXT:    attn.decoder.choice "good" categorical
  // CHECK-LABEL: attn.program @later.1.encode
  // CHECK-NOT:     open
  // CHECK:         %[[G:.*]] = attn.data "given/0" {attn.batch = "each"} : !attn.array<[2], f64>
  // CHECK:         attn.output "encode/0" %[[G]]
  // CHECK-LABEL: attn.program @later.1.step
  attn.program @decode {
    attn.length "T" open
    %w = attn.param "w" : !attn.array<[2], f64>
    %y = attn.search "T" states [] (%t) carries () axes [0] {
      %0 = attn.choice "y" categorical ["logits"] (%w : !attn.array<[2], f64>) end 1 : i64 -> !attn.array<[], i64>
      attn.yield %0 : !attn.array<[], i64>
    } : !attn.array<["T"], i64>
    %sum = attn.compute (%k: 2) sum (%t: "T") {
      %0 = attn.read %y[%t] : !attn.array<["T"], i64>
      %1 = arith.sitofp %0 : i64 to f64
      attn.yield %1 : f64
    } : !attn.array<[2], f64>
    %good = attn.choice "good" categorical ["logits"] (%sum : !attn.array<[2], f64>) -> !attn.array<[], i64>
    attn.output "y" %y : !attn.array<["T"], i64>
    attn.output "good" %good : !attn.array<[], i64>
  }
}

// -----

// A loop of choices inside the step: a segment before it, one up to each choice
// in it, one after the last, and one after the loop. What it gives is what it
// hands on: each place puts its row into an array of all.

// CHECK:         attn.decoder.run @step
// CHECK-NEXT:    attn.decoder.choice "act"
// CHECK-NEXT:    attn.decoder.loop "W" {
// CHECK-NEXT:      attn.decoder.state from "choice/0" next "choice/1" : !attn.array<[], i64>
// CHECK-NEXT:      attn.decoder.state from "value/[[ZEROS:[0-9]+]]" next "value/[[ALL:[0-9]+]]" : !attn.array<["W"], i64>
// CHECK-NEXT:      attn.decoder.run @step.2
// CHECK-NEXT:      attn.decoder.choice "tag"
// CHECK-NEXT:      attn.decoder.run @step.3
// CHECK-NEXT:    }
// CHECK-NEXT:    attn.decoder.stack "choice/0" axis 0 : !attn.array<[], i64>
// CHECK-NEXT:    attn.decoder.stack "inner/1" axis 0 : !attn.array<["W"], i64>
module {
  // CHECK-LABEL: attn.program @step attributes
  // CHECK-DAG:     attn.output "logp/0"
  // CHECK-DAG:     attn.output "value/[[ZEROS]]"
  // CHECK-LABEL: attn.program @step.2
  // CHECK-DAG:     %[[M:.*]] = attn.step "M"{{$}}
  // CHECK-DAG:     %[[J:.*]] = attn.step "W" {attn.inside}
  // CHECK-DAG:     attn.data "inner/0"
  // CHECK:         attn.read %{{.*}}[%[[M]], %[[J]], %{{.*}}]
  // CHECK:         attn.output "logp/1"
  // CHECK-LABEL: attn.program @step.3
  // CHECK-DAG:     %[[K:.*]] = attn.step "W" {attn.inside}
  // CHECK-DAG:     %[[TAG:.*]] = attn.data "choice/1"
  // CHECK-DAG:     %[[BEFORE:.*]] = attn.data "inner/1"
  // CHECK:         %[[AFTER:.*]] = attn.compute (%[[AT:.*]]: "W") {
  // CHECK:           arith.cmpi eq, %[[AT]], %[[K]]
  // CHECK:           attn.read %[[TAG]][]
  // CHECK:           attn.read %[[BEFORE]][%[[AT]]]
  // CHECK:         attn.output "value/[[ALL]]" %[[AFTER]]
  attn.program @decode {
    attn.length "M"
    attn.length "W" over "M"
    %x = attn.data "x" : !attn.array<["M", "W", 3], f64>
    %w = attn.param "w" : !attn.array<[3], f64>
    %all:2 = attn.search "M" states [] known (%m) carries () axes [0, 0] {
      %act = attn.choice "act" categorical ["logits"] (%w : !attn.array<[3], f64>) -> !attn.array<[], i64>
      %row:2 = attn.scan "W" (%j) carries (%before = %act : !attn.array<[], i64>) axes [0] {
        %logits = attn.compute (%k: 3) {
          %0 = attn.read %x[%m, %j, %k] : !attn.array<["M", "W", 3], f64>
          %1 = attn.read %before[] : !attn.array<[], i64>
          %2 = arith.sitofp %1 : i64 to f64
          %3 = arith.addf %0, %2 : f64
          attn.yield %3 : f64
        } : !attn.array<[3], f64>
        %tag = attn.choice "tag" categorical ["logits"] (%logits : !attn.array<[3], f64>) -> !attn.array<[], i64>
        attn.yield %tag, %tag : !attn.array<[], i64>, !attn.array<[], i64>
      } : !attn.array<[], i64>, !attn.array<["W"], i64>
      attn.yield %act, %row#1 : !attn.array<[], i64>, !attn.array<["W"], i64>
    } : !attn.array<["M"], i64>, !attn.array<["M", "W"], i64>
    attn.output "act" %all#0 : !attn.array<["M"], i64>
    attn.output "tag" %all#1 : !attn.array<["M", "W"], i64>
  }
}

// -----

// What is valid is asked after the choice that it judges: in the loop,
// and after a choice that follows it.

// CHECK:         attn.decoder.run @step.2
// CHECK-NEXT:    attn.decoder.mark valid "value/[[NEW:[0-9]+]]"
// CHECK:         attn.decoder.run @step.4
// CHECK-NEXT:    attn.decoder.mark valid "value/[[FINE:[0-9]+]]"
module {
  // CHECK-LABEL: attn.program @step.2
  // CHECK:         attn.output "value/[[NEW]]"
  // CHECK-LABEL: attn.program @step.4
  // CHECK:         attn.output "value/[[FINE]]"
  attn.program @decode {
    attn.length "M"
    attn.length "W" over "M"
    %w = attn.param "w" : !attn.array<[3], f64>
    %all:2 = attn.search "M" states [] known (%m) carries () axes [0, 0] {
      %row = attn.scan "W" (%j) carries () axes [0] {
        %tag = attn.choice "tag" categorical ["logits"] (%w : !attn.array<[3], f64>) -> !attn.array<[], i64>
        %new = attn.compute () {
          %0 = attn.read %tag[] : !attn.array<[], i64>
          %1 = arith.trunci %0 : i64 to i1
          attn.yield %1 : i1
        } : !attn.array<[], i1>
        attn.mark "valid" %new : !attn.array<[], i1>
        attn.yield %tag : !attn.array<[], i64>
      } : !attn.array<["W"], i64>
      %good = attn.choice "good" categorical ["logits"] (%w : !attn.array<[3], f64>) -> !attn.array<[], i64>
      %fine = attn.compute () {
        %0 = attn.read %good[] : !attn.array<[], i64>
        %1 = arith.trunci %0 : i64 to i1
        attn.yield %1 : i1
      } : !attn.array<[], i1>
      attn.mark "valid" %fine : !attn.array<[], i1>
      attn.yield %row, %good : !attn.array<["W"], i64>, !attn.array<[], i64>
    } : !attn.array<["M", "W"], i64>, !attn.array<["M"], i64>
    attn.output "tag" %all#0 : !attn.array<["M", "W"], i64>
    attn.output "good" %all#1 : !attn.array<["M"], i64>
  }
}

// -----

// The program that first reads the longer array writes its row.

// CHECK:       attn.decoder.state "a" next "choice/0" appended by @step.2 : !attn.array<["T"], i64>
module {
  // CHECK-LABEL: attn.program @step.1
  // CHECK-NOT:     attn.append
  // CHECK-LABEL: attn.program @step.2
  // CHECK:         %[[LONGER:.*]] = attn.append
  // CHECK:         attn.read %[[LONGER]]
  attn.program @decode {
    attn.length "T" open
    %w = attn.param "w" : !attn.array<[3], f64>
    %none = attn.compute (%t: "T") {
      %0 = arith.constant 0 : i64
      attn.yield %0 : i64
    } : !attn.array<["T"], i64>
    %last:3 = attn.search "T" states [{name = "a", kind = "growing", window = 0 : i64, reorder = true}] (%t) carries (%past = %none : !attn.array<["T"], i64>) axes [0, 0] {
      %a = attn.choice "a" categorical ["logits"] (%w : !attn.array<[3], f64>) -> !attn.array<[], i64>
      %longer = attn.append %past[%t] axis 0 = %a : !attn.array<["T"], i64>, !attn.array<[], i64>
      %b = attn.choice "b" categorical ["logits"] (%w : !attn.array<[3], f64>) -> !attn.array<[], i64>
      %p = attn.compute "p" (%v: 3) sum (%u: "T") where {
        %0 = arith.cmpi sle, %u, %t : index
        attn.yield %0 : i1
      } {
        %0 = attn.read %longer[%u] : !attn.array<["T"], i64>
        %1 = attn.read %b[] : !attn.array<[], i64>
        %2 = arith.muli %0, %1 : i64
        %3 = arith.sitofp %2 : i64 to f64
        attn.yield %3 : f64
      } : !attn.array<[3], f64>
      %c = attn.choice "c" categorical ["logits"] (%p : !attn.array<[3], f64>) end 1 : i64 -> !attn.array<[], i64>
      attn.yield %longer, %c, %a : !attn.array<["T"], i64>, !attn.array<[], i64>, !attn.array<[], i64>
    } : !attn.array<["T"], i64>, !attn.array<["T"], i64>, !attn.array<["T"], i64>
    attn.output "c" %last#1 : !attn.array<["T"], i64>
    attn.output "a" %last#2 : !attn.array<["T"], i64>
  }
}
